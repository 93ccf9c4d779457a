import { commandLine } from "@binnacle/cli/command-line";
import type { Cluster } from "@binnacle/client";
import { Alert, Text } from "@mantine/core";
import { useParams } from "@tanstack/react-router";
import { useRead } from "../api/queries.runner.ts";
import { InOwnOrg } from "../components/in-own-org.tsx";
import { ButtonLink } from "../components/links.tsx";
import { ListTable, timeColumn } from "../components/list-table.tsx";
import { Loaded } from "../components/loaded.tsx";
import { Moment } from "../components/moment.tsx";
import { EmptyState, Page } from "../components/page.tsx";
import { type PageTab, PageTabs } from "../components/page-tabs.tsx";
import { SuspensionBadge, SuspensionButton, SuspensionNotice } from "../components/suspension.tsx";
import { visibleText } from "../components/visible-text.ts";
import { Allowed, useMay, useOrg } from "../frame/org.tsx";
import { projectColumns } from "../projects/project-columns.tsx";
import { CLUSTER_STATUS, confirmedStatus, isGivenUp } from "../status/status.ts";
import { Basis, StatusBadge } from "../status/status-badge.tsx";
import { ClusterInstall } from "./cluster-install.tsx";
import { stageText } from "./cluster-labels.ts";
import { ClusterOverview } from "./cluster-overview.tsx";
import { ClusterSettings } from "./cluster-settings.tsx";
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
  const isAbandoned = isGivenUp(cluster.status);
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
            render: () => <RegistrySecrets of="cluster" id={cluster.id} name={cluster.name} place={place} />,
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
      status={
        <>
          <StatusBadge status={confirmedStatus(CLUSTER_STATUS[cluster.status], cluster)} />
          <SuspensionBadge of={cluster.suspended} />
        </>
      }
      detail={
        <>
          <Basis of={cluster} />
          {cluster.message ? <div>{cluster.message}</div> : null}
          {cluster.current_stage ? (
            <div>
              {stageText(cluster.current_stage)}, since <Moment at={cluster.current_stage.started_at} />
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
          <>
            <Allowed to="suspendCluster" in={place}>
              <SuspensionButton scope="cluster" of={cluster} />
            </Allowed>
            <Allowed to="createProject" in={place}>
              <ButtonLink to={`/o/${org.slug}/projects`} search={{ new: cluster.id }} variant="default">
                Create project
              </ButtonLink>
            </Allowed>
          </>
        )
      }
    >
      {cluster.status === "detaching" ? (
        <Alert color="gray" variant="light" role="status" title="The cluster is being detached">
          It takes no changes. What runs on it stays, and these records end when its operator has let go of everything.
        </Alert>
      ) : null}
      {cluster.status === "abandoned" ? (
        <Alert color="gray" variant="light" role="status" title="The cluster was given up">
          It takes no changes. If its operator returns, it removes the projects, and then these records end. Deleting
          the cluster ends them now; its name is free either way.
        </Alert>
      ) : null}
      <SuspensionNotice of={isAbandoned ? null : cluster.suspended} />
      <PageTabs tabs={tabs} />
    </Page>
  );
}

function Projects({ cluster }: { readonly cluster: Cluster }) {
  const org = useOrg();
  return (
    <ListTable
      label="Projects"
      operation="listProjects"
      input={{ cluster_id: cluster.id }}
      columns={[...projectColumns(org.slug), timeColumn("Created", "created_at", "tablet")]}
      empty={
        <EmptyState
          title="No projects here"
          command={commandLine("createProject", { body: { name: "shop", cluster_id: cluster.name } })}
        >
          A project is a namespace on the cluster, with its own apps, addons, secrets and roles. You see those that you
          have a role on.
        </EmptyState>
      }
    />
  );
}
