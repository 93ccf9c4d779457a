import type { App } from "@binnacle/client";
import { Alert, Anchor, Skeleton, Stack, Text } from "@mantine/core";
import { IconExternalLink, IconPlayerPause } from "@tabler/icons-react";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useEffect } from "react";
import { useAll } from "../api/all.runner.ts";
import { useRead } from "../api/queries.runner.ts";
import { appAddress, clusterAddress, projectAddress } from "../components/addresses.ts";
import { ButtonLink, TextLink } from "../components/links.tsx";
import { Loaded, LoadingLines, lazily } from "../components/loaded.tsx";
import { EmptyState, Page } from "../components/page.tsx";
import { PageTabs } from "../components/page-tabs.tsx";
import { SuspensionBadge, SuspensionNotice } from "../components/suspension.tsx";
import { useGone } from "../components/use-gone.tsx";
import { usePageSearch } from "../components/use-search.tsx";
import { visibleText } from "../components/visible-text.ts";
import { useMay, useOrg } from "../frame/org.tsx";
import { ReasonAdvice } from "../status/reason-advice.tsx";
import { appStatus, type Tone } from "../status/status.ts";
import { Basis, StatusBadge } from "../status/status-badge.tsx";
import { reasonText } from "./app-action.ts";
import { AppActions } from "./app-actions.tsx";
import type { AppAddress } from "./app-address.ts";
import { publicAddresses } from "./components.ts";

const OverviewTab = lazily(async () => (await import("./overview/overview-tab.tsx")).OverviewTab);
const DeploymentsTab = lazily(async () => (await import("./deployments/deployments-tab.tsx")).DeploymentsTab);
const ConfigurationTab = lazily(async () => (await import("./configuration/configuration-tab.tsx")).ConfigurationTab);
const SecretsTab = lazily(async () => (await import("./secrets/secrets-tab.tsx")).SecretsTab);
const ActivityTab = lazily(async () => (await import("./activity/activity-tab.tsx")).ActivityTab);
const LogsTab = lazily(async () => (await import("../streams/logs-tab.tsx")).LogsTab);
const MetricsTab = lazily(async () => (await import("../streams/metrics-tab.tsx")).MetricsTab);
const TerminalTab = lazily(async () => (await import("../streams/terminal-tab.tsx")).TerminalTab);

const TABS = [
  ["overview", "Overview"],
  ["logs", "Logs"],
  ["metrics", "Metrics"],
  ["deployments", "Deployments"],
  ["configuration", "Configuration"],
  ["secrets", "Secrets"],
  ["terminal", "Terminal"],
  ["activity", "Activity"],
] as const;
type TabName = (typeof TABS)[number][0];

/** One app, at the address of its namespace and name. */
export function AppPage() {
  const { namespace, name } = useParams({ strict: false }) as { namespace: string; name: string };
  const [{ project }] = usePageSearch();
  if (project === undefined) return <FindProject namespace={namespace} name={name} />;
  return <ReadApp address={{ namespace, name, project_id: project }} />;
}

function ReadApp({ address }: { readonly address: AppAddress }) {
  const org = useOrg();
  const app = useRead("getApp", address, { refetchMs: 15_000 });
  // The last answer stays while an app that is gone is asked for again, and says whether somebody has deleted it.
  const id = `${address.project_id} ${address.name}`;
  const { isMissing, isGone, onDeleted } = useGone(id, app.error, app.data?.phase === "deleting");
  if (isMissing) {
    return (
      <Page title={address.name}>
        <EmptyState
          title={isGone ? "The app is deleted" : "Not found"}
          action={<ButtonLink to={`/o/${org.slug}/apps`}>All apps</ButtonLink>}
        >
          {isGone
            ? "The cluster has confirmed that nothing of it is left."
            : "It does not exist, or you may not see it."}
        </EmptyState>
      </Page>
    );
  }
  return (
    <Loaded of={app} skeleton={<AppSkeleton name={address.name} />}>
      {(data) => <AppView app={data} onDeleted={onDeleted} />}
    </Loaded>
  );
}

/** What the line of the title leaves out: why the app is as it is, unless all is well, and what it is for. */
function Detail({ app, tone }: { readonly app: App; readonly tone: Tone }) {
  const isTrouble = tone === "warning" || tone === "bad";
  // A notice below says what a pause means.
  const hasReason = tone !== "good" && !app.paused;
  if (!hasReason && !app.description) return null;
  return (
    <Stack gap={2}>
      {hasReason ? (
        <Text inherit span c={isTrouble ? "var(--mantine-color-text)" : "inherit"}>
          {reasonText(app)}
        </Text>
      ) : null}
      {isTrouble ? (
        <Text size="sm" component="div">
          <ReasonAdvice reason={app.phase_reason} message={reasonText(app)} />
        </Text>
      ) : null}
      {app.description ? (
        <Text size="sm" lineClamp={2} title={visibleText(app.description)}>
          {visibleText(app.description)}
        </Text>
      ) : null}
    </Stack>
  );
}

/** Where people reach the app. */
function Addresses({ of: { components } }: { readonly of: App }) {
  return publicAddresses(components).map((url) => (
    <Anchor
      key={url}
      href={url}
      target="_blank"
      rel="noopener noreferrer"
      size="xs"
      style={{ overflowWrap: "anywhere" }}
    >
      <Short text={url.replace(/^https?:\/\/|\/$/g, "")} />{" "}
      <IconExternalLink size={12} aria-label="opens in a new tab" role="img" />
    </Anchor>
  ));
}

function AppSkeleton({ name }: { readonly name: string }) {
  return (
    <Page title={name} detail={<Skeleton height={16} width={320} mt={4} />}>
      <LoadingLines lines={8} />
    </Page>
  );
}

function AppView({ app, onDeleted }: { readonly app: App; readonly onDeleted: () => void }) {
  const org = useOrg();
  const may = useMay();
  const [search] = usePageSearch();
  const place = { clusterId: app.cluster_id, projectId: app.project_id };
  // A terminal is not for everybody who may read the app.
  const tabs = TABS.filter(([tab]) => tab !== "terminal" || may("execComponent", place));
  const status = appStatus({ ...app, drift_state: app.drift.state });
  return (
    <Page
      title={app.name}
      status={
        <>
          <StatusBadge status={status} title={reasonText(app)} />
          <SuspensionBadge of={app.suspended} />
          <Addresses of={app} />
          <Places app={app} org={org.slug} />
          <Basis of={app} />
        </>
      }
      detail={<Detail app={app} tone={status.tone} />}
      actions={<AppActions app={app} onDeleted={onDeleted} />}
    >
      {app.paused && app.phase !== "deleting" ? (
        <Alert color="gray" icon={<IconPlayerPause aria-hidden />} p="xs">
          The app is paused. Its configuration can be changed; its replica counts come back when it is resumed.
        </Alert>
      ) : null}
      <SuspensionNotice of={app.suspended} />
      <PageTabs
        tabs={tabs.map(([key, label]) => ({
          key,
          label,
          render: () => <TabBody tab={key} app={app} component={search["component"]} />,
        }))}
        resets={{ component: undefined, pod: undefined, object: undefined }}
      />
    </Page>
  );
}

function TabBody(props: { readonly tab: TabName; readonly app: App; readonly component: string | undefined }) {
  const { app, component } = props;
  switch (props.tab) {
    case "overview":
      return <OverviewTab app={app} />;
    case "logs":
      return <LogsTab app={app} component={component} />;
    case "metrics":
      return <MetricsTab app={app} />;
    case "deployments":
      return <DeploymentsTab app={app} />;
    case "configuration":
      return <ConfigurationTab app={app} />;
    case "secrets":
      return <SecretsTab app={app} />;
    case "terminal":
      return <TerminalTab app={app} component={component} />;
    case "activity":
      return <ActivityTab app={app} />;
  }
}

function Places({ app, org }: { readonly app: App; readonly org: string }) {
  const project = useRead("getProject", { id: app.project_id }).data?.name ?? app.namespace;
  const cluster = useRead("getCluster", { id: app.cluster_id }).data?.name ?? "its cluster";
  return (
    <Text size="xs" component="span" c="dimmed">
      in{" "}
      <TextLink size="xs" isInText to={projectAddress(org, app.project_id)}>
        <Short text={project} />
      </TextLink>
      {" on "}
      <TextLink size="xs" isInText to={clusterAddress(org, app.cluster_id)}>
        <Short text={cluster} />
      </TextLink>
    </Text>
  );
}

/** A name that leaves room for the others of the line. */
const Short = ({ text }: { readonly text: string }) => (
  <Text
    inherit
    span
    truncate
    display="inline-block"
    maw={150}
    title={text}
    // A block of its own does not take the line of the link that it is in.
    style={{ verticalAlign: "bottom", textDecoration: "inherit" }}
  >
    {text}
  </Text>
);

/** An address without a project, as somebody may type it: the project is looked up, or chosen where several have the namespace. */
function FindProject({ namespace, name }: Pick<AppAddress, "namespace" | "name">) {
  const org = useOrg();
  const navigate = useNavigate();
  const projects = useAll("listProjects", {});
  const found = projects.data?.filter((project) => project.namespace === namespace && project.org_id === org.id);
  const only = found?.length === 1 ? found[0] : undefined;
  useEffect(() => {
    if (only) void navigate({ to: ".", search: (before: object) => ({ ...before, project: only.id }), replace: true });
  }, [only, navigate]);
  return (
    <Loaded of={projects} skeleton={<AppSkeleton name={name} />}>
      {() =>
        only ? (
          <AppSkeleton name={name} />
        ) : (
          <Page title={name}>
            <EmptyState title={found?.length ? "Which project do you mean?" : "Not found"}>
              {found?.length
                ? found.map((project) => (
                    <div key={project.id}>
                      <TextLink
                        size="md"
                        to={appAddress(org.slug, { namespace, name })}
                        search={{ project: project.id }}
                      >
                        {project.name}
                      </TextLink>
                    </div>
                  ))
                : `You can see no project with the namespace ${namespace}.`}
            </EmptyState>
          </Page>
        )
      }
    </Loaded>
  );
}
