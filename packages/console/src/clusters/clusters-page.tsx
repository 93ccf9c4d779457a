import { commandLine } from "@binnacle/cli/command-line";
import type { Cluster } from "@binnacle/client";
import { Card, Group, SegmentedControl } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useMemo } from "react";
import { clusterAddress } from "../components/addresses.ts";
import { ChoicesFilter, choicesOf, SearchFilter, useKnownSearch } from "../components/filters.tsx";
import { Later } from "../components/later.tsx";
import { ButtonLink, RowLink } from "../components/links.tsx";
import { type Column, ListTable, STATUS_WIDTH } from "../components/list-table.tsx";
import { EmptyState, Page } from "../components/page.tsx";
import { Allowed, useMay, useOrg } from "../frame/org.tsx";
import type { Search } from "../search.ts";
import { CLUSTER_STATUS, confirmedStatus } from "../status/status.ts";
import { Basis, StatusCell } from "../status/status-badge.tsx";
import { stageText } from "./cluster-labels.ts";
import { Fleet } from "./fleet.tsx";
import { OperatorCell } from "./operator-version.tsx";
import { ProviderName } from "./provider-name.tsx";
import { UpgradeAll } from "./upgrade-all.tsx";

const STATUSES = Object.entries(CLUSTER_STATUS).map(([value, { word }]) => ({ value, label: word }));

const FILTERS = { status: STATUSES };

const columnsOf = (org: string): readonly Column<Cluster>[] => [
  {
    title: "Name",
    width: "minmax(120px, 2fr)",
    render: (cluster) => <RowLink to={clusterAddress(org, cluster.id)}>{cluster.name}</RowLink>,
  },
  {
    title: "Status",
    width: STATUS_WIDTH,
    render: (cluster) => (
      <StatusCell
        status={confirmedStatus(CLUSTER_STATUS[cluster.status], cluster)}
        reason={cluster.message ?? stageText(cluster.current_stage)}
      />
    ),
  },
  { title: "Based on", width: "minmax(110px, 1fr)", from: "tablet", render: (cluster) => <Basis of={cluster} /> },
  { title: "Nodes", width: "70px", from: "tablet", render: ({ node_count }) => node_count?.toLocaleString() ?? "—" },
  {
    title: "Kubernetes",
    width: "minmax(90px, 1fr)",
    from: "tablet",
    render: ({ kubernetes_version }) => kubernetes_version ?? "—",
  },
  {
    title: "Operator",
    width: "minmax(150px, 1.1fr)",
    from: "desktop",
    render: (cluster) => <OperatorCell of={cluster} />,
  },
  {
    title: "Provider",
    width: "minmax(100px, 1fr)",
    from: "desktop",
    render: ({ provider, region }) => (
      <>
        <ProviderName of={provider} />
        {region ? `, ${region}` : ""}
      </>
    ),
  },
];

/** All clusters of the organization: as a list, or as a map of tiles. */
export function ClustersPage() {
  const org = useOrg();
  const { known: search, choose, notice } = useKnownSearch(FILTERS);
  const isMap = search["view"] === "map";
  return (
    <Page
      title="Clusters"
      actions={
        <>
          <UpgradeAll />
          <Allowed to="createCluster">
            <ButtonLink to={`/o/${org.slug}/clusters/new`} leftSection={<IconPlus size={16} aria-hidden />}>
              Add cluster
            </ButtonLink>
          </Allowed>
        </>
      }
    >
      <Group gap="xs" justify="space-between">
        <Group gap="xs" style={{ flex: "1 1 300px" }}>
          <SearchFilter label="Filter by name" />
          <ChoicesFilter name="status" label="Any status" choices={STATUSES} />
        </Group>
        <Later width={113}>
          <SegmentedControl
            aria-label="View"
            data={[
              { value: "list", label: "List" },
              { value: "map", label: "Map" },
            ]}
            value={isMap ? "map" : "list"}
            onChange={(view) => choose({ view: view === "map" ? view : undefined })}
          />
        </Later>
      </Group>
      {notice}
      {isMap ? (
        <Card padding="md">
          <Fleet orgId={org.id} search={search["q"] ?? ""} statuses={choicesOf(search["status"])} />
        </Card>
      ) : (
        <ClusterList search={search} />
      )}
    </Page>
  );
}

function ClusterList({ search }: { readonly search: Search }) {
  const org = useOrg();
  const may = useMay();
  const statuses = choicesOf(search["status"]) as Cluster["status"][];
  const input = {
    org_id: org.id,
    ...(search["q"] ? { search: search["q"] } : {}),
    ...(statuses.length > 0 ? { status: statuses } : {}),
  };
  const isFiltered = Boolean(search["q"]) || statuses.length > 0;
  const columns = useMemo(() => columnsOf(org.slug), [org.slug]);
  return (
    <ListTable
      label="Clusters"
      operation="listClusters"
      input={input}
      columns={columns}
      empty={
        isFiltered ? (
          <EmptyState title="No cluster matches">Change or clear the filters above.</EmptyState>
        ) : (
          <EmptyState
            title="No clusters"
            action={
              may("createCluster") ? (
                <ButtonLink to={`/o/${org.slug}/clusters/new`} variant="light">
                  Add cluster
                </ButtonLink>
              ) : null
            }
            command={commandLine("createCluster", { org_id: org.slug, body: { name: "production" } })}
          >
            A cluster is a Kubernetes cluster on which projects and apps run. Bring one along with a single command, or
            have one created.
          </EmptyState>
        )
      }
    />
  );
}
