import { Code, Text } from "@mantine/core";
import { ShortTable } from "../components/short-table.tsx";
import { visibleText } from "../components/visible-text.ts";
import type { ValueChange } from "./value-diff.ts";

/** Values before and after, one line for each path. */
export const ChangeTable = ({ changes }: { readonly changes: readonly ValueChange[] }) => (
  <ShortTable
    label="Changes"
    rows={changes}
    keyOf={({ path }) => path}
    minWidth={360}
    isEven
    columns={[
      { title: "Value", render: ({ path }) => path },
      { title: "Before", render: ({ before }) => <Value text={before} /> },
      { title: "After", render: ({ after }) => <Value text={after} /> },
    ]}
    empty="The values are the same."
  />
);

function Value({ text }: { readonly text: string | undefined }) {
  return text === undefined ? (
    <Text size="sm" c="dimmed" component="span">
      default
    </Text>
  ) : (
    <Code style={{ overflowWrap: "anywhere" }}>{visibleText(text)}</Code>
  );
}
