import type { AppSummary, Input } from "@binnacle/client";
import { Button, Group, Text } from "@mantine/core";
import { IconPlayerPause, IconPlayerPlay, IconPlus, IconRefresh } from "@tabler/icons-react";
import { useCallback, useMemo, useState } from "react";
import { binnacleOf } from "../components/commands.ts";
import {
  ChoiceFilter,
  ChoicesFilter,
  choicesOf,
  ObjectFilter,
  SearchFilter,
  useKnownSearch,
} from "../components/filters.tsx";
import type { Offered } from "../components/known-search.ts";
import { ButtonLink } from "../components/links.tsx";
import { type Column, Dimmed, ListTable } from "../components/list-table.tsx";
import { EmptyState, Page } from "../components/page.tsx";
import { useMayCreate } from "../components/use-may-create.tsx";
import { useMay, useOrg } from "../frame/org.tsx";
import { APP_PHASE, DRIFT_STATE } from "../status/status.ts";
import { StatusBadge } from "../status/status-badge.tsx";
import { appColumns } from "./app-columns.tsx";
import type { BulkAction } from "./bulk.ts";
import { BulkDialog } from "./bulk-dialog.tsx";
import { shortImage } from "./components.ts";

const PHASES = Object.entries(APP_PHASE).map(([value, { word }]) => ({ value, label: word }));
const DRIFTS = Object.entries(DRIFT_STATE).map(([value, { word }]) => ({ value, label: word }));
const FILTERS: Readonly<Record<string, Offered>> = {
  phase: PHASES,
  drift: DRIFTS,
  project: "id",
  cluster: "id",
  sort: { orders: ["name", "phase", "project", "cluster", "deployed_at"] },
};

function columnsOf(org: string): readonly Column<AppSummary>[] {
  const { name, status, ready, deployed } = appColumns(org);
  return [
    name,
    status,
    {
      title: "Drift",
      width: "86px",
      from: "desktop",
      // Being in sync is the rule and needs no colour.
      render: ({ drift_state }) =>
        drift_state === "drifted" || drift_state === "blocked_sync" ? (
          <StatusBadge status={DRIFT_STATE[drift_state]} />
        ) : (
          <Dimmed>{drift_state === "in_sync" ? DRIFT_STATE.in_sync.word : "—"}</Dimmed>
        ),
    },
    ready,
    {
      title: "Image",
      width: "minmax(100px, 1.2fr)",
      from: "desktop",
      render: ({ images }) => images.map(shortImage).join(", ") || "—",
    },
    {
      title: "Project",
      width: "minmax(90px, 1fr)",
      sort: "project",
      from: "tablet",
      render: (app) => app.project_name,
    },
    {
      title: "Cluster",
      width: "minmax(90px, 1fr)",
      sort: "cluster",
      from: "desktop",
      render: (app) => app.cluster_name,
    },
    deployed,
  ];
}

/** All apps that the caller may see in the organization. */
export function AppsPage() {
  const org = useOrg();
  const mayCreate = useMayCreate("createApp");
  const { known: search, choose, notice } = useKnownSearch(FILTERS);
  const [selected, setSelected] = useState<ReadonlyMap<string, AppSummary>>(new Map());
  const isFiltered = ["q", "phase", "project", "cluster", "drift"].some((key) => search[key]);
  const create = (
    <ButtonLink to={`/o/${org.slug}/apps/new`} leftSection={<IconPlus size={16} aria-hidden />}>
      Create app
    </ButtonLink>
  );

  const columns = useMemo(() => columnsOf(org.slug), [org.slug]);
  const toggle = useCallback((row: AppSummary) => {
    setSelected((before) => {
      const next = new Map(before);
      if (!next.delete(row.id)) next.set(row.id, row);
      return next;
    });
  }, []);

  return (
    <Page title="Apps" actions={mayCreate ? create : null}>
      <Filters />
      {notice}
      <BulkBar selected={selected} onClear={() => setSelected(new Map())} />
      <ListTable
        label="Apps"
        operation="listAppSummaries"
        input={inputOf(org.id, search)}
        columns={columns}
        sort={search["sort"] ?? "name"}
        onSort={(sort) => choose({ sort: sort === "name" ? undefined : sort })}
        selection={{ selected, toggle }}
        empty={
          isFiltered ? (
            <EmptyState
              title="No app fits"
              action={
                <Button
                  variant="light"
                  onClick={() =>
                    choose({ q: undefined, phase: undefined, project: undefined, cluster: undefined, drift: undefined })
                  }
                >
                  Remove the filters
                </Button>
              }
            >
              There are apps here only by other names or in other states.
            </EmptyState>
          ) : (
            <EmptyState title="No apps" action={mayCreate ? create : null} command={binnacleOf("createApp", {})}>
              An app is a set of components that run together in a project. Begin with a template, an image or YAML.
            </EmptyState>
          )
        }
      />
    </Page>
  );
}

function inputOf(orgId: string, search: Readonly<Record<string, string | undefined>>): Input<"listAppSummaries"> {
  const { q, phase, project, cluster, drift, sort } = search;
  return {
    org_id: orgId,
    ...(q ? { search: q } : {}),
    ...(phase ? { phase: choicesOf(phase) } : {}),
    ...(project ? { project_id: project } : {}),
    ...(cluster ? { cluster_id: cluster } : {}),
    ...(drift ? { drift } : {}),
    sort: sort ?? "name",
  } as Input<"listAppSummaries">;
}

function Filters() {
  return (
    <Group gap="xs">
      <SearchFilter label="Name, namespace or image" />
      <ChoicesFilter name="phase" label="Any phase" choices={PHASES} />
      <ObjectFilter name="project" />
      <ObjectFilter name="cluster" />
      <ChoiceFilter name="drift" label="Any drift" choices={DRIFTS} />
    </Group>
  );
}

const ACTIONS = [
  { action: "redeploy", label: "Redeploy", Icon: IconRefresh, operation: "redeployApp" },
  { action: "pause", label: "Pause", Icon: IconPlayerPause, operation: "pauseApp" },
  { action: "resume", label: "Resume", Icon: IconPlayerPlay, operation: "resumeApp" },
] as const;

/** What can be done with the selected rows; nothing while none is selected that the caller may change. */
function BulkBar(props: { readonly selected: ReadonlyMap<string, AppSummary>; readonly onClear: () => void }) {
  const { selected, onClear } = props;
  const may = useMay();
  const [running, setRunning] = useState<{ action: BulkAction; rows: readonly AppSummary[] } | null>(null);
  const rows = [...selected.values()];
  const offered = ACTIONS.filter(({ operation }) =>
    rows.some((row) => may(operation, { clusterId: row.cluster_id, projectId: row.project_id })),
  );
  return (
    <>
      {rows.length > 0 ? (
        <Group gap="xs" role="toolbar" aria-label="Actions on the selected apps">
          <Text size="sm" role="status">
            {rows.length} selected
          </Text>
          {offered.map(({ action, label, Icon }) => (
            <Button
              key={action}
              size="xs"
              variant="default"
              leftSection={<Icon size={14} aria-hidden />}
              onClick={() => setRunning({ action, rows })}
            >
              {label}
            </Button>
          ))}
          <Button size="xs" variant="subtle" color="gray" onClick={onClear}>
            Clear
          </Button>
        </Group>
      ) : null}
      {running ? (
        <BulkDialog action={running.action} rows={running.rows} onClose={() => setRunning(null)} onStarted={onClear} />
      ) : null}
    </>
  );
}
