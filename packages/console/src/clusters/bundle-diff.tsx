import { Badge, Group, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { useRead } from "../api/queries.runner.ts";
import { Loaded } from "../components/loaded.tsx";
import { ShortTable } from "../components/short-table.tsx";
import { bundleLines, type ChangeLine } from "./bundle-labels.ts";

const KIND_COLOR = { added: "green", removed: "red", changed: "blue" } as const;
const KIND_TONE = { added: "good", removed: "bad", changed: "progress" } as const;

/** What changes from one bundle to another. */
export function BundleDiffTable({ from, to }: { readonly from: string; readonly to: string }) {
  const diff = useRead("diffBundles", { version: from, other: to });
  return (
    <Loaded of={diff}>
      {(read) => (
        <ShortTable
          label={`Changes from ${from} to ${to}`}
          rows={bundleLines(read)}
          keyOf={(line) => `${line.part} ${line.name}`}
          minWidth={640}
          columns={[
            {
              title: "Part",
              render: ({ part }) => (
                <Text c="dimmed" size="sm">
                  {part}
                </Text>
              ),
            },
            { title: "Name", render: (line) => <Name line={line} /> },
            { title: "Change", render: (line) => <Kind line={line} /> },
            { title: from, render: (line) => line.from ?? "—" },
            { title: to, render: (line) => line.to ?? "—" },
          ]}
          empty="The two do not differ."
        />
      )}
    </Loaded>
  );
}

const Name = ({ line: { name, warning } }: { readonly line: ChangeLine }) => (
  <>
    {name}
    {warning ? (
      <Group gap={4} wrap="nowrap" c="var(--tone-warning)">
        <IconAlertTriangle size={14} aria-hidden style={{ flexShrink: 0 }} />
        <Text size="xs">{warning}</Text>
      </Group>
    ) : null}
  </>
);

const Kind = ({ line: { kind } }: { readonly line: ChangeLine }) => (
  <Badge
    variant="light"
    radius="sm"
    tt="none"
    color={KIND_COLOR[kind]}
    styles={{ root: { color: `var(--tone-${KIND_TONE[kind]})` } }}
  >
    {kind}
  </Badge>
);
