import { parseQuantity } from "@binnacle/contract";
import { isFinished, type Pod } from "../controllers/pod.ts";
import type { Node } from "./scheduler.ts";

export interface Amounts {
  readonly cpu: number;
  readonly memory: number;
}

/** What a node can still take. */
export interface Room extends Amounts {
  readonly node: Node;
  /** That it has. */
  readonly pods: number;
  readonly mostPods: number;
}

/** What the containers of a pod ask for. */
export function amountsOf({ spec }: Pod): Amounts {
  const total = (resource: "cpu" | "memory") =>
    spec.containers.reduce((sum, { resources = {} }) => {
      return sum + (parseQuantity(resources.requests?.[resource] ?? resources.limits?.[resource]) ?? 0);
    }, 0);
  return { cpu: total("cpu"), memory: total("memory") };
}

export function roomOf(node: Node, pods: readonly Pod[]): Room {
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

export const taken = (room: Room, { cpu, memory }: Amounts): Room => ({
  ...room,
  pods: room.pods + 1,
  cpu: room.cpu - cpu,
  memory: room.memory - memory,
});

/** Fractions of a core do not add up exactly. */
const CRUMB = 1e-6;

/** Null when there is room, else what is missing. */
export function fits(room: Room, { cpu, memory }: Amounts): string | null {
  if (room.pods >= room.mostPods) return "Too many pods";
  if (cpu > room.cpu + CRUMB) return "Insufficient cpu";
  return memory > room.memory ? "Insufficient memory" : null;
}
