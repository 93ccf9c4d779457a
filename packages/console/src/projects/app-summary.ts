import type { App } from "@binnacle/client";

export interface AppSummary {
  readonly id: string;
  readonly name: string;
  readonly namespace: string;
  readonly project_id: string;
  readonly phase: App["phase"];
  readonly phase_message: string | null;
  readonly drift_state: App["drift"]["state"];
  readonly generation: number;
  readonly observed_generation: number | null;
  readonly observed_at: string | null;
  readonly stale: boolean;
  readonly ready: number;
  readonly desired: number;
  readonly last_deployment: { readonly created_at: string; readonly created_by: string | null } | null;
}
