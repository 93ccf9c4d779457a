import { Badge, Group, Text, Tooltip } from "@mantine/core";
import {
  IconAlertTriangle,
  IconCircleCheck,
  IconCircleX,
  IconHelpCircle,
  type IconProps,
  IconRefresh,
} from "@tabler/icons-react";
import type { ComponentType } from "react";
import { Moment, useNow } from "../parts/moment.tsx";
import { basis, type Observed, type StatusView, TONE_COLOR, type Tone } from "./status.ts";

const ICONS: Readonly<Record<Tone, ComponentType<IconProps>>> = {
  good: IconCircleCheck,
  progress: IconRefresh,
  warning: IconAlertTriangle,
  bad: IconCircleX,
  unknown: IconHelpCircle,
};

export function ToneIcon({ tone, size = 16 }: { readonly tone: Tone; readonly size?: number }) {
  const Icon = ICONS[tone];
  return <Icon size={size} aria-hidden color={`var(--tone-${tone})`} style={{ flexShrink: 0 }} />;
}

/** A status with its icon and its word, so that the colour is never the only sign. */
export function StatusBadge({ status, size = "md" }: { readonly status: StatusView; readonly size?: string }) {
  const Icon = ICONS[status.tone];
  return (
    <Badge
      color={TONE_COLOR[status.tone]}
      variant="light"
      size={size}
      radius="sm"
      tt="none"
      fw={600}
      data-tone={status.tone}
      leftSection={<Icon size={14} aria-hidden />}
      styles={{ root: { color: `var(--tone-${status.tone})` }, label: { overflow: "visible" } }}
    >
      {status.word}
    </Badge>
  );
}

/** The line under a status that says what it is based on. */
export function Basis({ of, prefix }: { readonly of: Observed; readonly prefix?: string }) {
  const now = useNow();
  const text = basis(of, now);
  return (
    <Text size="xs" c={of.stale ? "var(--tone-warning)" : "dimmed"} component="span">
      {prefix}
      {of.observed_at ? <Moment at={of.observed_at}>{text}</Moment> : text}
    </Text>
  );
}

/** A status in a row of a list: the badge, and the reason on hover. */
export function StatusCell({ status, reason }: { readonly status: StatusView; readonly reason?: string | null }) {
  if (!reason) return <StatusBadge status={status} />;
  return (
    <Tooltip label={reason} multiline maw={400}>
      <Group gap={4} wrap="nowrap" component="span">
        <StatusBadge status={status} />
      </Group>
    </Tooltip>
  );
}
