import {
  IconAlertTriangle,
  IconCircleCheck,
  IconCircleX,
  IconClock,
  IconHelpCircle,
  IconPlayerPause,
  type IconProps,
  IconRefresh,
} from "@tabler/icons-react";
import type { ComponentType } from "react";
import { Moment, useTimeText } from "../components/moment.tsx";
import { basis, type Observed, type StatusView, TONE_COLOR, type Tone } from "./status.ts";
import classes from "./status-badge.module.css";

const ICONS: Readonly<Record<Tone, ComponentType<IconProps>>> = {
  good: IconCircleCheck,
  progress: IconRefresh,
  warning: IconAlertTriangle,
  bad: IconCircleX,
  unknown: IconHelpCircle,
};

const SIGNS = { waiting: IconClock, paused: IconPlayerPause } as const;

const iconOf = ({ tone, sign }: Pick<StatusView, "tone" | "sign">) => (sign ? SIGNS[sign] : ICONS[tone]);

interface ToneIconProps extends Pick<StatusView, "tone" | "sign"> {
  readonly size?: number;
}

export function ToneIcon({ size = 16, ...of }: ToneIconProps) {
  const Icon = iconOf(of);
  const { tone } = of;
  return (
    <Icon size={size} aria-hidden color={`var(--tone-${tone})`} style={{ flexShrink: 0, verticalAlign: "-0.125em" }} />
  );
}

interface BadgeProps {
  readonly status: StatusView;
  readonly size?: "sm" | "md" | "lg";
  /** Shown on hover. */
  readonly title?: string | undefined;
}

/** A status with its icon and its word, so that the colour is never the only sign. */
export function StatusBadge({ status, size = "md", title }: BadgeProps) {
  const { tone, word } = status;
  const Icon = iconOf(status);
  return (
    <span
      className={classes.badge}
      data-tone={tone}
      data-sign={status.sign}
      data-size={size}
      title={title}
      style={{ color: `var(--tone-${tone})`, background: `var(--mantine-color-${TONE_COLOR[tone]}-light)` }}
    >
      <span className={classes.icon}>
        <Icon size={14} aria-hidden />
      </span>
      <span className={classes.word}>{word}</span>
    </span>
  );
}

/** The line under a status that says what it is based on. */
export function Basis({ of, prefix }: { readonly of: Observed; readonly prefix?: string }) {
  const text = useTimeText((now) => basis(of, now));
  return (
    <span className={classes.basis} data-stale={of.stale || undefined}>
      {prefix}
      {of.observed_at ? <Moment at={of.observed_at}>{text}</Moment> : text}
    </span>
  );
}

/** A status in a row of a list: the badge, and on hover the reason, or the word, which may not have room. */
export function StatusCell({ status, reason }: { readonly status: StatusView; readonly reason?: string | null }) {
  return <StatusBadge status={status} title={reason || status.word} />;
}
