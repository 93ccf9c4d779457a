import type { DesiredKind, OperatorFrames, Reports } from "@binnacle/contract";
import type { Untold } from "./ports.ts";

type Status = OperatorFrames["status"];

/** What the hub reports in the operator's place of something that can never be stored in its cluster. */
export function refusedForGood(row: Untold, id: string, session: string, message: string): Status {
  const { key, resource_id, generation } = row;
  return { type: "status", id, session, key, resource_id, generation, report: REPORTS[row.kind](message) };
}

const failed = (message: string) => ({ state: "apply_failed" as const, message });

const REPORTS: { readonly [K in DesiredKind]: (message: string) => Reports[K] } = {
  project: failed,
  registry_secrets: failed,
  app: (message) => ({
    phase: "invalid",
    reason: "RefusedByCluster",
    message,
    components: [],
    drift: { state: "unknown", summary: null, fields: [], detected_at: null },
  }),
  addon_instance: (message) => ({ phase: "failed", reason: "RefusedByCluster", message, exports: {} }),
};
