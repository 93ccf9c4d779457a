import { MultiSelect, Select, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { useEffect, useState } from "react";
import { usePageSearch } from "./use-search.tsx";

/** The text filter of a list. It is in the address under its name, and `/` goes to it. */
export function SearchFilter({ name = "q", label }: { readonly name?: string; readonly label: string }) {
  const [search, choose] = usePageSearch();
  const chosen = search[name] ?? "";
  const [typed, setTyped] = useState(chosen);
  // The address may change by the back button.
  useEffect(() => setTyped(chosen), [chosen]);
  const chooseSoon = useDebouncedCallback((text: string) => choose({ [name]: text.trim().slice(0, 100) }), 200);
  return (
    <TextInput
      data-filter
      aria-label={label}
      placeholder={label}
      leftSection={<IconSearch size={14} aria-hidden />}
      value={typed}
      onChange={(event) => {
        setTyped(event.currentTarget.value);
        chooseSoon(event.currentTarget.value);
      }}
      w={{ base: "100%", xs: 240 }}
    />
  );
}

interface Choice {
  readonly value: string;
  readonly label: string;
}

/** One of several values, in the address under its name. */
export function ChoiceFilter(props: {
  readonly name: string;
  readonly label: string;
  readonly choices: readonly Choice[];
}) {
  const [search, choose] = usePageSearch();
  return (
    <Select
      aria-label={props.label}
      placeholder={props.label}
      data={[...props.choices]}
      value={search[props.name] ?? null}
      onChange={(value) => choose({ [props.name]: value ?? undefined })}
      clearable
      searchable={props.choices.length > 8}
      // A thousand entries would keep the page busy when the list opens; typing finds the others.
      limit={100}
      w={{ base: "100%", xs: 180 }}
    />
  );
}

/** Any of several values, in the address under its name and separated by commas. */
export function ChoicesFilter(props: {
  readonly name: string;
  readonly label: string;
  readonly choices: readonly Choice[];
}) {
  const [search, choose] = usePageSearch();
  const chosen = choicesOf(search[props.name]);
  return (
    <MultiSelect
      aria-label={props.label}
      placeholder={chosen.length === 0 ? props.label : ""}
      data={[...props.choices]}
      value={[...chosen]}
      onChange={(values) => choose({ [props.name]: values.join(",") })}
      clearable
      w={{ base: "100%", xs: 240 }}
    />
  );
}

export const choicesOf = (text: string | undefined): readonly string[] => (text ? text.split(",") : []);
