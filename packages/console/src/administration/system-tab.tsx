import type { SystemStatus } from "@binnacle/client";
import { Grid, Group, SimpleGrid, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { useRead } from "../api/queries.runner.ts";
import { Loaded } from "../components/loaded.tsx";
import { Moment } from "../components/moment.tsx";
import { Facts, Section } from "../components/page.tsx";
import type { StatusView } from "../status/status.ts";
import { StatusBadge } from "../status/status-badge.tsx";
import { databaseStatus, hubStatus, queueStatus, sizeText } from "./system-status.ts";

/** How the installation is: its queue, its sessions with clusters, its database, and its version. */
export function SystemTab() {
  const status = useRead("getSystemStatus", {}, { refetchMs: 10_000 });
  return <Loaded of={status}>{(data) => <SystemView status={data} />}</Loaded>;
}

function SystemView({ status }: { readonly status: SystemStatus }) {
  const version = useRead("getVersion", {});
  const { jobs, hub, database } = status;
  const counts = [
    ["Organizations", status.organizations],
    ["Users", status.users],
    ["Clusters", status.clusters],
    ["Apps", status.apps],
  ] as const;
  return (
    <Grid>
      <Grid.Col span={12}>
        <SimpleGrid cols={{ base: 2, sm: 4 }}>
          {counts.map(([name, count]) => (
            <Section key={name} title={name}>
              <Text fz={28} fw={700}>
                {count.toLocaleString()}
              </Text>
            </Section>
          ))}
        </SimpleGrid>
      </Grid.Col>
      <Part title="Queue" status={queueStatus(jobs)}>
        <Facts
          of={[
            ["Waiting", jobs.pending.toLocaleString()],
            ["Running", jobs.running.toLocaleString()],
            ["Failed", jobs.failed.toLocaleString()],
            [
              "Longest wait",
              jobs.oldest_pending_seconds === null ? "Nothing waits" : `${Math.round(jobs.oldest_pending_seconds)} s`,
            ],
          ]}
        />
      </Part>
      <Part title="Clusters" status={hubStatus(status)}>
        <Facts
          of={[
            ["Sessions", hub.sessions.toLocaleString()],
            ["Changes to confirm", hub.pending.toLocaleString()],
          ]}
        />
      </Part>
      <Part title="Database" status={databaseStatus(database)}>
        <Facts
          of={[
            ["PostgreSQL", database.version],
            ["Size", sizeText(database.size_bytes)],
            ["Connections", `${database.connections} of ${database.max_connections}`],
            ["Migration", database.migration],
          ]}
        />
      </Part>
      <Part title="Server" status={null}>
        <Facts
          of={[
            ["Build", status.build ?? "From source"],
            ["Contract", version.data?.contract],
            ["Environment", status.environment],
            ["Running since", <Moment key="since" at={status.started_at} />],
          ]}
        />
      </Part>
    </Grid>
  );
}

function Part(props: { readonly title: string; readonly status: StatusView | null; readonly children: ReactNode }) {
  return (
    <Grid.Col span={{ base: 12, md: 6 }}>
      <Section
        title={props.title}
        actions={<Group>{props.status ? <StatusBadge status={props.status} /> : null}</Group>}
      >
        {props.children}
      </Section>
    </Grid.Col>
  );
}
