import type { App, AppEvent } from "@binnacle/client";
import { Divider, Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import { useRead } from "../../api/queries.runner.ts";
import { Loaded } from "../../components/loaded.tsx";
import { Moment } from "../../components/moment.tsx";
import { addressOf } from "../app-address.ts";

/** A part of what stands at the side of the page. */
export function Part({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <Stack gap="xs" component="section" aria-label={title}>
      <Divider />
      <Title order={2} size="h4">
        {title}
      </Title>
      {children}
    </Stack>
  );
}

const MOST_EVENTS = 20;

/** What Kubernetes has said lately about some of the objects of an app. */
export function Events(props: { readonly app: App; readonly isAbout: (event: AppEvent) => boolean }) {
  const { app, isAbout } = props;
  const events = useRead("listAppEvents", addressOf(app), { refetchMs: 15_000 });
  return (
    <Part title="Recent events">
      <Loaded of={events}>
        {(answer) => {
          const shown = answer.events.filter(isAbout).slice(0, MOST_EVENTS);
          return shown.length === 0 ? (
            <Text size="sm" c="dimmed">
              Kubernetes says nothing about it.
            </Text>
          ) : (
            <Stack gap={6}>
              {shown.map((event, index) => (
                <Text key={index} size="sm" style={{ overflowWrap: "anywhere" }}>
                  <Text span fw={600} size="sm" c={event.type === "Warning" ? "var(--tone-warning)" : "inherit"}>
                    {event.reason}
                  </Text>{" "}
                  {event.message}{" "}
                  <Text span size="xs" c="dimmed">
                    {event.last_seen_at ? <Moment at={event.last_seen_at} /> : null}
                    {event.count > 1 ? `, ${event.count} times` : ""}
                  </Text>
                </Text>
              ))}
            </Stack>
          );
        }}
      </Loaded>
    </Part>
  );
}
