import type { BundleRecord, Cluster } from "@binnacle/client";
import { Group, Select, Stack, Text, Timeline } from "@mantine/core";
import { useRead } from "../api/queries.runner.ts";
import { binnacleOf } from "../components/commands.ts";
import { Loaded } from "../components/loaded.tsx";
import { Moment } from "../components/moment.tsx";
import { EmptyState, Facts, Section } from "../components/page.tsx";
import { usePageSearch } from "../components/use-search.tsx";
import { TONE_COLOR } from "../status/status.ts";
import { ToneIcon } from "../status/status-badge.tsx";
import { BundleDiffTable } from "./bundle-diff.tsx";
import { upgradesOf } from "./bundle-labels.ts";
import { journalLines } from "./cluster-labels.ts";

/** The platform that was installed on a cluster, the upgrades that there are, and the journal of its installs. */
export function ClusterInstall({ cluster }: { readonly cluster: Cluster }) {
  const record = useRead("getClusterBundle", { id: cluster.id }, { refetchMs: 30_000 });
  return (
    <Loaded of={record}>
      {(read) => (
        <Stack>
          <Bundle record={read} cluster={cluster} />
          <Section title="Install journal">
            <Journal record={read} cluster={cluster} />
          </Section>
          {read.bundle_version === null ? null : <Upgrade installed={read.bundle_version} />}
        </Stack>
      )}
    </Loaded>
  );
}

function Bundle({ record, cluster }: { readonly record: BundleRecord; readonly cluster: Cluster }) {
  const installed = record.bundle_version;
  if (installed === null) {
    return (
      <Section title="Bundle">
        <EmptyState
          title="No bundle is on record"
          command={binnacleOf("recordClusterBundle", { id: cluster.name, body: { bundle_version: "…" } })}
        >
          A bundle is a tested set of platform components. The installer of the platform records here which one it has
          installed; a cluster that you brought along may have none.
        </EmptyState>
      </Section>
    );
  }
  const owner = record.volume_group_ownership;
  return (
    <Section title="Bundle">
      <Facts
        of={[
          ["Version", installed],
          ["Profiles", record.profiles?.join(", ") || "none"],
          ["Availability", record.ha_tier ?? "—"],
          ["Volume groups", owner === null ? "—" : typeof owner === "string" ? owner : JSON.stringify(owner)],
        ]}
      />
    </Section>
  );
}

function Upgrade({ installed }: { readonly installed: string }) {
  const bundles = useRead("listBundles", {});
  const [search, choose] = usePageSearch();
  return (
    <Section title="Upgrade">
      <Loaded of={bundles}>
        {({ data }) => {
          const upgrades = upgradesOf(
            installed,
            data.map(({ version }) => version),
          );
          const to = upgrades.find((version) => version === search["to"]) ?? upgrades.at(-1);
          return to === undefined ? (
            <Text size="sm" c="dimmed">
              {installed} is the newest bundle.
            </Text>
          ) : (
            <Stack gap="sm">
              <Group gap="sm">
                <Text size="sm">What would change from {installed} to</Text>
                <Select
                  aria-label="Upgrade to"
                  size="xs"
                  w={110}
                  data={[...upgrades]}
                  value={to}
                  onChange={(version) => choose({ to: version ?? undefined })}
                  allowDeselect={false}
                />
              </Group>
              <BundleDiffTable from={installed} to={to} />
            </Stack>
          );
        }}
      </Loaded>
    </Section>
  );
}

function Journal({ record, cluster }: { readonly record: BundleRecord; readonly cluster: Cluster }) {
  const lines = journalLines(record.install_journal ?? [], cluster.current_stage);
  if (lines.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        No install or upgrade has been reported. An installer reports how each stage ends.
      </Text>
    );
  }
  return (
    <Timeline bulletSize={22} lineWidth={2}>
      {lines.map(({ title, tone, word, detail, at }, index) => (
        <Timeline.Item
          key={`${at} ${title} ${index}`}
          color={TONE_COLOR[tone]}
          bullet={<ToneIcon tone={tone} size={14} />}
          title={
            <Text size="sm" fw={600} component="span">
              {title}{" "}
              <Text span inherit fw={400} c={`var(--tone-${tone})`}>
                {word}
              </Text>
            </Text>
          }
        >
          <Text size="xs" c="dimmed">
            <Moment at={at} />
          </Text>
          {detail ? (
            <Text size="sm" style={{ overflowWrap: "anywhere" }}>
              {detail}
            </Text>
          ) : null}
        </Timeline.Item>
      ))}
    </Timeline>
  );
}
