import type { AbandonedCluster, Cluster, OperationName, RotatedToken } from "@binnacle/client";
import { Alert, Button, Group, List, NumberInput, Stack, Text } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useRead } from "../api/queries.runner.ts";
import { ActionDialog } from "../components/action-dialog.tsx";
import { jobAddress, projectAddress } from "../components/addresses.ts";
import { Dialog } from "../components/dialog.tsx";
import { OperationForm } from "../components/form.tsx";
import { TextLink } from "../components/links.tsx";
import { Section } from "../components/page.tsx";
import { useMay, useOrg } from "../frame/org.tsx";
import { isGivenUp } from "../status/status.ts";
import { PlanPreview } from "./plan-view.tsx";
import { dangerousActions } from "./policy-labels.ts";
import { SecretOnce } from "./secret-once.tsx";

interface Props {
  readonly cluster: Cluster;
  readonly onClose: () => void;
}

/** What interrupts a cluster or cannot be undone. */
export function ClusterDanger({ cluster }: { readonly cluster: Cluster }) {
  const may = useMay();
  const [open, setOpen] = useState<OperationName | null>(null);
  const [left, setLeft] = useState<AbandonedCluster | null>(null);
  const entries = entriesFor(cluster).filter(({ operation }) => may(operation, { clusterId: cluster.id }));
  if (entries.length === 0) return null;
  const props = { cluster, onClose: () => setOpen(null) };
  return (
    <Section title="Danger zone">
      <Stack gap="lg">
        {entries.map((entry) => (
          <Entry key={entry.operation} {...entry} onClick={() => setOpen(entry.operation)} />
        ))}
      </Stack>
      {open === "rotateClusterToken" ? <Rotate {...props} /> : null}
      {open === "scaleCluster" ? <Scale {...props} /> : null}
      {open === "abandonCluster" ? <Abandon {...props} onDone={setLeft} /> : null}
      {open === "detachCluster" ? <Detach {...props} /> : null}
      {open === "deleteCluster" ? <Delete {...props} /> : null}
      <LeftBehind of={left} onClose={() => setLeft(null)} />
    </Section>
  );
}

interface DangerEntry {
  readonly operation: OperationName;
  readonly title: string;
  readonly action: string;
  readonly text: string;
  readonly isDisabled?: boolean;
}

function entriesFor(cluster: Cluster): readonly DangerEntry[] {
  const { canScale, abandonRefusal, detachRefusal } = dangerousActions(cluster);
  const isAbandoned = isGivenUp(cluster.status);
  const deletion: DangerEntry = {
    operation: "deleteCluster",
    title: "Delete the cluster",
    action: "Delete…",
    text: isAbandoned ? "Ends its record and those of its projects." : "Possible when no project is left on it.",
  };
  if (isAbandoned) return [deletion];
  const scaling: DangerEntry = {
    operation: "scaleCluster",
    title: "Change the number of nodes",
    action: "Scale…",
    text: canScale ? "Adds or removes machines at the provider." : "Not possible in the cluster's present state.",
    isDisabled: !canScale,
  };
  const detaching: DangerEntry = {
    operation: "detachCluster",
    title: "Detach the cluster",
    action: "Detach…",
    text:
      detachRefusal ??
      "Binnacle lets it go: what runs stays, and nothing on it belongs to Binnacle any more. The records of its projects and apps end.",
    isDisabled: detachRefusal !== null,
  };
  return [
    {
      operation: "rotateClusterToken",
      title: "Rotate the operator's token",
      action: "Rotate…",
      text: "Every earlier token stops working, and the operator is disconnected until the new one is deployed. Apps go on running.",
    },
    ...(cluster.provider === null ? [] : [scaling]),
    {
      operation: "abandonCluster",
      title: "Give the cluster up",
      action: "Abandon…",
      text:
        abandonRefusal ??
        "For a cluster that never comes back: it and its projects stay on record as abandoned, and their names are free.",
      isDisabled: abandonRefusal !== null,
    },
    ...(cluster.provider === null ? [detaching] : []),
    deletion,
  ];
}

function Scale({ cluster, onClose }: Props) {
  const org = useOrg();
  const navigate = useNavigate();
  const [plan, setPlan] = useState<{ readonly jobId: string; readonly nodes: number } | null>(null);
  return (
    <ActionDialog
      onClose={onClose}
      title={`Scale ${cluster.name}`}
      operation="scaleCluster"
      values={{ desired_node_count: cluster.node_count ?? 1 }}
      input={(body) => ({
        id: cluster.id,
        body: plan?.nodes === body.desired_node_count ? { ...body, plan_job_id: plan.jobId } : body,
      })}
      action="Scale"
      isReady={(typed) => typed.desired_node_count !== cluster.node_count}
      named={[cluster]}
      onDone={(job) => void navigate({ to: jobAddress(org.slug, cluster.id, job.id) })}
      consequences={(typed) =>
        cluster.node_count !== null && typed.desired_node_count < cluster.node_count
          ? [
              "Pods on machines that go are moved to the others, if there is room.",
              "A machine with local volumes stays: the job fails, names them, and changes nothing.",
            ]
          : []
      }
    >
      {({ field, values: { desired_node_count: nodes } }) => (
        <>
          <NumberInput
            label="Nodes"
            description="The control plane and its agents together, from 1 to 21."
            min={1}
            max={21}
            clampBehavior="strict"
            {...field("desired_node_count")}
          />
          {nodes === cluster.node_count ? null : (
            <PlanPreview
              key={nodes}
              clusterId={cluster.id}
              body={{ action: "scale", desired_node_count: nodes }}
              onShown={(jobId) => setPlan({ jobId, nodes })}
            />
          )}
        </>
      )}
    </ActionDialog>
  );
}

function Delete({ cluster, onClose }: Props) {
  const org = useOrg();
  const navigate = useNavigate();
  const [planJobId, setPlanJobId] = useState<string | null>(null);
  return (
    <ActionDialog
      onClose={onClose}
      title={`Delete ${cluster.name}?`}
      operation="deleteCluster"
      input={{ id: cluster.id, ...(planJobId === null ? {} : { plan_job_id: planJobId }) }}
      action="Delete the cluster"
      typeName={cluster.name}
      named={[cluster]}
      done={cluster.provider === null ? "The cluster is deleted." : "The cluster is being destroyed."}
      onDone={() => void navigate({ to: `/o/${org.slug}/clusters` })}
      consequences={dangerousActions(cluster).deleteConsequences}
    >
      {isGivenUp(cluster.status) ? null : <BlockingProjects clusterId={cluster.id} />}
      {cluster.provider === null ? null : (
        <PlanPreview clusterId={cluster.id} body={{ action: "destroy" }} onShown={setPlanJobId} />
      )}
    </ActionDialog>
  );
}

function Abandon({ cluster, onClose, onDone }: Props & { readonly onDone: (left: AbandonedCluster) => void }) {
  return (
    <ActionDialog
      onClose={onClose}
      title={`Abandon ${cluster.name}?`}
      operation="abandonCluster"
      input={{ id: cluster.id, body: { name: cluster.name } }}
      action="Abandon the cluster"
      typeName={cluster.name}
      named={[cluster]}
      onDone={onDone}
      consequences={[
        "It reads as abandoned, its projects as given up with it, and neither takes changes any more.",
        "Nothing on the cluster itself is touched: what runs there goes on running.",
        "If its operator returns, it is told to remove everything, and then the records end.",
        "Its name is free at once. Deleting the cluster ends the records before.",
      ]}
    />
  );
}

function Detach({ cluster, onClose }: Props) {
  return (
    <ActionDialog
      onClose={onClose}
      title={`Detach ${cluster.name}?`}
      operation="detachCluster"
      input={{ id: cluster.id, body: { name: cluster.name } }}
      action="Detach the cluster"
      typeName={cluster.name}
      named={[cluster]}
      done="The cluster is being detached."
      consequences={[
        "Everything that runs stays as it is. The operator takes its finalizers and ownership labels away, and its own records.",
        "The records of its projects, apps and addons end, with their history. This cannot be undone.",
        "Nothing is corrected or updated afterwards. The operator itself is left to helm uninstall.",
      ]}
    />
  );
}

function Entry({ title, text, action, isDisabled = false, onClick }: DangerEntry & { readonly onClick: () => void }) {
  return (
    <Group justify="space-between" gap="sm">
      <div style={{ flex: "1 1 260px" }}>
        <Text size="sm" fw={600}>
          {title}
        </Text>
        <Text size="sm" c="dimmed">
          {text}
        </Text>
      </div>
      <Button variant="default" c="var(--tone-bad)" onClick={onClick} disabled={isDisabled}>
        {action}
      </Button>
    </Group>
  );
}

/** The API refuses to delete a cluster with projects, and names them; here they are links. */
function BlockingProjects({ clusterId }: { readonly clusterId: string }) {
  const org = useOrg();
  const projects = useRead("listProjects", { cluster_id: clusterId, items_per_page: 20 });
  const { data = [], total_count = 0 } = projects.data ?? {};
  if (total_count === 0) return null;
  return (
    <Alert color="yellow" title={`${total_count} ${total_count === 1 ? "project is" : "projects are"} still on it`}>
      <Text size="sm">
        Delete them first:{" "}
        {data.map(({ id, name }, index) => (
          <span key={id}>
            {index > 0 ? ", " : ""}
            <TextLink to={projectAddress(org.slug, id)} isInText>
              {name}
            </TextLink>
          </span>
        ))}
        {total_count > data.length ? ` and ${total_count - data.length} more` : ""}.
      </Text>
    </Alert>
  );
}

/** The new token is kept by this dialog alone and is gone when it is closed. */
function Rotate({ cluster, onClose }: Props) {
  const [rotated, setRotated] = useState<RotatedToken | null>(null);
  return (
    <Dialog
      opened
      onClose={onClose}
      title={`Rotate the token of ${cluster.name}`}
      size="lg"
      // A click beside the dialog must not throw the only copy of the token away.
      closeOnClickOutside={rotated === null}
    >
      {rotated === null ? (
        <OperationForm
          operation="rotateClusterToken"
          input={{ id: cluster.id }}
          action="Rotate the token"
          named={[cluster]}
          consequences={[
            "Every earlier token of the operator stops working at once.",
            "The cluster is disconnected until you run the command that you get next. Its apps go on running.",
          ]}
          onCancel={onClose}
          onDone={setRotated}
        />
      ) : (
        <Stack>
          <Text size="sm">
            {rotated.enforcement === "in_force"
              ? "The old tokens are refused from now on."
              : "The rotation has happened, but the hub that holds the live session has not confirmed it yet. Do not rotate again."}{" "}
            Run this where <code>helm</code> points at the cluster:
          </Text>
          <SecretOnce text={rotated.install_command} label="Copy the install command" />
          <Group justify="flex-end">
            <Button onClick={onClose}>I have copied it</Button>
          </Group>
        </Stack>
      )}
    </Dialog>
  );
}

function LeftBehind({ of, onClose }: { readonly of: AbandonedCluster | null; readonly onClose: () => void }) {
  return (
    <Dialog opened={of !== null} onClose={onClose} title={`${of?.name ?? "The cluster"} is given up`} size="lg">
      {of === null ? null : (
        <Stack>
          <Text size="sm">
            Given up: {of.namespaces.length} projects ({of.namespaces.join(", ") || "none"}), {of.apps} apps,{" "}
            {of.addon_instances} addon instances.
          </Text>
          <Text size="sm" fw={600}>
            May be left on the cluster and at the provider
          </Text>
          <List size="sm">
            {of.left_behind.map((line) => (
              <List.Item key={line}>{line}</List.Item>
            ))}
          </List>
          <Group justify="flex-end">
            <Button onClick={onClose}>Close</Button>
          </Group>
        </Stack>
      )}
    </Dialog>
  );
}
