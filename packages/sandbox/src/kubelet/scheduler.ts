import { type Labels, parseQuantity } from "@binnacle/contract";
import { type Controller, NOTHING, type Outcome, type Place, type View, type Write } from "../controllers/control.ts";
import { hasAll } from "../controllers/owners.ts";
import { conditionOf, isDeleting, isFinished, type Pod, withCondition } from "../controllers/pod.ts";
import { normal, patchOf, statusWrites, warning } from "../controllers/writes.ts";
import type { KubeObject } from "../store/kube-object.ts";
import type { StoreEvent } from "../store/store.ts";
import { fateOf } from "./container-run.ts";

const SOURCE = "default-scheduler";
const MANAGER = "kube-scheduler";
/** All pods are scheduled in one step, so that many at once cost one count of the free capacity. */
const ALL: Place = { resource: "pods", name: "*" };

export interface Node extends KubeObject {
  readonly spec?: {
    readonly unschedulable?: boolean;
    readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: string }[];
  };
  readonly status?: { readonly allocatable?: Readonly<Record<string, string>> };
}

export const scheduler: Controller = {
  name: "scheduler",
  concerns: (change) => (mayMatter(change) ? [ALL] : []),
  step(_, view, nowMs) {
    const pods = view.list("pods") as readonly Pod[];
    const waiting = pods.filter((pod) => pod.spec.nodeName === undefined && !isDeleting(pod) && !isFinished(pod));
    if (waiting.length === 0) return NOTHING;
    return schedule(waiting, pods, view.list("nodes") as readonly Node[], (pod) => missingClaim(pod, view), nowMs);
  },
};

function mayMatter({ resource, type, object, previous }: StoreEvent): boolean {
  if (resource === "nodes") return true;
  if (resource === "persistentvolumeclaims") return type !== "DELETED";
  if (resource !== "pods") return false;
  const pod = object as Pod;
  const hasLeft = type === "DELETED" || (isFinished(pod) && previous !== null && !isFinished(previous as Pod));
  return hasLeft || (type === "ADDED" && pod.spec.nodeName === undefined);
}

function schedule(
  waiting: readonly Pod[],
  pods: readonly Pod[],
  nodes: readonly Node[],
  obstacleOf: (pod: Pod) => string | null,
  nowMs: number,
): Outcome {
  const rooms = nodes.map((node) => roomOf(node, pods));
  return {
    writes: waiting.flatMap((pod) => {
      const obstacle = obstacleOf(pod);
      if (obstacle !== null) return unscheduled(pod, `0/${nodes.length} nodes are available: ${obstacle}.`, nowMs);
      const refusals = rooms.map((room) => refusalOf(pod, room));
      const [best] = rooms.filter((_, index) => refusals[index] === null).sort((a, b) => a.pods - b.pods);
      if (!best) return unscheduled(pod, messageOf(refusals.filter((one) => one !== null)), nowMs);
      rooms[rooms.indexOf(best)] = taken(best, amountsOf(pod));
      return bound(pod, best.node.metadata.name);
    }),
    wakeAtMs: null,
  };
}

function refusalOf(pod: Pod, room: Room): string | null {
  const { spec = {}, metadata } = room.node;
  if (spec.unschedulable) return "node(s) were unschedulable";
  const taint = spec.taints?.find(({ effect, key }) => effect !== "PreferNoSchedule" && !tolerates(pod, key));
  if (taint) return `node(s) had untolerated taint(s)`;
  const wanted: Labels = pod.spec.nodeSelector ?? {};
  if (fateOf(pod) === "unschedulable" || !hasAll(metadata.labels ?? {}, wanted)) {
    return "node(s) didn't match Pod's node affinity/selector";
  }
  return fits(room, amountsOf(pod));
}

function tolerates(pod: Pod, key: string): boolean {
  const tolerations = (pod.spec["tolerations"] ?? []) as readonly { readonly key?: string }[];
  return tolerations.some((toleration) => toleration.key === undefined || toleration.key === key);
}

function messageOf(refusals: readonly string[]): string {
  const counts = Map.groupBy(refusals, (refusal) => refusal);
  const reasons = [...counts].map(([refusal, { length }]) => `${length} ${refusal}`).sort();
  return `0/${refusals.length} nodes are available: ${reasons.join(", ") || "no nodes"}.`;
}

function missingClaim({ spec, metadata }: Pod, view: View): string | null {
  for (const { persistentVolumeClaim } of spec.volumes ?? []) {
    if (!persistentVolumeClaim) continue;
    const { claimName } = persistentVolumeClaim;
    const claim = view.get("persistentvolumeclaims", claimName, metadata.namespace);
    if (!claim) return `persistentvolumeclaim "${claimName}" not found`;
    const { phase } = (claim["status"] ?? {}) as { readonly phase?: string };
    if (phase !== "Bound") return "pod has unbound immediate PersistentVolumeClaims";
  }
  return null;
}

/** That it is scheduled stands in the status that the kubelet writes next. */
function bound(pod: Pod, nodeName: string): Write[] {
  const { namespace, name } = pod.metadata;
  return [
    patchOf("pods", pod, { spec: { nodeName } }, MANAGER),
    normal(SOURCE, pod, "Scheduled", `Successfully assigned ${namespace}/${name} to ${nodeName}`),
  ];
}

function unscheduled(pod: Pod, message: string, nowMs: number): Write[] {
  const before = conditionOf(pod, "PodScheduled");
  if (before?.status === "False" && before.message === message) return [];
  const condition = { type: "PodScheduled", status: "False", reason: "Unschedulable", message } as const;
  const conditions = withCondition(pod.status?.conditions ?? [], condition, nowMs);
  return [
    ...statusWrites("pods", pod, { phase: "Pending", ...pod.status, conditions }, MANAGER),
    warning(SOURCE, pod, "FailedScheduling", message),
  ];
}

export interface Amounts {
  readonly cpu: number;
  readonly memory: number;
}

/** The free capacity of a node. */
export interface Room extends Amounts {
  readonly node: Node;
  /** That it has. */
  readonly pods: number;
  readonly mostPods: number;
}

/** The requests of a pod's containers. */
function amountsOf({ spec }: Pod): Amounts {
  const total = (resource: "cpu" | "memory") =>
    spec.containers.reduce((sum, { resources = {} }) => {
      return sum + (parseQuantity(resources.requests?.[resource] ?? resources.limits?.[resource]) ?? 0);
    }, 0);
  return { cpu: total("cpu"), memory: total("memory") };
}

function roomOf(node: Node, pods: readonly Pod[]): Room {
  const { cpu, memory, pods: mostPods } = node.status?.allocatable ?? {};
  const own = pods.filter((pod) => pod.spec.nodeName === node.metadata.name && !isFinished(pod));
  const empty = {
    node,
    pods: 0,
    cpu: parseQuantity(cpu) ?? 0,
    memory: parseQuantity(memory) ?? 0,
    mostPods: parseQuantity(mostPods) ?? 0,
  };
  return own.map(amountsOf).reduce(taken, empty);
}

const taken = (room: Room, { cpu, memory }: Amounts): Room => ({
  ...room,
  pods: room.pods + 1,
  cpu: room.cpu - cpu,
  memory: room.memory - memory,
});

/** Fractions of a core do not add up exactly. */
const CRUMB = 1e-6;

/** Null when there is room, else what is missing. */
function fits(room: Room, { cpu, memory }: Amounts): string | null {
  if (room.pods >= room.mostPods) return "Too many pods";
  if (cpu > room.cpu + CRUMB) return "Insufficient cpu";
  return memory > room.memory ? "Insufficient memory" : null;
}
