import { LABELS, LINK_LIMITS } from "@binnacle/contract";
import { selectorLabels } from "../app/render/component-context.ts";
import { ownSelector } from "../desired/ownership.ts";
import type { KubeObject } from "../kube/kube-client.ts";
import { type Fields, fieldsIn, listIn, specOf, statusOf, textIn } from "../kube/object-fields.ts";

export interface PodContainer {
  readonly name: string;
  /** Tells the runs of a container apart, of which each has a log; null before the first. */
  readonly run: string | null;
  readonly isRunning: boolean;
  /** A run of it has ended before the current one, and its log can be read. */
  readonly hasPrevious: boolean;
  /** Its pod has finished, and starts it no more. */
  readonly isFinal: boolean;
}

export interface ComponentPod {
  readonly uid: string;
  readonly name: string;
  readonly createdAt: string;
  readonly isFinished: boolean;
  readonly containers: readonly PodContainer[];
}

/** The pods of a component, of this cluster's operator alone. */
export const componentSelector = (clusterId: string, app: string, component: string): string =>
  [
    ownSelector(clusterId),
    ...Object.entries(selectorLabels(app, component)).map(([name, value]) => `${name}=${value}`),
  ].join(",");

/** The pods of a one-off run, which are none of a component. */
export const runSelector = (clusterId: string, app: string, run: string): string =>
  `${ownSelector(clusterId)},${LABELS.app}=${app},${LABELS.run}=${run}`;

/** The pods of all components. */
export const appsSelector = (clusterId: string): string =>
  `${ownSelector(clusterId)},${LABELS.app},${LABELS.component}`;

/** A selector would read more into anything else. */
export const isLabelValue = (text: string): boolean => /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/.test(text);

/** Init containers and ephemeral containers have logs too. */
const CONTAINERS = [
  { listed: "initContainers", status: "initContainerStatuses" },
  { listed: "containers", status: "containerStatuses" },
  { listed: "ephemeralContainers", status: "ephemeralContainerStatuses" },
] as const;

export function podOf(object: KubeObject): ComponentPod {
  const { uid = "", name, creationTimestamp = "" } = object.metadata;
  const status = statusOf(object);
  const isFinished = ["Succeeded", "Failed"].includes(textIn(status["phase"]));
  return {
    uid,
    name,
    createdAt: creationTimestamp,
    isFinished,
    containers: CONTAINERS.flatMap((kind) =>
      listIn(specOf(object)[kind.listed]).map((container) => ({
        ...containerOf(textIn(container["name"]), listIn(status[kind.status])),
        isFinal: isFinished,
      })),
    ),
  };
}

function containerOf(name: string, statuses: readonly Fields[]): Omit<PodContainer, "isFinal"> {
  const status = statuses.find((one) => one["name"] === name) ?? {};
  const { running, terminated } = fieldsIn(status["state"]);
  const { terminated: before } = fieldsIn(status["lastState"]);
  const current = running ?? terminated ?? before;
  if (!current) return { name, run: null, isRunning: false, hasPrevious: false };
  const { containerID, startedAt } = fieldsIn(current);
  const id = running ? status["containerID"] : containerID;
  const run = textIn(id) || textIn(startedAt) || "first";
  return { name, run, isRunning: Boolean(running), hasPrevious: before !== undefined };
}

/** Keeps the fields that are read; the rest of a pod is large. */
export function slimPod(object: KubeObject): KubeObject {
  const { apiVersion, kind, metadata } = object;
  const { managedFields: _, annotations: _a, ...identity } = metadata;
  const spec = specOf(object);
  const status = statusOf(object);
  return {
    apiVersion,
    kind,
    metadata: identity,
    spec: Object.fromEntries(
      CONTAINERS.map(({ listed }) => [listed, listIn(spec[listed]).map(({ name }) => ({ name }))]),
    ),
    status: {
      phase: status["phase"],
      ...Object.fromEntries(CONTAINERS.map((kind_) => [kind_.status, status[kind_.status]])),
    },
  };
}

/** Of many pods those that still work, and of these the newest. */
export function followedPods(pods: Iterable<ComponentPod>): ComponentPod[] {
  return [...pods]
    .sort(
      (a, b) =>
        Number(a.isFinished) - Number(b.isFinished) || compare(b.createdAt, a.createdAt) || compare(a.name, b.name),
    )
    .slice(0, LINK_LIMITS.followedPods);
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
