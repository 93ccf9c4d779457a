import { Code, Table, Text } from "@mantine/core";
import { visibleText } from "../parts/visible-text.ts";
import type { ValueChange } from "./value-diff.ts";

/** Values before and after, one line for each path. */
export function ChangeTable({ changes }: { readonly changes: readonly ValueChange[] }) {
  if (changes.length === 0)
    return (
      <Text size="sm" c="dimmed">
        The values are the same.
      </Text>
    );
  return (
    <Table.ScrollContainer minWidth={360}>
      <Table layout="fixed" aria-label="Changes">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Value</Table.Th>
            <Table.Th>Before</Table.Th>
            <Table.Th>After</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {changes.map(({ path, before, after }) => (
            <Table.Tr key={path}>
              <Table.Td style={{ overflowWrap: "anywhere" }}>{path}</Table.Td>
              <Table.Td>
                <Value text={before} />
              </Table.Td>
              <Table.Td>
                <Value text={after} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function Value({ text }: { readonly text: string | undefined }) {
  return text === undefined ? (
    <Text size="sm" c="dimmed" component="span">
      default
    </Text>
  ) : (
    <Code style={{ overflowWrap: "anywhere" }}>{visibleText(text)}</Code>
  );
}
