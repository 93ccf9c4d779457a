import { Alert, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { TONE_COLOR, type Tone } from "../status/status.ts";
import { ToneIcon } from "../status/status-badge.tsx";

/** A few sentences that must not be missed, in a tone of the theme, so that they can be read in light and dark. */
export function Notice(props: { readonly tone: Tone; readonly title: string; readonly children?: ReactNode }) {
  return (
    <Alert
      color={TONE_COLOR[props.tone]}
      variant="light"
      icon={<ToneIcon tone={props.tone} size={20} />}
      title={props.title}
      styles={{ title: { color: `var(--tone-${props.tone})` } }}
    >
      <Text size="sm" component="div">
        {props.children}
      </Text>
    </Alert>
  );
}
