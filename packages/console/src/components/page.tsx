import { Box, Card, Code, Group, Stack, Text, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import type { ReactNode } from "react";
import { CopyText } from "./copy-text.tsx";

/** The opening of a page: what it is, its state, and its one primary action. */
export function Page(props: {
  readonly title: string;
  readonly status?: ReactNode;
  /** One line under the title. */
  readonly detail?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}) {
  const { title, status, detail, actions, children } = props;
  useDocumentTitle(`${title} · Binnacle`);
  return (
    <Stack gap="md" maw={1600} mx="auto">
      {/* As high as a button, because actions may come after the title. */}
      <Group justify="space-between" align="flex-start" gap="sm" mih={36}>
        <Box miw={0} style={{ flex: "1 1 300px" }}>
          <Group gap="4px 12px" align="center">
            <Title order={1} style={{ overflowWrap: "anywhere" }}>
              {title}
            </Title>
            {status}
          </Group>
          {detail ? (
            <Text size="sm" c="dimmed" component="div" mt={4} data-prose>
              {detail}
            </Text>
          ) : null}
        </Box>
        {actions ? <Group gap="xs">{actions}</Group> : null}
      </Group>
      {children}
    </Stack>
  );
}

/** One part of a page with a heading of its own. */
export function Section(props: { readonly title: string; readonly actions?: ReactNode; readonly children: ReactNode }) {
  return (
    <Card padding="md" component="section" aria-label={props.title}>
      <Group justify="space-between" mb="sm" gap="xs">
        <Title order={2} size="h3">
          {props.title}
        </Title>
        {props.actions}
      </Group>
      {props.children}
    </Card>
  );
}

/** An empty list teaches: what belongs here, the next action, and the command that does the same. */
export function EmptyState(props: {
  readonly title: string;
  readonly children: ReactNode;
  readonly action?: ReactNode;
  readonly command?: string | null;
}) {
  return (
    <Stack align="center" gap="xs" py="xl" px="md" ta="center">
      <Text fw={600}>{props.title}</Text>
      <Text size="sm" c="dimmed" maw={520} component="div">
        {props.children}
      </Text>
      {props.action}
      {props.command ? (
        <Group gap={4} mt="xs" justify="center">
          {props.action ? (
            <Text size="xs" c="dimmed">
              or
            </Text>
          ) : null}
          <Code>{props.command}</Code>
          <CopyText text={props.command} label="Copy the command" />
        </Group>
      ) : null}
    </Stack>
  );
}

/** Pairs of a name and a value, one under the other. */
export function Facts({ of }: { readonly of: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <Box
      component="dl"
      m={0}
      style={{ display: "grid", gridTemplateColumns: "minmax(110px, max-content) 1fr", gap: "6px 16px" }}
    >
      {of.map(([name, value]) => (
        <Box key={name} style={{ display: "contents" }}>
          <Text component="dt" size="sm" c="dimmed">
            {name}
          </Text>
          <Text component="dd" size="sm" m={0} style={{ overflowWrap: "anywhere" }}>
            {value ?? "—"}
          </Text>
        </Box>
      ))}
    </Box>
  );
}
