import type { AbandonedCluster, Cluster, RotatedToken } from "@binnacle/client";
import { Alert, Button, Group, List, NumberInput, Stack, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useRead } from "../api/queries.runner.ts";
import { client } from "../api/session.adapter.ts";
import { useMay, useOrg } from "../frame/org.tsx";
import { ActionDialog, SameByCommand } from "../parts/action-dialog.tsx";
import { jobAddress, projectAddress } from "../parts/addresses.ts";
import { quoted } from "../parts/commands.ts";
import { Dialog } from "../parts/dialog.tsx";
import { TextLink } from "../parts/links.tsx";
import { FailurePanel } from "../parts/loaded.tsx";
import { Section } from "../parts/page.tsx";
import { PlanPreview } from "./plan-view.tsx";
import { dangerousActions } from "./policy-words.ts";
import { SecretOnce } from "./secret-once.tsx";

type Action = "rotate" | "scale" | "delete" | "abandon" | null;

/** What interrupts a cluster or cannot be undone. */
export function ClusterDanger({ cluster }: { readonly cluster: Cluster }) {
  const org = useOrg();
  const may = useMay();
  const navigate = useNavigate();
  const place = { clusterId: cluster.id };
  const [dialog, setDialog] = useState<Action>(null);
  const [nodes, setNodes] = useState(cluster.node_count ?? 1);
  const [left, setLeft] = useState<AbandonedCluster | null>(null);
  const { canScale, abandonRefusal, deleteConsequences } = dangerousActions(cluster);
  const close = () => setDialog(null);
  const name = quoted(cluster.name);
  const isAbandoned = cluster.status === "abandoned";
  const possible = isAbandoned
    ? (["deleteCluster"] as const)
    : (["rotateClusterToken", "scaleCluster", "deleteCluster", "abandonCluster"] as const);
  const offered: readonly string[] = possible.filter((each) => may(each, place));
  if (offered.length === 0) return null;
  return (
    <Section title="Danger zone">
      <Stack gap="lg">
        {offered.includes("rotateClusterToken") ? (
          <Entry title="Rotate the operator's token" action="Rotate…" onClick={() => setDialog("rotate")}>
            Every earlier token stops working, and the operator is disconnected until the new one is deployed. Apps go
            on running.
          </Entry>
        ) : null}
        {offered.includes("scaleCluster") && cluster.provider !== null ? (
          <Entry
            title="Change the number of nodes"
            action="Scale…"
            onClick={() => setDialog("scale")}
            isDisabled={!canScale}
          >
            {canScale ? "Adds or removes machines at the provider." : "Not possible in the cluster's present state."}
          </Entry>
        ) : null}
        {offered.includes("abandonCluster") ? (
          <Entry
            title="Give the cluster up"
            action="Abandon…"
            onClick={() => setDialog("abandon")}
            isDisabled={abandonRefusal !== null}
          >
            {abandonRefusal ??
              "For a cluster that never comes back: it and its projects stay on record as abandoned, and their names are free."}
          </Entry>
        ) : null}
        {offered.includes("deleteCluster") ? (
          <Entry title="Delete the cluster" action="Delete…" onClick={() => setDialog("delete")}>
            {isAbandoned ? "Ends its record and those of its projects." : "Possible when no project is left on it."}
          </Entry>
        ) : null}
      </Stack>

      {dialog === "rotate" ? <Rotate cluster={cluster} onClose={close} /> : null}
      <ActionDialog
        opened={dialog === "scale"}
        onClose={close}
        title={`Scale ${cluster.name}`}
        operation="scaleCluster"
        input={{ id: cluster.id, body: { desired_node_count: nodes } }}
        action="Scale"
        isReady={nodes !== cluster.node_count}
        command={`binnacle clusters scale ${name} ${nodes}`}
        onDone={(job) => void navigate({ to: jobAddress(org.slug, cluster.id, job.id) })}
        consequences={
          cluster.node_count !== null && nodes < cluster.node_count
            ? [
                "Pods on machines that go are moved to the others, if there is room.",
                "Data on the disks of these machines is lost.",
              ]
            : []
        }
      >
        <NumberInput
          label="Nodes"
          description="The control plane and its agents together, from 1 to 21."
          min={1}
          max={21}
          clampBehavior="strict"
          value={nodes}
          onChange={(value) => setNodes(Number(value) || 1)}
        />
        {nodes === cluster.node_count ? null : (
          <PlanPreview key={nodes} clusterId={cluster.id} body={{ action: "scale", desired_node_count: nodes }} />
        )}
      </ActionDialog>
      <ActionDialog
        opened={dialog === "delete"}
        onClose={close}
        title={`Delete ${cluster.name}?`}
        operation="deleteCluster"
        input={{ id: cluster.id }}
        action="Delete the cluster"
        typeName={cluster.name}
        command={`binnacle clusters delete ${name}`}
        done={cluster.provider === null ? "The cluster is deleted." : "The cluster is being destroyed."}
        onDone={() => void navigate({ to: `/o/${org.slug}/clusters` })}
        consequences={deleteConsequences}
      >
        {isAbandoned ? null : <BlockingProjects clusterId={cluster.id} />}
        {cluster.provider === null ? null : <PlanPreview clusterId={cluster.id} body={{ action: "destroy" }} />}
      </ActionDialog>
      <ActionDialog
        opened={dialog === "abandon"}
        onClose={close}
        title={`Abandon ${cluster.name}?`}
        operation="abandonCluster"
        input={{ id: cluster.id, body: { name: cluster.name } }}
        action="Abandon the cluster"
        typeName={cluster.name}
        command={`binnacle clusters abandon ${name}`}
        onDone={setLeft}
        consequences={[
          "It reads as abandoned, its projects as given up with it, and neither takes changes any more.",
          "Nothing on the cluster itself is touched: what runs there goes on running.",
          "If its operator returns, it is told to remove everything, and then the records end.",
          "Its name is free at once. Deleting the cluster ends the records before.",
        ]}
      />
      <LeftBehind of={left} onClose={() => setLeft(null)} />
    </Section>
  );
}

function Entry(props: {
  readonly title: string;
  readonly action: string;
  readonly onClick: () => void;
  readonly isDisabled?: boolean;
  readonly children: ReactNode;
}) {
  return (
    <Group justify="space-between" gap="sm">
      <div style={{ flex: "1 1 260px" }}>
        <Text size="sm" fw={600}>
          {props.title}
        </Text>
        <Text size="sm" c="dimmed">
          {props.children}
        </Text>
      </div>
      <Button variant="default" c="var(--tone-bad)" onClick={props.onClick} disabled={props.isDisabled ?? false}>
        {props.action}
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
function Rotate({ cluster, onClose }: { readonly cluster: Cluster; readonly onClose: () => void }) {
  const cache = useQueryClient();
  const [rotated, setRotated] = useState<RotatedToken | null>(null);
  const [isSending, setSending] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const input = { id: cluster.id };

  async function send(): Promise<void> {
    setSending(true);
    setError(null);
    try {
      setRotated(await client.call("rotateClusterToken", input));
    } catch (failure) {
      setError(failure);
    } finally {
      setSending(false);
      void cache.invalidateQueries();
    }
  }

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
        <Stack>
          <List size="sm" spacing={4}>
            <List.Item>Every earlier token of the operator stops working at once.</List.Item>
            <List.Item>
              The cluster is disconnected until you run the command that you get next. Its apps go on running.
            </List.Item>
          </List>
          {error ? <FailurePanel error={error} /> : null}
          <SameByCommand
            operation="rotateClusterToken"
            input={input}
            command={`binnacle clusters install-command ${quoted(cluster.name)}`}
          />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button color="red" loading={isSending} onClick={() => void send()}>
              Rotate the token
            </Button>
          </Group>
        </Stack>
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
