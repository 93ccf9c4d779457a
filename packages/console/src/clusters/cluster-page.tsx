import type { Cluster, ItemOf } from "@binnacle/client";
import { Alert, Text } from "@mantine/core";
import { useParams } from "@tanstack/react-router";
import { useRead } from "../api/queries.runner.ts";
import { Allowed, useMay, useOrg } from "../frame/org.tsx";
import { projectAddress } from "../parts/addresses.ts";
import { quoted } from "../parts/commands.ts";
import { InOwnOrg } from "../parts/in-own-org.tsx";
import { ButtonLink, RowLink } from "../parts/links.tsx";
import { type Column, ListTable } from "../parts/list-table.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Moment } from "../parts/moment.tsx";
import { EmptyState, Page } from "../parts/page.tsx";
import { type PageTab, PageTabs } from "../parts/page-tabs.tsx";
import { visibleText } from "../parts/visible-text.ts";
import { believed, CLUSTER_STATUS, PROJECT_LIFECYCLE } from "../status/status.ts";
import { Basis, StatusBadge, StatusCell } from "../status/status-badge.tsx";
import { ClusterInstall } from "./cluster-install.tsx";
import { ClusterOverview } from "./cluster-overview.tsx";
import { ClusterSettings } from "./cluster-settings.tsx";
import { stageWords } from "./cluster-words.ts";
import { RegistrySecrets } from "./registry-secrets.tsx";
import { Roles } from "./roles.tsx";

/** One cluster. */
export function ClusterPage() {
  const { id = "" } = useParams({ strict: false });
  const cluster = useRead("getCluster", { id }, { refetchMs: 15_000 });
  return (
    <Loaded of={cluster}>
      {(read) => (
        <InOwnOrg orgId={read.org_id}>
          <Shown cluster={read} />
        </InOwnOrg>
      )}
    </Loaded>
  );
}

function Shown({ cluster }: { readonly cluster: Cluster }) {
  const org = useOrg();
  const may = useMay();
  const place = { clusterId: cluster.id };
  const isAbandoned = cluster.status === "abandoned";
  const tabs: readonly PageTab[] = [
    { key: "overview", label: "Overview", render: () => <ClusterOverview cluster={cluster} /> },
    { key: "projects", label: "Projects", render: () => <Projects cluster={cluster} /> },
    ...(isAbandoned
      ? []
      : [
          { key: "install", label: "Platform", render: () => <ClusterInstall cluster={cluster} /> },
          {
            key: "registry",
            label: "Registry secrets",
            render: () => <RegistrySecrets of="cluster" id={cluster.id} place={place} />,
          },
        ]),
    ...(may("listClusterRoles", place)
      ? [
          {
            key: "roles",
            label: "Roles",
            render: () => <Roles of="cluster" id={cluster.id} name={cluster.name} place={place} />,
          },
        ]
      : []),
    { key: "settings", label: "Settings", render: () => <ClusterSettings cluster={cluster} /> },
  ];
  return (
    <Page
      title={cluster.name}
      status={<StatusBadge status={believed(CLUSTER_STATUS[cluster.status], cluster)} />}
      detail={
        <>
          <Basis of={cluster} />
          {cluster.message ? <div>{cluster.message}</div> : null}
          {cluster.current_stage ? (
            <div>
              {stageWords(cluster.current_stage)}, since <Moment at={cluster.current_stage.started_at} />
            </div>
          ) : null}
          {cluster.description ? (
            <Text size="sm" lineClamp={2} title={visibleText(cluster.description)}>
              {visibleText(cluster.description)}
            </Text>
          ) : null}
        </>
      }
      actions={
        isAbandoned ? null : (
          <Allowed to="createProject" in={place}>
            <ButtonLink to={`/o/${org.slug}/projects`} search={{ new: cluster.id }} variant="default">
              Create project
            </ButtonLink>
          </Allowed>
        )
      }
    >
      {isAbandoned ? (
        <Alert color="gray" variant="light" role="status" title="The cluster was given up">
          It takes no changes. If its operator returns, it removes the projects, and then these records end. Deleting
          the cluster ends them now; its name is free either way.
        </Alert>
      ) : null}
      <PageTabs tabs={tabs} />
    </Page>
  );
}

function Projects({ cluster }: { readonly cluster: Cluster }) {
  const org = useOrg();
  const columns: readonly Column<ItemOf<"listProjects">>[] = [
    {
      key: "name",
      title: "Name",
      width: "minmax(140px, 2fr)",
      render: (project) => <RowLink to={projectAddress(org.slug, project.id)}>{project.name}</RowLink>,
    },
    {
      key: "lifecycle",
      title: "Lifecycle",
      width: "minmax(140px, 1.5fr)",
      render: (project) => (
        <StatusCell
          status={believed(PROJECT_LIFECYCLE[project.lifecycle], project)}
          reason={project.lifecycle_message}
        />
      ),
    },
    {
      key: "seen",
      title: "Based on",
      width: "minmax(110px, 1fr)",
      from: "tablet",
      render: (project) => <Basis of={project} />,
    },
    {
      key: "created",
      title: "Created",
      width: "minmax(90px, 1fr)",
      from: "tablet",
      render: ({ created_at }) => <Moment at={created_at} />,
    },
  ];
  return (
    <ListTable
      label="Projects"
      operation="listProjects"
      input={{ cluster_id: cluster.id }}
      columns={columns}
      empty={
        <EmptyState
          title="No projects here"
          command={`binnacle projects create shop --cluster ${quoted(cluster.name)}`}
        >
          A project is a namespace on the cluster, with its own apps, addons, secrets and roles. You see those that you
          have a role on.
        </EmptyState>
      }
    />
  );
}
