import { ActionIcon, Select, TextInput, Tooltip } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconRegex } from "@tabler/icons-react";
import { useEffect, useMemo, useState } from "react";
import { usePageSearch } from "../components/use-search.tsx";
import { type CompilePattern, type Filter, type Level, matcherOf } from "./log-lines.ts";

/** The filter of the address, and the function that it means; an error where the pattern is invalid. */
export function useFilter(text: string) {
  const [search] = usePageSearch();
  const [find] = useDebouncedValue(text, 150);
  const filter: Filter = useMemo(
    () => ({
      text: find,
      isPattern: search["pattern"] === "yes",
      pod: search["pod"] ?? null,
      container: null,
      level: (search["level"] as Level | undefined) ?? null,
    }),
    [find, search["pattern"], search["pod"], search["level"]],
  );
  const compile = useCompile(filter.isPattern);
  return { filter, matches: useMemo(() => matcherOf(filter, compile), [filter, compile]) };
}

/** No line passes while the engine is on its way: lines that the pattern leaves out would be seen for a moment. */
const LOADING: CompilePattern = () => () => false;

/** The engine of patterns is fetched when a pattern is used for the first time. */
function useCompile(isUsed: boolean): CompilePattern {
  const [compile, setCompile] = useState<CompilePattern>(() => LOADING);
  useEffect(() => {
    if (!isUsed) return;
    import("./line-pattern.ts").then(
      ({ compileLinePattern }) => setCompile(() => compileLinePattern),
      () => setCompile(() => () => new Error("Regular expressions cannot be used: a part of the page was not loaded.")),
    );
  }, [isUsed]);
  return compile;
}

/** Text or pattern, pod and level. */
export function FilterFields(props: {
  readonly filter: Filter;
  readonly pods: readonly { readonly name: string }[];
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly error: string | undefined;
}) {
  const { filter } = props;
  const [, choose] = usePageSearch();
  return (
    <>
      <TextInput
        data-filter
        aria-label="Find in the lines"
        placeholder="Find in the lines"
        value={props.text}
        onChange={(event) => props.onText(event.currentTarget.value)}
        error={props.error}
        rightSection={
          <Tooltip label="As a regular expression">
            <ActionIcon
              size="sm"
              variant={filter.isPattern ? "filled" : "subtle"}
              color={filter.isPattern ? "navy" : "gray"}
              aria-pressed={filter.isPattern}
              aria-label="As a regular expression"
              onClick={() => choose({ pattern: filter.isPattern ? undefined : "yes" })}
            >
              <IconRegex size={14} aria-hidden />
            </ActionIcon>
          </Tooltip>
        }
        w={{ base: "100%", xs: 260 }}
      />
      <Select
        aria-label="Pod"
        placeholder="Any pod"
        data={props.pods.map(({ name }) => name)}
        value={filter.pod}
        onChange={(pod) => choose({ pod: pod ?? undefined })}
        clearable
        w={200}
      />
      <Select
        aria-label="Level"
        placeholder="Any level"
        data={["error", "warning", "info", "debug"]}
        value={filter.level}
        onChange={(level) => choose({ level: level ?? undefined })}
        clearable
        w={130}
      />
    </>
  );
}
