import { Box, Code, Group, Stack, Text } from "@mantine/core";
import { IconArrowRight, IconMinus, IconPencil, IconPlus } from "@tabler/icons-react";
import { visibleText } from "../components/visible-text.ts";
import type { FieldChange } from "./field-change.ts";

const MARKS = {
  added: { Icon: IconPlus, tone: "good", word: "Added" },
  removed: { Icon: IconMinus, tone: "bad", word: "Removed" },
  changed: { Icon: IconPencil, tone: "warning", word: "Changed" },
} as const;

/** Differences field by field, grouped by what they belong to. */
export function FieldChanges({ of, empty }: { readonly of: readonly FieldChange[]; readonly empty: string }) {
  if (of.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {empty}
      </Text>
    );
  const groups = [...Map.groupBy(of, ({ owner }) => owner)];
  return (
    <Stack gap="md">
      {groups.map(([owner, changes]) => (
        <Box key={owner}>
          {owner ? (
            <Text size="sm" fw={600} mb={4} style={{ overflowWrap: "anywhere" }}>
              {owner}
            </Text>
          ) : null}
          <Stack gap={6} component="ul" m={0} p={0} style={{ listStyle: "none" }}>
            {changes.map((change, index) => (
              <Line key={index} of={change} />
            ))}
          </Stack>
        </Box>
      ))}
    </Stack>
  );
}

function Line({ of }: { readonly of: FieldChange }) {
  const { Icon, tone, word } = MARKS[of.change];
  return (
    <Group component="li" gap={8} wrap="nowrap" align="flex-start">
      <Icon
        size={16}
        role="img"
        aria-label={word}
        color={`var(--tone-${tone})`}
        style={{ flexShrink: 0, marginTop: 2 }}
      />
      <Box miw={0} style={{ flex: 1 }}>
        <Text size="sm" ff="monospace" style={{ overflowWrap: "anywhere" }}>
          {of.field}
        </Text>
        <Group gap={6} align="center">
          {of.before === undefined ? null : <Value text={of.before} tone="bad" label="Before" />}
          {of.before === undefined || of.after === undefined ? null : (
            <IconArrowRight size={14} aria-hidden style={{ flexShrink: 0 }} />
          )}
          {of.after === undefined ? null : <Value text={of.after} tone="good" label="After" />}
        </Group>
        {of.note ? (
          <Text size="xs" c="dimmed">
            {of.note}
          </Text>
        ) : null}
      </Box>
    </Group>
  );
}

function Value({ text, tone, label }: { readonly text: string; readonly tone: string; readonly label: string }) {
  const shown = visibleText(text);
  return (
    <Code
      aria-label={`${label}: ${shown}`}
      style={{
        whiteSpace: "pre-wrap",
        overflowWrap: "anywhere",
        color: `var(--tone-${tone})`,
        maxHeight: 160,
        overflow: "auto",
      }}
    >
      {shown === "" ? "(empty)" : shown}
    </Code>
  );
}
