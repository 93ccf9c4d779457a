import type { KubeObject } from "../store/kube-object.ts";

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
