import type { App, AppResources, ResourceNode } from "@binnacle/client";
import { Drawer, Group, Stack, Text, UnstyledButton } from "@mantine/core";
import { lazily } from "../../components/loaded.tsx";
import { Moment } from "../../components/moment.tsx";
import { EmptyState, Facts } from "../../components/page.tsx";
import { usePageSearch } from "../../components/use-search.tsx";
import { visibleText } from "../../components/visible-text.ts";
import { ReasonAdvice } from "../../status/reason-advice.tsx";
import { confirmedStatus, RESOURCE_STATUS } from "../../status/status.ts";
import { StatusBadge } from "../../status/status-badge.tsx";
import { PodLinks } from "./component-panel.tsx";
import classes from "./object-panel.module.css";
import { Events, Part } from "./panel-parts.tsx";
import { objectKey, podsBelow } from "./resource-tree.ts";

const ObjectLogs = lazily(async () => (await import("../../streams/object-logs.tsx")).ObjectLogs);

/** Everything about one object in the cluster, at the side of the page. Which one is open is in the address. */
export function ObjectPanel(props: {
  readonly app: App;
  readonly resources: AppResources;
  readonly open: string | undefined;
  readonly onClose: () => void;
}) {
  const { app, resources, open, onClose } = props;
  const node = resources.nodes.find((each) => objectKey(each) === open);
  return (
    <Drawer
      opened={open !== undefined}
      onClose={onClose}
      position="right"
      size="xl"
      title={
        <Text fw={650} style={{ overflowWrap: "anywhere" }}>
          {node ? `${node.kind} ${node.name}` : visibleText(open ?? "")}
        </Text>
      }
    >
      {node ? (
        <PanelBody key={node.id} app={app} resources={resources} node={node} />
      ) : open === undefined ? null : (
        <EmptyState title="It is not there any more">
          Pods and ReplicaSets go with a new revision. What has taken its place is in the tree.
        </EmptyState>
      )}
    </Drawer>
  );
}

interface BodyProps {
  readonly app: App;
  readonly resources: AppResources;
  readonly node: ResourceNode;
}

function PanelBody({ app, resources, node }: BodyProps) {
  const { observed_at, nodes } = resources;
  const status = confirmedStatus(RESOURCE_STATUS[node.status], { stale: false, observed_at });
  const pods = podsBelow(nodes, node);
  const { component } = node;
  return (
    <Stack gap="lg">
      <Stack gap={4}>
        <Group gap="sm">
          <StatusBadge status={status} />
          <Text size="xs" c="dimmed">
            read in the cluster <Moment at={observed_at} />
          </Text>
        </Group>
        {node.status !== "ready" && node.message ? (
          <Text size="sm" style={{ overflowWrap: "anywhere" }}>
            {visibleText(node.message)}
          </Text>
        ) : null}
        {node.status === "ready" ? null : (
          <Text size="sm" component="div" c="dimmed">
            <ReasonAdvice reason={node.reason} message={node.message} />
          </Text>
        )}
      </Stack>
      {node.kind === "Pod" && component ? <PodLinks app={app} component={component} pod={node.name} /> : null}
      <Facts of={factsOf(node)} />
      <Family nodes={nodes} node={node} />
      <Events app={app} isAbout={({ object }) => object.kind === node.kind && object.name === node.name} />
      {pods.length > 0 && component ? (
        <Part title="Log">
          <ObjectLogs app={app} component={component} pods={pods} />
        </Part>
      ) : null}
    </Stack>
  );
}

function factsOf(node: ResourceNode): readonly (readonly [string, React.ReactNode])[] {
  const { desired, ready, restarts, created_at } = node;
  const facts: readonly (readonly [string, React.ReactNode])[] = [
    ["Kind", node.api_version === null ? node.kind : `${node.kind} of ${node.api_version}`],
    ["Namespace", node.namespace],
    ["Component", node.component],
    ["Replicas", desired === null ? null : `${ready ?? 0} of ${desired} ready`],
    ["Restarts", restarts === null ? null : String(restarts)],
    ["Node", node.node],
    ["Created", created_at === null ? null : <Moment key="created" at={created_at} />],
  ];
  return facts.filter(([, value]) => value !== null);
}

/** What the object belongs to, and what belongs to it. */
function Family({ nodes, node }: { readonly nodes: readonly ResourceNode[]; readonly node: ResourceNode }) {
  const parent = nodes.find(({ id }) => id === node.parent_id);
  const children = nodes.filter(({ parent_id, id }) => parent_id === node.id && id !== node.id);
  const owner = parent && isObject(parent) ? parent : null;
  if (!owner && children.length === 0) return null;
  return (
    <Part title="Belongs together">
      {owner ? (
        <Text size="sm" component="div">
          Of <ObjectButton node={owner} />
        </Text>
      ) : null}
      {children.map((child) => (
        <Group key={child.id} gap="xs" wrap="nowrap">
          <ObjectButton node={child} />
          <StatusBadge status={RESOURCE_STATUS[child.status]} size="sm" />
        </Group>
      ))}
    </Part>
  );
}

/** The app and its components are of Binnacle, and no objects in the cluster. */
const isObject = ({ kind, api_version }: ResourceNode): boolean =>
  api_version !== null || (kind !== "App" && kind !== "Component");

/** The name of an object, which opens what there is to know about it; of a component, which has a panel of its own. */
export function ObjectButton({ node }: { readonly node: ResourceNode }) {
  const [, choose] = usePageSearch();
  const label = (
    <>
      <Text span size="xs" c="dimmed">
        {node.kind}
      </Text>{" "}
      {node.name}
    </>
  );
  const isComponent = node.kind === "Component" && !isObject(node);
  if (!isObject(node) && !isComponent) return label;
  return (
    <UnstyledButton
      className={classes.object}
      aria-haspopup="dialog"
      title={node.name}
      onClick={() => choose(isComponent ? { component: node.name } : { object: objectKey(node) })}
    >
      {label}
    </UnstyledButton>
  );
}
