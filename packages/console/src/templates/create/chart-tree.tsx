import type { ChartInspection, TemplateParameter } from "@binnacle/client";
import {
  ActionIcon,
  Box,
  Checkbox,
  Code,
  Group,
  ScrollArea,
  Select,
  Stack,
  Switch,
  Text,
  TextInput,
} from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import { useMemo, useState } from "react";
import { type ChartNode, type Promoted, promoted, treeOf, treeWith } from "./chart-values.ts";

const TYPES: readonly TemplateParameter["type"][] = ["string", "integer", "number", "boolean", "secret"];
/** A chart may have thousands of values; more than these are found by the filter. */
const MOST_NODES = 500;

/** The values of a chart, with a box at each that can become a parameter. */
export function ChartTree(props: {
  readonly inspection: ChartInspection;
  readonly chosen: readonly Promoted[];
  readonly onChange: (chosen: readonly Promoted[]) => void;
}) {
  const { inspection, chosen, onChange } = props;
  const [text, setText] = useState("");
  const tree = useMemo(() => treeOf(inspection), [inspection]);
  const rows = flat(treeWith(tree, text), 0);
  const paths = new Set(chosen.map(({ path }) => path));

  function toggle(node: ChartNode): void {
    if (paths.has(node.path)) onChange(chosen.filter(({ path }) => path !== node.path));
    else
      onChange([
        ...chosen,
        promoted(
          node,
          chosen.map(({ name }) => name),
        ),
      ]);
  }

  return (
    <Stack gap="xs">
      <TextInput
        aria-label="Filter the values"
        placeholder="Filter the values"
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <ScrollArea.Autosize mah={560} type="auto">
        <Box component="ul" m={0} p={0} style={{ listStyle: "none" }}>
          {rows.slice(0, MOST_NODES).map(({ node, depth }) => (
            <Box component="li" key={node.path} pl={depth * 20} py={2}>
              {node.canPromote ? (
                <Checkbox
                  size="xs"
                  checked={paths.has(node.path)}
                  onChange={() => toggle(node)}
                  label={<NodeLabel node={node} />}
                  aria-label={node.path}
                />
              ) : (
                <NodeLabel node={node} />
              )}
            </Box>
          ))}
        </Box>
      </ScrollArea.Autosize>
      {rows.length > MOST_NODES ? (
        <Text size="xs" c="dimmed">
          {rows.length - MOST_NODES} more; use the filter.
        </Text>
      ) : null}
    </Stack>
  );
}

function NodeLabel({ node }: { readonly node: ChartNode }) {
  return (
    <Text size="sm" component="span" fw={node.children.length > 0 ? 600 : 400} style={{ overflowWrap: "anywhere" }}>
      {node.key}
      {node.preset ? (
        <>
          {" "}
          <Code>{node.preset.length > 80 ? `${node.preset.slice(0, 80)}…` : node.preset}</Code>
        </>
      ) : null}
      {node.isSecret ? " (secret)" : ""}
    </Text>
  );
}

const flat = (nodes: readonly ChartNode[], depth: number): readonly { node: ChartNode; depth: number }[] =>
  nodes.flatMap((node) => [{ node, depth }, ...flat(node.children, depth + 1)]);

/** The chosen values as parameters, each with a name, a type and a description. */
export function PromotedList(props: {
  readonly chosen: readonly Promoted[];
  readonly onChange: (chosen: readonly Promoted[]) => void;
  readonly problems: Readonly<Record<string, string>>;
}) {
  const { chosen, onChange, problems } = props;
  if (chosen.length === 0)
    return (
      <Text size="sm" c="dimmed">
        None yet. Without parameters, the chart is installed with its defaults.
      </Text>
    );
  const change = (path: string, changes: Partial<Promoted>) =>
    onChange(chosen.map((each) => (each.path === path ? { ...each, ...changes } : each)));
  return (
    <Stack gap="md">
      {chosen.map((each) => (
        <Stack key={each.path} gap={6}>
          <Group justify="space-between" wrap="nowrap">
            <Code style={{ overflowWrap: "anywhere" }}>{each.path}</Code>
            <ActionIcon
              variant="subtle"
              color="gray"
              size="sm"
              aria-label={`Leave out ${each.path}`}
              onClick={() => onChange(chosen.filter(({ path }) => path !== each.path))}
            >
              <IconX size={14} aria-hidden />
            </ActionIcon>
          </Group>
          <Group gap="xs" align="flex-start" grow>
            <TextInput
              size="xs"
              label="Name"
              value={each.name}
              onChange={(event) => change(each.path, { name: event.currentTarget.value })}
              error={problems[each.path]}
            />
            <Select
              size="xs"
              label="Type"
              data={[...TYPES]}
              value={each.type}
              onChange={(type) => change(each.path, { type: (type ?? "string") as Promoted["type"] })}
              allowDeselect={false}
            />
          </Group>
          <TextInput
            size="xs"
            label="Description"
            value={each.description}
            onChange={(event) => change(each.path, { description: event.currentTarget.value })}
          />
          <Switch
            size="xs"
            label="Required"
            checked={each.required}
            onChange={(event) => change(each.path, { required: event.currentTarget.checked })}
          />
        </Stack>
      ))}
    </Stack>
  );
}
