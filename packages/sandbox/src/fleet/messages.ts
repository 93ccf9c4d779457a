import type { HeldApp } from "./comparison.ts";

/** A cluster as the control plane has registered it. */
export interface FleetCluster {
  readonly id: string;
  readonly token: string;
}

export interface Launch {
  readonly hubUrl: string;
  readonly clusters: readonly FleetCluster[];
}

/** What a process of clusters is asked. */
export type Ask = { readonly launch: Launch } | "state" | "held" | "stop";

export interface WorkerState {
  /** Whose operator has read its cluster and looks after it. */
  readonly started: number;
  readonly failures: readonly string[];
  readonly residentBytes: number;
  readonly cpuSeconds: number;
  /** How often operators have warned of what. */
  readonly warnings: Readonly<Record<string, number>>;
}

export type Answer = { readonly state: WorkerState } | { readonly held: readonly HeldApp[] } | "stopped";
