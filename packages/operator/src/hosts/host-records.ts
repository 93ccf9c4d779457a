import type { StoredResource } from "../desired/desired-state.ts";
import { type Fields, fieldsIn } from "../kube/object-fields.ts";
import type { Demand } from "./host-claims.ts";
import type { Route } from "./route-watch.adapter.ts";

/** What projects ask for, and what the status of a project remembers of it. */

/** Since when a project has had its hosts. */
export type HostRecord = ReadonlyMap<string, string>;
type Records = ReadonlyMap<string, HostRecord>;

export const pairOf = ({ namespace, host }: Pick<Demand, "namespace" | "host">): string => `${namespace} ${host}`;

/** Each host of each namespace once: those of its routes, and those that the control plane has given to its apps. */
export function demandsOf(
  routes: readonly Route[],
  projects: readonly StoredResource<"project">[],
  apps: readonly StoredResource<"app">[],
): Demand[] {
  const ofProjects = new Set(projects.map(({ spec }) => spec.namespace));
  const demands = new Map<string, Demand>();
  for (const { isDeleting, spec } of apps) {
    if (isDeleting || !ofProjects.has(spec.namespace)) continue;
    for (const { workload_spec } of spec.components) {
      const host = workload_spec?.ingress?.host;
      if (host === undefined) continue;
      const demand = { namespace: spec.namespace, host, isGranted: true, createdAt: null, isOfProject: true };
      demands.set(pairOf(demand), demand);
    }
  }
  for (const { namespace, createdAt, hosts } of routes) {
    for (const host of hosts) {
      const known = demands.get(pairOf({ namespace, host }));
      const isOldest = !known?.createdAt || createdAt < known.createdAt;
      const { isGranted = false } = known ?? {};
      const demand = { namespace, host, isGranted, createdAt, isOfProject: ofProjects.has(namespace) };
      if (isOldest) demands.set(pairOf(demand), demand);
    }
  }
  return [...demands.values()];
}

export function recordIn({ hosts }: Fields): HostRecord {
  return new Map(
    Object.entries(fieldsIn(hosts)).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

/**
 * Where no project has a record, hosts have not been recorded on this cluster before: whatever projects serve by then they
 * keep, also where two serve the same.
 */
export function firstRecords(stored: Records, demands: readonly Demand[], at: string): Records {
  const isFirst = [...stored.values()].every((record) => record.size === 0);
  return isFirst
    ? nextRecords(
        new Map(),
        demands.filter(({ isOfProject }) => isOfProject),
        at,
      )
    : stored;
}

/** A host that nobody of the project asks for any more is let go. */
export function nextRecords(before: Records, held: readonly Demand[], at: string): Records {
  const records = new Map<string, Map<string, string>>();
  for (const { namespace, host, isOfProject } of held) {
    const since = before.get(namespace)?.get(host);
    // A project whose stored resource somebody has damaged is none for a while, and keeps what it had.
    if (!isOfProject && since === undefined) continue;
    const record = records.get(namespace) ?? new Map<string, string>();
    record.set(host, since ?? at);
    records.set(namespace, record);
  }
  return records;
}

/** The change to a stored record, as a merge patch has it; null where there is none. */
export function recordPatch(before: HostRecord, after: HostRecord): Readonly<Record<string, string | null>> | null {
  const gone = [...before.keys()].filter((host) => !after.has(host)).map((host) => [host, null] as const);
  const added = [...after].filter(([host, since]) => before.get(host) !== since);
  return gone.length + added.length === 0 ? null : Object.fromEntries([...gone, ...added]);
}

/** Without those that the control plane knows because it gave them to apps. */
export const servedByCharts = (held: readonly Demand[], namespace: string): string[] =>
  held.flatMap((one) => (one.namespace === namespace && !one.isGranted ? [one.host] : [])).sort();
