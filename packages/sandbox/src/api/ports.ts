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

/** What the containers of pods have written. The API does `tailLines`, `sinceTime` and the rest. */
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

/** What `metrics.k8s.io` tells; null for what has not been measured yet. */
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

/** What every operation of the API works on. */
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
