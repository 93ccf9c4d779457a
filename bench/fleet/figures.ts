import { ANNOTATIONS } from "../../packages/contract/src/index.ts";
import type { KubeObject } from "../../packages/sandbox/src/store/kube-object.ts";
import type { Store } from "../../packages/sandbox/src/store/store.ts";
import type { HeldApp } from "./comparison.ts";

/** A measured value with its unit, for people. */
export type Figure = readonly [name: string, seen: string];

const MEGABYTE = 1_048_576;

export const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

export const megabytes = (bytes: number): string => `${(bytes / MEGABYTE).toFixed(bytes < 100 * MEGABYTE ? 1 : 0)} MB`;

export const share = (values: readonly number[], of: number): string => {
  const value = quantile(values, of);
  return value === null ? "none" : `${value.toFixed(0)} ms`;
};

/** In two columns. */
export function figureTable(figures: readonly Figure[]): string {
  const width = Math.max(...figures.map(([name]) => name.length));
  return figures.map(([name, seen]) => `  ${name.padEnd(width)}  ${seen}\n`).join("");
}

/** The warnings that came most often. */
export function commonWarnings(counts: readonly Readonly<Record<string, number>>[], most = 5): Figure[] {
  const sums = new Map<string, number>();
  for (const [message, count] of counts.flatMap((one) => Object.entries(one))) {
    sums.set(message, (sums.get(message) ?? 0) + count);
  }
  const ranked = [...sums].toSorted(([, a], [, b]) => b - a);
  return ranked.slice(0, most).map(([message, count]) => [`operators warned: ${message}`, `${count} times`]);
}

/** How long to wait before the change with this number, from 0, when all are to come at a steady pace. */
export function waitMs(number: number, perSecond: number, sinceStartMs: number): number {
  return Math.max(0, (number * 1_000) / perSecond - sinceStartMs);
}

/** Which of them each of so many processes gets: in turns, so that all have as much to do. */
export function dealt<T>(items: readonly T[], hands: number): T[][] {
  return Array.from({ length: hands }, (_, hand) => items.filter((_, place) => place % hands === hand));
}

/** The value below which this share of all lies; null of none. */
export function quantile(values: readonly number[], share: number): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? null;
}

/** The apps that a cluster holds, with what was made of them. */
export function heldApps(clusterId: string, store: Pick<Store, "list">): HeldApp[] {
  const workloads = store.list("deployments.apps");
  return store.list("apps.binnacle.dev").map(({ metadata: { name, namespace = "", annotations } }) => {
    const own = workloads.filter(
      ({ metadata }) => metadata.namespace === namespace && metadata.name.startsWith(`${name}-`),
    );
    return {
      clusterId,
      key: `${namespace}/${name}`,
      generation: Number(annotations?.[ANNOTATIONS.generation]),
      readyImage: own.map(readyImage).find((image) => image !== null) ?? null,
    };
  });
}

interface Workload {
  readonly spec: { readonly replicas?: number; readonly template: PodTemplate };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly updatedReplicas?: number;
    readonly readyReplicas?: number;
  };
}
interface PodTemplate {
  readonly spec: { readonly containers: readonly { readonly image: string }[] };
}

function readyImage(object: KubeObject): string | null {
  const { spec, status = {} } = object as unknown as Workload;
  const { replicas = 1 } = spec;
  const isReady =
    status.observedGeneration === object.metadata.generation &&
    status.updatedReplicas === replicas &&
    status.readyReplicas === replicas;
  return isReady ? (spec.template.spec.containers[0]?.image ?? null) : null;
}
