import { Badge, Group, Table, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { useRead } from "../api/queries.runner.ts";
import { Loaded } from "../parts/loaded.tsx";
import { WideTable } from "../parts/wide-table.tsx";
import { bundleLines, type ChangeLine } from "./bundle-words.ts";

const KIND_COLOR = { added: "green", removed: "red", changed: "blue" } as const;
const KIND_TONE = { added: "good", removed: "bad", changed: "progress" } as const;

/** What changes from one bundle to another. */
export function BundleDiffTable({ from, to }: { readonly from: string; readonly to: string }) {
  const diff = useRead("diffBundles", { version: from, other: to });
  return (
    <Loaded of={diff}>
      {(read) => {
        const lines = bundleLines(read);
        return lines.length === 0 ? (
          <Text size="sm" c="dimmed">
            The two do not differ.
          </Text>
        ) : (
          <WideTable label={`Changes from ${from} to ${to}`} minWidth={640}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Part</Table.Th>
                <Table.Th>Name</Table.Th>
                <Table.Th>Change</Table.Th>
                <Table.Th>{from}</Table.Th>
                <Table.Th>{to}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {lines.map((line) => (
                <Row key={`${line.part} ${line.name}`} line={line} />
              ))}
            </Table.Tbody>
          </WideTable>
        );
      }}
    </Loaded>
  );
}

function Row({ line }: { readonly line: ChangeLine }) {
  return (
    <Table.Tr>
      <Table.Td c="dimmed">{line.part}</Table.Td>
      <Table.Td>
        {line.name}
        {line.warning ? (
          <Group gap={4} wrap="nowrap" c="var(--tone-warning)">
            <IconAlertTriangle size={14} aria-hidden style={{ flexShrink: 0 }} />
            <Text size="xs">{line.warning}</Text>
          </Group>
        ) : null}
      </Table.Td>
      <Table.Td>
        <Badge
          variant="light"
          radius="sm"
          tt="none"
          color={KIND_COLOR[line.kind]}
          styles={{ root: { color: `var(--tone-${KIND_TONE[line.kind]})` } }}
        >
          {line.kind}
        </Badge>
      </Table.Td>
      <Table.Td style={{ overflowWrap: "anywhere" }}>{line.from ?? "—"}</Table.Td>
      <Table.Td style={{ overflowWrap: "anywhere" }}>{line.to ?? "—"}</Table.Td>
    </Table.Tr>
  );
}
