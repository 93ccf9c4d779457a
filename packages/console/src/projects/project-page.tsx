import type { Project } from "@binnacle/client";
import { Alert, Button, Group, List, Skeleton, Stack, Text } from "@mantine/core";
import { IconTrash } from "@tabler/icons-react";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import { useRead } from "../api/queries.runner.ts";
import { RegistrySecrets } from "../clusters/registry-secrets.tsx";
import { Roles } from "../clusters/roles.tsx";
import { ActionDialog } from "../components/action-dialog.tsx";
import { clusterAddress } from "../components/addresses.ts";
import { InOwnOrg } from "../components/in-own-org.tsx";
import { ButtonLink, TextLink } from "../components/links.tsx";
import { FailurePanel, LOADING, Loaded } from "../components/loaded.tsx";
import { EmptyState, Page, Section } from "../components/page.tsx";
import { type PageTab, PageTabs } from "../components/page-tabs.tsx";
import { SuspensionBadge, SuspensionButton, SuspensionNotice } from "../components/suspension.tsx";
import { useGone } from "../components/use-gone.tsx";
import { useMay, useOrg } from "../frame/org.tsx";
import { confirmedStatus, isGoing, PROJECT_LIFECYCLE, TONE_COLOR } from "../status/status.ts";
import { Basis, StatusBadge } from "../status/status-badge.tsx";
import { ProjectAddons, ProjectApps, ProjectSecrets } from "./project-contents.tsx";
import { deletionLines, lifecycleText } from "./project-labels.ts";
import { ProjectPolicy } from "./project-policy.tsx";

/** One project. After a deletion the page follows the cleanup, and says when the project is gone. */
export function ProjectPage() {
  const org = useOrg();
  const { id = "" } = useParams({ strict: false });
  const [isSettling, setSettling] = useState(false);
  const project = useRead("getProject", { id }, { refetchMs: isSettling ? 3_000 : 15_000 });
  const lifecycle = project.data?.lifecycle;
  const settles = lifecycle === "pending" || lifecycle === "cleanup_pending";
  if (settles !== isSettling) setSettling(settles);
  const { isGone, onDeleted } = useGone(id, project.error, isGoing(lifecycle));
  if (isGone) {
    return (
      <Page title={project.data?.name ?? "Project"}>
        <EmptyState
          title="The project is gone"
          action={<ButtonLink to={`/o/${org.slug}/projects`}>To the projects</ButtonLink>}
        >
          {lifecycle === "cleanup_degraded"
            ? "Its cluster was detached or deleted, or has cleaned up after all."
            : "The cluster has confirmed that its namespace no longer exists."}
        </EmptyState>
      </Page>
    );
  }
  return (
    <Loaded of={project}>
      {(read) => (
        <InOwnOrg orgId={read.org_id}>
          <Shown project={read} onDeleted={onDeleted} />
        </InOwnOrg>
      )}
    </Loaded>
  );
}

function Shown({ project, onDeleted }: { readonly project: Project; readonly onDeleted: () => void }) {
  const org = useOrg();
  const may = useMay();
  const place = { clusterId: project.cluster_id, projectId: project.id };
  const cluster = useRead("getCluster", { id: project.cluster_id });
  const [isDeleting, setDeleting] = useState(false);
  const isLeaving = isGoing(project.lifecycle);
  const tabs: readonly PageTab[] = [
    { key: "apps", label: "Apps", render: () => <ProjectApps project={project} /> },
    { key: "addons", label: "Addons and exports", render: () => <ProjectAddons project={project} /> },
    {
      key: "secrets",
      label: "Secrets",
      render: () => (
        <Stack>
          <ProjectSecrets project={project} />
          <RegistrySecrets of="project" id={project.id} name={project.name} place={place} />
        </Stack>
      ),
    },
    { key: "policy", label: "Policy", render: () => <ProjectPolicy project={project} /> },
    {
      key: "roles",
      label: "Roles",
      render: () => <Roles of="project" id={project.id} name={project.name} place={place} />,
    },
  ];
  return (
    <Page
      title={project.name}
      status={
        <>
          <StatusBadge status={confirmedStatus(PROJECT_LIFECYCLE[project.lifecycle], project)} />
          <SuspensionBadge of={project.suspended} />
        </>
      }
      detail={
        <>
          <Basis of={project} />
          <div>
            Namespace {project.namespace} on{" "}
            <TextLink to={clusterAddress(org.slug, project.cluster_id)} isInText>
              {cluster.data?.name ?? "its cluster"}
            </TextLink>
          </div>
        </>
      }
      actions={
        <>
          {may("createApp", place) && !isLeaving ? (
            <ButtonLink to={`/o/${org.slug}/apps/new`} search={{ project: project.id }}>
              Create app
            </ButtonLink>
          ) : null}
          {may("suspendProject", place) && !isLeaving ? <SuspensionButton scope="project" of={project} /> : null}
          {may("deleteProject", place) && !isLeaving && project.suspended === null ? (
            <Button
              variant="default"
              leftSection={<IconTrash size={16} aria-hidden />}
              onClick={() => setDeleting(true)}
            >
              Delete
            </Button>
          ) : null}
        </>
      }
    >
      <SuspensionNotice of={project.suspended} />
      <Lifecycle project={project} onDelete={may("deleteProject", place) ? () => setDeleting(true) : null} />
      <PageTabs tabs={tabs} />
      {isDeleting ? <DeleteProject project={project} onDeleted={onDeleted} onClose={() => setDeleting(false)} /> : null}
    </Page>
  );
}

/** Says what is happening, why, and what to do. A project that is ready needs no words. */
function Lifecycle({ project, onDelete }: { readonly project: Project; readonly onDelete: (() => void) | null }) {
  const org = useOrg();
  const { what, why, todo, at } = lifecycleText(project);
  if (project.lifecycle === "ready" && todo === null) return null;
  const { tone } = confirmedStatus(PROJECT_LIFECYCLE[project.lifecycle], project);
  return (
    <Alert color={TONE_COLOR[tone]} variant="light" role="status">
      <Stack gap="xs" align="flex-start">
        <Text size="sm" fw={600}>
          {what}
        </Text>
        {why ? (
          <Text size="sm" style={{ overflowWrap: "anywhere" }}>
            {why}
          </Text>
        ) : null}
        {todo ? <Text size="sm">{todo}</Text> : null}
        <Group gap="xs">
          {at === "cluster" ? (
            <ButtonLink to={clusterAddress(org.slug, project.cluster_id)} size="xs" variant="default">
              Open the cluster
            </ButtonLink>
          ) : null}
          {at === "policy" ? (
            <ButtonLink to="." search={{ tab: "policy" }} size="xs" variant="default">
              Open the policy
            </ButtonLink>
          ) : null}
          {at === "delete" && onDelete ? (
            <Button size="xs" variant="default" onClick={onDelete}>
              Delete the project
            </Button>
          ) : null}
        </Group>
      </Stack>
    </Alert>
  );
}

function DeleteProject(props: {
  readonly project: Project;
  readonly onDeleted: () => void;
  readonly onClose: () => void;
}) {
  const { project, onDeleted, onClose } = props;
  const preview = useRead("previewProjectDeletion", { id: project.id });
  return (
    <ActionDialog
      onClose={onClose}
      title={`Delete ${project.name}?`}
      operation="deleteProject"
      input={{ id: project.id }}
      action="Delete the project"
      typeName={project.name}
      // People confirm what they have seen; a preview that fails says so and does not keep them from deleting.
      isReady={!preview.isPending}
      named={[project]}
      done="The project is being deleted."
      onAnswer={onDeleted}
    >
      <Section title="What goes">
        {preview.isPending ? (
          <Stack gap="xs" {...LOADING}>
            <Skeleton height={16} />
            <Skeleton height={16} width="80%" />
            <Skeleton height={16} width="60%" />
          </Stack>
        ) : preview.data ? (
          <List size="sm" spacing={4}>
            {deletionLines(preview.data).map((line) => (
              <List.Item key={line} style={{ overflowWrap: "anywhere" }}>
                {line}
              </List.Item>
            ))}
          </List>
        ) : (
          <FailurePanel error={preview.error} onRetry={() => void preview.refetch()} />
        )}
      </Section>
    </ActionDialog>
  );
}
