import type {
  AppPhase,
  AppResources,
  ComponentPhase,
  ObservedAnswers,
  Reason,
  ResourceNode,
  ResourceStatus,
} from "@binnacle/contract";
import type { App } from "./app.ts";

const APP_STATUS: Readonly<Record<AppPhase, ResourceStatus>> = {
  pending: "progressing",
  deploying: "progressing",
  running: "ready",
  paused: "ready",
  degraded: "failed",
  failed: "failed",
  invalid: "failed",
  deleting: "deleting",
};

const COMPONENT_STATUS: Readonly<Record<ComponentPhase, ResourceStatus>> = {
  waiting: "progressing",
  deploying: "progressing",
  running: "ready",
  completed: "ready",
  paused: "ready",
  degraded: "failed",
  failed: "failed",
  unknown: "unknown",
};

const OURS = { api_version: null, restarts: null, node: null } as const;

const nodeIdOf = (component: string) => `component/${component}`;

/**
 * Puts the objects that the operator has found below the app and its components. These are as they were last reported, so
 * that the tree and the app say the same.
 */
export function resourceTree(app: App, { objects, ...answer }: ObservedAnswers["resources"]): AppResources {
  const declared = app.components.map(({ name }) => name);
  const removed = [...new Set(objects.map(({ component }) => component))].filter((name) => !declared.includes(name));
  const top: ResourceNode = {
    ...OURS,
    id: app.id,
    parent_id: null,
    component: null,
    kind: "App",
    name: app.name,
    namespace: app.namespace,
    status: APP_STATUS[app.phase],
    reason: app.phase_reason,
    message: app.phase_message,
    desired: null,
    ready: null,
    created_at: app.created_at.toISOString(),
  };
  const nodes = [
    top,
    ...declared.map((name) => componentNode(app, name)),
    ...removed.map((name) => removedNode(app, name)),
    ...objects.map(
      (object): ResourceNode => ({ ...object, parent_id: object.parent_id ?? nodeIdOf(object.component) }),
    ),
  ];
  return { nodes, ...answer };
}

function componentNode(app: App, name: string): ResourceNode {
  const seen = app.component_statuses.find((status) => status.name === name);
  const { phase, reason = null, message = null, desired = null, ready = null } = seen ?? {};
  const status = phase === undefined ? "unknown" : COMPONENT_STATUS[phase];
  return { ...componentPlace(app, name), status, reason, message, desired, ready };
}

/** A component that is gone from the app, of which something is left: its volumes as a rule. */
const removedNode = (app: App, name: string): ResourceNode => ({
  ...componentPlace(app, name),
  status: "unknown",
  reason: "Removed" satisfies Reason,
  message: "The component is no longer in the app. Its volumes stay until the app is deleted.",
  desired: null,
  ready: null,
});

const componentPlace = (app: App, name: string) => ({
  ...OURS,
  id: nodeIdOf(name),
  parent_id: app.id,
  component: name,
  kind: "Component",
  name,
  namespace: app.namespace,
  created_at: null,
});
