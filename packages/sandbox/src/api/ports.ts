import type { KubeObject } from "../store/kube-object.ts";
import type { ObjectTable } from "../store/object-table.ts";
import type { ServedResources } from "./resource.ts";

export interface LogLine {
  /** Milliseconds since the epoch. */
  readonly atMs: number;
  readonly text: string;
}

export interface LogPlace {
  readonly pod: KubeObject;
  readonly container: string;
  /** Of the container before its last restart. */
  readonly previous: boolean;
}

/** The logs of containers. The API applies `tailLines`, `sinceTime` and the other options. */
export interface LogSource {
  /** All lines that are still kept, oldest first; null when the container never ran. */
  read(place: LogPlace): readonly LogLine[] | null;
  /** Tells each further line, and null when there will be no more. Returns how to stop. */
  follow(place: LogPlace, listener: (line: LogLine | null) => void): () => void;
}

export interface Usage {
  readonly cpuNanocores: number;
  readonly memoryBytes: number;
}

export interface PodUsage {
  readonly atMs: number;
  readonly windowSeconds: number;
  readonly containers: readonly (Usage & { readonly name: string })[];
}

export interface NodeUsage extends Usage {
  readonly atMs: number;
  readonly windowSeconds: number;
}

/** The values of `metrics.k8s.io`; null before the first measurement. */
export interface UsageSource {
  pod(pod: KubeObject): PodUsage | null;
  node(node: KubeObject): NodeUsage | null;
}

/** Time, so that tests need not wait for it. */
export interface Clock {
  nowMs(): number;
}

/** Chance, so that tests may leave nothing to it. */
export interface Chance {
  uid(): string;
  /** Five letters and digits, for names that the server makes up. */
  suffix(): string;
}

/** The state that every operation of the API works on. */
export interface Core {
  readonly table: ObjectTable;
  readonly served: ServedResources;
  readonly clock: Clock;
  readonly chance: Chance;
}

/** To the second, as Kubernetes writes times. */
export const timestamp = ({ clock }: Pick<Core, "clock">): string =>
  `${new Date(clock.nowMs()).toISOString().slice(0, 19)}Z`;

/** How somebody writes. */
export interface WriteContext {
  readonly manager: string;
  readonly dryRun: boolean;
  readonly subresource: string;
  /** Told each field that the server does not know. */
  readonly onUnknown?: (path: string) => void;
}
