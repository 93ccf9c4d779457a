import type { Cluster, Metrics } from "@binnacle/client";
import { SegmentedControl, SimpleGrid, Skeleton, Stack, Text } from "@mantine/core";
import { useMemo } from "react";
import { useRead } from "../api/queries.runner.ts";
import { jobAddress } from "../components/addresses.ts";
import { quantityText } from "../components/chart-data.ts";
import { CopyText } from "../components/copy-text.tsx";
import { TextLink } from "../components/links.tsx";
import { Loaded } from "../components/loaded.tsx";
import { Moment, useNow } from "../components/moment.tsx";
import { Facts, Section } from "../components/page.tsx";
import { TimeChart } from "../components/time-chart.tsx";
import { usePageSearch } from "../components/use-search.tsx";
import { useMay, useOrg } from "../frame/org.tsx";
import { StatusBadge, ToneIcon } from "../status/status-badge.tsx";
import { ClusterGitops } from "./cluster-gitops.tsx";
import { JOB_STATUS, jobTitle, tokenIssuedAt, tokenTone } from "./cluster-labels.ts";
import { OperatorUpgrade } from "./operator-upgrade.tsx";
import { OperatorVersion } from "./operator-version.tsx";
import { ProviderName } from "./provider-name.tsx";

const RANGES = ["15m", "1h", "6h", "1d", "7d", "30d"];

/** Capacity, usage and the facts of a cluster. */
export function ClusterOverview({ cluster }: { readonly cluster: Cluster }) {
  const capacity = cluster.metrics;
  return (
    <Stack gap="md">
      <Usage cluster={cluster} />
      <ClusterGitops cluster={cluster} />
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Section title="Capacity">
          <Facts
            of={[
              ["Nodes", cluster.node_count?.toLocaleString() ?? "not reported yet"],
              ["CPU", quantityText(capacity?.cpu_cores ?? null, "cores")],
              ["Memory", quantityText(capacity?.memory_bytes ?? null, "bytes")],
              ["Pods", capacity?.pods?.toLocaleString() ?? "—"],
              ...(cluster.provider === null
                ? []
                : ([
                    ["Machines", `${cluster.instance_type ?? "—"}, ${cluster.disk_size_gb ?? "—"} GB`],
                    ["Region", cluster.region],
                  ] as const)),
            ]}
          />
        </Section>
        <Section title="Versions">
          <Facts
            of={[
              ["Kubernetes", cluster.kubernetes_version ?? "not reported yet"],
              ["Operator", <OperatorVersion key="operator" of={cluster} />],
              ["Operator upgrade", <OperatorUpgrade key="upgrade" cluster={cluster} />],
              ["Operator token", <TokenAge key="token" cluster={cluster} />],
              ["Provider", <ProviderName key="provider" of={cluster.provider} />],
              [
                "Last heartbeat",
                cluster.last_heartbeat ? <Moment key="heartbeat" at={cluster.last_heartbeat} /> : "never",
              ],
              ["Registered", <Moment key="created" at={cluster.created_at} />],
              [
                "Id",
                <span key="id">
                  {cluster.id} <CopyText text={cluster.id} label="Copy the id" />
                </span>,
              ],
            ]}
          />
        </Section>
      </SimpleGrid>
      {cluster.provider === null ? null : <Jobs cluster={cluster} />}
    </Stack>
  );
}

/** The age of the token comes from the audit log, which administrators read; nothing else says when it was issued. */
function TokenAge({ cluster }: { readonly cluster: Cluster }) {
  const org = useOrg();
  const now = useNow();
  const isPermitted = useMay()("listAuditLog");
  const log = useRead(
    "listAuditLog",
    { id: org.id, action: "cluster.", resource_id: cluster.id, items_per_page: 100 },
    { enabled: isPermitted },
  );
  if (!isPermitted) return "administrators of the organization see its age";
  if (!log.data) return log.error ? "not known" : "…";
  // A cluster gets its first token with its registration.
  const issued = tokenIssuedAt(log.data.data) ?? cluster.created_at;
  const tone = tokenTone(issued, now);
  return (
    <>
      {tone === "good" ? null : <ToneIcon tone={tone} size={14} />} issued <Moment at={issued} />
      {tone === "bad" ? ", expired" : tone === "warning" ? ", expires a year after that" : ""}
    </>
  );
}

function Usage({ cluster }: { readonly cluster: Cluster }) {
  const [search, choose] = usePageSearch();
  const range = RANGES.find((each) => each === search["range"]) ?? "1h";
  const isKnown = cluster.observed_at !== null;
  const metrics = useRead("getClusterMetrics", { id: cluster.id, range }, { refetchMs: 60_000, enabled: isKnown });
  const skeleton = (
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      <Skeleton height={240} />
      <Skeleton height={240} />
    </SimpleGrid>
  );
  return (
    <Section
      title="Usage"
      actions={
        <SegmentedControl
          size="xs"
          aria-label="Time range"
          data={RANGES}
          value={range}
          onChange={(value) => choose({ range: value === "1h" ? undefined : value })}
        />
      }
    >
      {isKnown ? (
        <Loaded of={metrics} skeleton={skeleton}>
          {(read) => <Charts metrics={read} />}
        </Loaded>
      ) : (
        <Text size="sm" c="dimmed">
          Usage is shown once the operator has connected.
        </Text>
      )}
    </Section>
  );
}

const KINDS = [
  { title: "CPU", unit: "cores", used: "cpu_used", capacity: "cpu_capacity" },
  { title: "Memory", unit: "bytes", used: "memory_used", capacity: "memory_capacity" },
] as const;

function Charts({ metrics }: { readonly metrics: Metrics }) {
  const charts = useMemo(
    () =>
      KINDS.map(({ title, unit, used, capacity }) => ({
        title,
        unit,
        series: [
          { label: "Used", points: pointsOf(metrics, used) },
          { label: "Capacity", points: pointsOf(metrics, capacity) },
        ].filter(({ points }) => points.length > 0),
      })),
    [metrics],
  );
  const isMeasured = metrics.series.some(({ name }) => KINDS.some(({ used }) => used === name));
  return (
    <>
      {isMeasured ? null : (
        <Text size="sm" c="dimmed" mb="sm">
          Only the capacity is known. Usage comes from a Prometheus or a metrics server of the cluster, once a minute.
        </Text>
      )}
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        {charts.map((chart) => (
          <TimeChart key={chart.title} {...chart} />
        ))}
      </SimpleGrid>
    </>
  );
}

const pointsOf = (metrics: Metrics, name: string) =>
  (metrics.series.find((each) => each.name === name)?.points ?? []).map(
    ([at = 0, value = null]) => [at, value] as const,
  );

function Jobs({ cluster }: { readonly cluster: Cluster }) {
  const org = useOrg();
  const jobs = useRead("listProvisioningJobs", { id: cluster.id, items_per_page: 20 }, { refetchMs: 15_000 });
  return (
    <Section title="Provisioning jobs">
      <Loaded of={jobs}>
        {({ data }) =>
          data.length === 0 ? (
            <Text size="sm" c="dimmed">
              No job has been recorded.
            </Text>
          ) : (
            <Facts
              of={data.map((job) => [
                `${jobTitle(job)} ${job.id.slice(-6)}`,
                <span key={job.id}>
                  <StatusBadge status={JOB_STATUS[job.status]} size="sm" /> <Moment at={job.created_at} />{" "}
                  <TextLink to={jobAddress(org.slug, cluster.id, job.id)}>Show</TextLink>
                </span>,
              ])}
            />
          )
        }
      </Loaded>
    </Section>
  );
}
