import { Alert, Button, Group, MultiSelect, Select, Text, TextInput } from "@mantine/core";
import { useDebouncedCallback, useDebouncedValue } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { useEffect, useState } from "react";
import { useRead } from "../api/queries.runner.ts";
import { useOrg } from "../frame/org.tsx";
import { knownSearch, type Offered, wrongText } from "./known-search.ts";
import { Later } from "./later.tsx";
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
      w={{ base: "100%", xs: 290 }}
    />
  );
}

/**
 * The choices of the address that the page has a meaning for, and a line about the others. They are left out, because the API
 * would refuse the whole list, in words about its parameters.
 */
export function useKnownSearch(filters: Readonly<Record<string, Offered>>) {
  const [search, choose] = usePageSearch();
  const { known, wrong } = knownSearch(search, filters);
  const notice =
    wrong.length === 0 ? null : (
      <Alert color="yellow" p="xs" role="status">
        <Group gap="sm">
          <Text size="sm" style={{ overflowWrap: "anywhere" }}>
            {wrong.map(wrongText).join(" ")} This part is left out.
          </Text>
          <Button
            size="compact-xs"
            variant="default"
            onClick={() => choose(Object.fromEntries(wrong.map(({ name }) => [name, known[name]])))}
          >
            Remove it from the address
          </Button>
        </Group>
      </Alert>
    );
  return { known, choose, notice };
}

/** The values of a filter that are on offer; the page says which are not. */
const offeredOf = ({ choices }: ChoiceProps, chosen: readonly string[]): string[] =>
  chosen.filter((value) => choices.some((choice) => choice.value === value));

interface ChoiceProps {
  readonly name: string;
  readonly label: string;
  readonly choices: readonly { readonly value: string; readonly label: string }[];
}

/** One of several values, in the address under its name. */
export function ChoiceFilter(props: ChoiceProps) {
  const [search, choose] = usePageSearch();
  return (
    <Later width={180}>
      <Select
        aria-label={props.label}
        placeholder={props.label}
        data={[...props.choices]}
        value={offeredOf(props, [search[props.name] ?? ""])[0] ?? null}
        onChange={(value) => choose({ [props.name]: value ?? undefined })}
        clearable
        searchable={props.choices.length > 8}
        w={{ base: "100%", xs: 180 }}
      />
    </Later>
  );
}

const READ = {
  project: { list: "listProjects", one: "getProject", label: "Any project" },
  cluster: { list: "listClusters", one: "getCluster", label: "Any cluster" },
} as const;
const TYPING_MS = 200;

/**
 * One of the organization's projects or clusters, in the address under its name. There may be thousands: the server is asked for
 * those that fit the typed text, and only while the list is open.
 */
export function ObjectFilter({ name, label }: { readonly name: keyof typeof READ; readonly label?: string }) {
  const org = useOrg();
  const [search, choose] = usePageSearch();
  const [isOpen, setOpen] = useState(false);
  const [typed, setTyped] = useState("");
  const [text] = useDebouncedValue(typed, TYPING_MS);
  const { list, one, label: anyOf } = READ[name];
  const id = search[name] ?? null;
  const chosen = useRead(one, { id: id ?? "" }, { enabled: id !== null });
  const chosenName = chosen.data?.name ?? (chosen.error ? "Not found" : "");
  // The field of a closed list shows the name of the chosen one, which nobody has typed.
  const wanted = text.trim() === chosenName ? "" : text.trim().slice(0, 100);
  const found = useRead(
    list,
    { org_id: org.id, items_per_page: 50, ...(wanted === "" ? {} : { search: wanted }) },
    { enabled: isOpen, keepEarlier: true },
  );
  const offered = (found.data?.data ?? []).map((each) => ({ value: each.id, label: each.name }));
  const isOffered = offered.some(({ value }) => value === id);
  return (
    <Later width={180}>
      <Select
        aria-label={label ?? anyOf}
        placeholder={label ?? anyOf}
        data={id === null || isOffered ? offered : [{ value: id, label: chosenName }, ...offered]}
        value={id}
        onChange={(value) => choose({ [name]: value ?? undefined })}
        searchable
        searchValue={typed}
        onSearchChange={setTyped}
        onDropdownOpen={() => setOpen(true)}
        onDropdownClose={() => setOpen(false)}
        filter={({ options }) => options}
        nothingFoundMessage={found.isFetching ? "Searching" : "None has this name"}
        clearable
        w={{ base: "100%", xs: 180 }}
      />
    </Later>
  );
}

/** Any of several values, in the address under its name and separated by commas. */
export function ChoicesFilter(props: ChoiceProps) {
  const [search, choose] = usePageSearch();
  const chosen = offeredOf(props, choicesOf(search[props.name]));
  return (
    <Later width={240}>
      <MultiSelect
        aria-label={props.label}
        placeholder={chosen.length === 0 ? props.label : ""}
        data={[...props.choices]}
        value={chosen}
        onChange={(values) => choose({ [props.name]: values.join(",") })}
        clearable
        w={{ base: "100%", xs: 240 }}
      />
    </Later>
  );
}

export const choicesOf = (text: string | undefined): readonly string[] => (text ? text.split(",") : []);
