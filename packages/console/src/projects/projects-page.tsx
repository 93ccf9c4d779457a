import { commandLine } from "@binnacle/cli/command-line";
import type { ItemOf, Project } from "@binnacle/client";
import { Button, Group } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { useDeferredValue, useMemo } from "react";
import { useClusterNames } from "../clusters/fleet.runner.ts";
import { projectAddress } from "../components/addresses.ts";
import { ChoicesFilter, choicesOf, ObjectFilter, SearchFilter, useKnownSearch } from "../components/filters.tsx";
import type { Offered } from "../components/known-search.ts";
import { type Column, ListTable, timeColumn } from "../components/list-table.tsx";
import { EmptyState, Page } from "../components/page.tsx";
import { useAccess, useMay, useOrg } from "../frame/org.tsx";
import { PROJECT_LIFECYCLE } from "../status/status.ts";
import { CreateProject } from "./create-project.tsx";
import { projectColumns } from "./project-columns.tsx";

const LIFECYCLES = Object.entries(PROJECT_LIFECYCLE).map(([value, { word }]) => ({ value, label: word }));

const FILTERS: Readonly<Record<string, Offered>> = { lifecycle: LIFECYCLES, cluster: "id" };

const columnsOf = (
  org: string,
  clusterNames: ReadonlyMap<string, string>,
): readonly Column<ItemOf<"listProjects">>[] => [
  ...projectColumns(org),
  {
    title: "Cluster",
    width: "minmax(100px, 1.2fr)",
    from: "tablet",
    render: ({ cluster_id }) => clusterNames.get(cluster_id) ?? "—",
  },
  {
    title: "Pod security",
    width: "minmax(90px, 1fr)",
    from: "desktop",
    render: ({ pod_security }) => pod_security ?? "as the cluster",
  },
  timeColumn("Created", "created_at", "desktop"),
];

/** Whether the caller may create a project on some cluster of the organization. */
export function useMayCreateProject(): boolean {
  const access = useAccess();
  const may = useMay();
  const org = useOrg();
  return (
    may("createCluster") ||
    access.clusters.some(({ id, org_id }) => org_id === org.id && may("createProject", { clusterId: id }))
  );
}

/** All projects that the caller may see in the organization. */
export function ProjectsPage() {
  const org = useOrg();
  const navigate = useNavigate();
  const { known: search, choose, notice } = useKnownSearch(FILTERS);
  // The names come later than the rows, and all rows are drawn again with them.
  const names = useDeferredValue(useClusterNames(org.id));
  const mayCreate = useMayCreateProject();
  const lifecycles = choicesOf(search["lifecycle"]) as Project["lifecycle"][];
  const isFiltered = Boolean(search["q"] || search["cluster"]) || lifecycles.length > 0;
  const input = {
    org_id: org.id,
    ...(search["q"] ? { search: search["q"] } : {}),
    ...(lifecycles.length > 0 ? { lifecycle: lifecycles } : {}),
    ...(search["cluster"] ? { cluster_id: search["cluster"] } : {}),
  };
  const columns = useMemo(() => columnsOf(org.slug, names), [org.slug, names]);
  const create = (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => choose({ new: "project" })}>
      Create project
    </Button>
  );
  return (
    <Page title="Projects" actions={mayCreate ? create : null}>
      <Group gap="xs">
        <SearchFilter label="Filter by name" />
        <ChoicesFilter name="lifecycle" label="Any lifecycle" choices={LIFECYCLES} />
        <ObjectFilter name="cluster" />
      </Group>
      {notice}
      <ListTable
        label="Projects"
        operation="listProjects"
        input={input}
        columns={columns}
        empty={
          isFiltered ? (
            <EmptyState title="No project matches">Change or clear the filters above.</EmptyState>
          ) : (
            <EmptyState
              title="No projects"
              action={mayCreate ? create : null}
              command={commandLine("createProject", { body: { name: "shop", cluster_id: "production" } })}
            >
              A project is a namespace on a cluster: its apps and addons run in it, and its roles say who may do what.
            </EmptyState>
          )
        }
      />
      {search["new"] !== undefined && mayCreate ? (
        <CreateProject
          clusterId={search["new"]}
          onClose={() => choose({ new: undefined })}
          onCreated={(id) => void navigate({ to: projectAddress(org.slug, id) })}
        />
      ) : null}
    </Page>
  );
}
