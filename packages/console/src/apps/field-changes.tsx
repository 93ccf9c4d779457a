import { Box, Code, Group, Stack, Text } from "@mantine/core";
import { IconArrowRight, IconMinus, IconPencil, IconPlus } from "@tabler/icons-react";
import { visibleText } from "../components/visible-text.ts";
import type { FieldChange } from "./field-change.ts";

const MARKS = {
  added: { Icon: IconPlus, tone: "good", word: "Added" },
  removed: { Icon: IconMinus, tone: "bad", word: "Removed" },
  changed: { Icon: IconPencil, tone: "warning", word: "Changed" },
} as const;

/** What the two values of a difference are: those of two versions, or of what was asked for and what somebody has made of it. */
const SIDES = {
  versions: { before: { label: "Before", tone: "bad" }, after: { label: "After", tone: "good" } },
  drift: { before: { label: "Asked for", tone: "good" }, after: { label: "In the cluster", tone: "warning" } },
} as const;

interface Props {
  readonly of: readonly FieldChange[];
  readonly empty: string;
  readonly between?: keyof typeof SIDES;
}

/** Differences field by field, grouped by what they belong to. */
export function FieldChanges({ of, empty, between = "versions" }: Props) {
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
              <Line key={index} of={change} between={between} />
            ))}
          </Stack>
        </Box>
      ))}
    </Stack>
  );
}

function Line({ of, between }: { readonly of: FieldChange; readonly between: keyof typeof SIDES }) {
  const { Icon, tone, word } = MARKS[of.change];
  const isDrift = between === "drift";
  const { before, after } = SIDES[between];
  return (
    <Group component="li" gap={8} wrap="nowrap" align="flex-start">
      <Icon
        size={16}
        role="img"
        aria-label={word}
        color={`var(--tone-${isDrift ? "warning" : tone})`}
        style={{ flexShrink: 0, marginTop: 2 }}
      />
      <Box miw={0} style={{ flex: 1 }}>
        <Text size="sm" ff="monospace" style={{ overflowWrap: "anywhere" }}>
          {of.field}
        </Text>
        <Group gap={6} align="center">
          {of.before === undefined ? null : <Value text={of.before} {...before} isNamed={isDrift} />}
          {of.before === undefined || of.after === undefined ? null : (
            <IconArrowRight size={14} aria-hidden style={{ flexShrink: 0 }} />
          )}
          {of.after === undefined ? null : <Value text={of.after} {...after} isNamed={isDrift} />}
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

function Value(props: {
  readonly text: string;
  readonly tone: string;
  readonly label: string;
  /** Whether the label is written out. */
  readonly isNamed: boolean;
}) {
  const { tone, label } = props;
  const shown = visibleText(props.text);
  return (
    <>
      {props.isNamed ? (
        <Text span size="xs" c="dimmed" aria-hidden>
          {label}
        </Text>
      ) : null}
      <Code
        aria-label={`${label}: ${shown}`}
        data-tone={tone}
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
    </>
  );
}
