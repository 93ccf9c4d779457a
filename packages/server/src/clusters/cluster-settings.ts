import {
  type ClusterSettings,
  type ClusterWideChart,
  canonicalJson,
  chartSourceKey,
  DEFAULT_POLICY,
  type ValidationItem,
} from "@binnacle/contract";
import type { Selectable } from "kysely";
import type { ClusterSettingsTable } from "../database/fleet-tables.ts";

export type SettingsRow = Omit<Selectable<ClusterSettingsTable>, "cluster_id" | "updated_at">;

export type Settings = Omit<ClusterSettings, "cluster_id">;

/** Returns the effective settings of a cluster: the stored values, and defaults for the rest. */
export const settingsOf = (row: SettingsRow | null): Settings => ({
  pod_security: row?.pod_security ?? DEFAULT_POLICY.pod_security,
  ingress_namespaces: [...(row?.ingress_namespaces ?? DEFAULT_POLICY.ingress_namespaces)],
  cluster_wide_charts: [...(row?.cluster_wide_charts ?? DEFAULT_POLICY.cluster_wide_charts)],
  exec_enabled: row?.exec_enabled ?? true,
});

/** Whether the operator must receive the change: it does not use the other settings. */
export const concernsProjects = (changed: Partial<Settings>): boolean =>
  Object.keys(changed).some((name) => name !== "exec_enabled");

/** A chart may be listed once only, however it is spelled. */
export function chartListProblems(charts: readonly ClusterWideChart[] = []): ValidationItem[] {
  const keys = charts.map(chartSourceKey);
  return keys.flatMap((key, at) =>
    keys.indexOf(key) === at
      ? []
      : [{ loc: ["body", "cluster_wide_charts", at], msg: "The chart is listed twice", type: "value_error" }],
  );
}

/** Returns the changed fields, before and after. */
export function changedFields<T extends object>(before: T, after: T): { before: Partial<T>; after: Partial<T> } {
  const names = (Object.keys(after) as (keyof T)[]).filter(
    (name) => canonicalJson(before[name]) !== canonicalJson(after[name]),
  );
  const only = (fields: T) => Object.fromEntries(names.map((name) => [name, fields[name]])) as Partial<T>;
  return { before: only(before), after: only(after) };
}
