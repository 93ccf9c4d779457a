import { commandLine } from "@binnacle/cli/command-line";
import type { App } from "@binnacle/client";
import { Group, SegmentedControl, Stack, Text, Timeline } from "@mantine/core";
import { IconBox, IconUser } from "@tabler/icons-react";
import { useRead } from "../../api/queries.runner.ts";
import { FailurePanel, Loaded } from "../../components/loaded.tsx";
import { Moment } from "../../components/moment.tsx";
import { EmptyState } from "../../components/page.tsx";
import { usePageSearch } from "../../components/use-search.tsx";
import { useMay } from "../../frame/org.tsx";
import { ToneIcon } from "../../status/status-badge.tsx";
import { addressOf } from "../app-address.ts";
import { type ActivityItem, timelineOf } from "./activity.ts";

const MOST_ENTRIES = 100;
const SOURCES = [
  { value: "all", label: "Everything" },
  { value: "kubernetes", label: "Kubernetes" },
  { value: "people", label: "People" },
];

/** A trouble shows its tone; everything else who says so. */
function Bullet({ of }: { readonly of: ActivityItem }) {
  if (of.tone === "warning" || of.tone === "bad") return <ToneIcon tone={of.tone} size={14} />;
  return of.source === "people" ? (
    <IconUser size={14} aria-label="People" role="img" />
  ) : (
    <IconBox size={14} aria-label="Kubernetes" role="img" />
  );
}

/** Kubernetes events and what people did, on one time line. */
export function ActivityTab({ app }: { readonly app: App }) {
  const may = useMay();
  const [search, choose] = usePageSearch();
  const source = SOURCES.find(({ value }) => value === search["source"])?.value ?? "all";
  const mayAudit = may("listAuditLog", { orgId: app.org_id });
  const events = useRead("listAppEvents", addressOf(app), { refetchMs: 15_000 });
  const ofApp = { id: app.org_id, resource_type: "app", resource_id: app.id, items_per_page: MOST_ENTRIES };
  const audit = useRead("listAuditLog", ofApp, { enabled: mayAudit });
  const deployments = useRead("listDeployments", { ...addressOf(app), items_per_page: MOST_ENTRIES });
  return (
    <Stack gap="md">
      <SegmentedControl
        data={SOURCES}
        value={source}
        onChange={(value) => choose({ source: value === "all" ? undefined : value })}
        aria-label="Who says so"
        size="xs"
        style={{ alignSelf: "flex-start" }}
      />
      {/* A cluster that does not answer takes its events with it, and nothing else. */}
      {events.error && source !== "people" ? (
        <FailurePanel error={events.error} onRetry={() => void events.refetch()} />
      ) : null}
      <Loaded of={deployments}>
        {({ data }) => {
          const items = timelineOf({
            events: events.data?.events ?? [],
            audit: audit.data?.data ?? [],
            deployments: data,
          }).filter((item) => source === "all" || item.source === source);
          return items.length === 0 ? (
            <EmptyState title="Nothing yet" command={commandLine("listAppEvents", addressOf(app))}>
              Kubernetes keeps its events for about an hour.
            </EmptyState>
          ) : (
            <Timeline bulletSize={22} lineWidth={2} active={-1}>
              {items.map((item) => (
                <Timeline.Item key={item.key} mt={10} bullet={<Bullet of={item} />}>
                  <Group gap="xs">
                    <Text size="sm" fw={600}>
                      {item.title}
                    </Text>
                    <Text size="xs" c="dimmed">
                      <Moment at={item.at} />, {item.by}
                    </Text>
                  </Group>
                  {item.detail ? (
                    <Text size="sm" style={{ overflowWrap: "anywhere" }}>
                      {item.detail}
                    </Text>
                  ) : null}
                </Timeline.Item>
              ))}
            </Timeline>
          );
        }}
      </Loaded>
    </Stack>
  );
}
