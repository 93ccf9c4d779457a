import { commandLine } from "@binnacle/cli/command-line";
import type { FleetCluster } from "@binnacle/client";
import { Group, Skeleton, Stack, Text } from "@mantine/core";
import { useDeferredValue, useMemo } from "react";
import { TextLink } from "../components/links.tsx";
import { LOADING, Loaded } from "../components/loaded.tsx";
import { EmptyState } from "../components/page.tsx";
import { useOrg } from "../frame/org.tsx";
import { ToneIcon } from "../status/status-badge.tsx";
import { useFleet } from "./fleet.runner.ts";
import { FleetMap, PendingMap } from "./fleet-canvas.tsx";
import { tally } from "./fleet-map.ts";

interface Props {
  readonly orgId: string;
  /** How many there are, where that is known before they are read. */
  readonly count?: number;
  readonly search?: string;
  readonly statuses?: readonly string[];
}

/** The clusters of an organization as a map, with a legend that says the same in words. */
export function Fleet({ orgId, count, search = "", statuses = [] }: Props) {
  const fleet = useFleet(orgId);
  const data = useDeferredValue(fleet.data);
  return (
    <Loaded of={{ ...fleet, data }} skeleton={<Pending count={count} />}>
      {({ data: clusters, total_count, next_cursor }) => (
        <>
          <FilteredFleet clusters={clusters} search={search} statuses={statuses} />
          {next_cursor ? (
            <Text size="sm" c="dimmed" mt="sm">
              The map has the first {clusters.length.toLocaleString()} of {total_count.toLocaleString()} clusters, by
              name. The list and the command line have all of them.
            </Text>
          ) : null}
        </>
      )}
    </Loaded>
  );
}

function Pending({ count }: { readonly count: number | undefined }) {
  if (count === undefined) return <Skeleton height={160} />;
  return (
    <Stack gap="md" {...LOADING}>
      {/* As high as the legend. */}
      <Skeleton height={22} width="50%" />
      <PendingMap count={count} />
    </Stack>
  );
}

function FilteredFleet(props: {
  readonly clusters: readonly FleetCluster[];
  readonly search: string;
  readonly statuses: readonly string[];
}) {
  const { clusters, search } = props;
  const org = useOrg();
  const wanted = props.statuses.join(",");
  const shown = useMemo(() => {
    const text = search.toLowerCase();
    const statuses = wanted === "" ? [] : wanted.split(",");
    return clusters.filter(
      ({ name, status }) => name.toLowerCase().includes(text) && (statuses.length === 0 || statuses.includes(status)),
    );
  }, [clusters, search, wanted]);
  if (shown.length === 0) {
    return clusters.length === 0 ? (
      <EmptyState
        title="No clusters"
        command={commandLine("createCluster", { org_id: org.slug, body: { name: "production" } })}
      >
        Clusters that you register appear here as tiles.
      </EmptyState>
    ) : (
      <EmptyState title="No cluster matches">Change or clear the filters above.</EmptyState>
    );
  }
  return (
    <Stack gap="md">
      <Legend clusters={shown} />
      <FleetMap clusters={shown} />
    </Stack>
  );
}

function Legend({ clusters }: { readonly clusters: readonly FleetCluster[] }) {
  const org = useOrg();
  return (
    <Group gap="6px 16px" component="ul" m={0} p={0} style={{ listStyle: "none" }}>
      {tally(clusters).map(({ count, statuses, ...status }) => (
        <Group key={status.word} component="li" gap={6} wrap="nowrap">
          <ToneIcon {...status} />
          <TextLink to={`/o/${org.slug}/clusters`} search={{ status: statuses.join(",") }}>
            {status.word}
          </TextLink>
          <Text size="sm" fw={600} style={{ fontVariantNumeric: "tabular-nums" }}>
            {count.toLocaleString()}
          </Text>
        </Group>
      ))}
    </Group>
  );
}
