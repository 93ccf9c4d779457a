import type { Database } from "../packages/server/src/database/connection.adapter.ts";
import { newId } from "../packages/server/src/id.adapter.ts";

const COMPONENTS = JSON.stringify([{ name: "web", workload_spec: { image: "nginx:1.29", replicas: 2 } }]);
const AT_ONCE = 1_000;

/** Stores a fleet as large as the largest that the console is meant for. Most of it is well, and some is not. */
export async function storeFleet(
  { kysely: db }: Database,
  orgId: string,
  counts: { readonly clusters: number; readonly projects: number; readonly apps: number },
): Promise<void> {
  const now = new Date();
  const times = { created_at: now, updated_at: now };
  const clusters = made(counts.clusters, (number) => ({
    id: newId(),
    org_id: orgId,
    name: `cluster-${number}`,
    region: "eu-central-1",
    first_connected_at: now,
    last_heartbeat: now,
    node_count: 3,
    ...times,
  }));
  const projects = made(counts.projects, (number) => ({
    id: newId(),
    org_id: orgId,
    cluster_id: clusters[number % clusters.length]?.id ?? "",
    name: `project-${number}`,
    namespace: `project-${number}`,
    lifecycle: "ready" as const,
    ...times,
  }));
  const apps = made(counts.apps, (number) => {
    const project = projects[number % projects.length];
    const isWell = number % 50 !== 0;
    return {
      id: newId(),
      org_id: orgId,
      cluster_id: project?.cluster_id ?? "",
      project_id: project?.id ?? "",
      namespace: project?.namespace ?? "",
      name: `app-${number}`,
      components: COMPONENTS,
      generation: 1,
      revision: 1,
      phase: isWell ? ("running" as const) : ("degraded" as const),
      phase_reason: isWell ? "RolloutComplete" : "CrashLoopBackOff",
      observed_generation: 1,
      reported_at: now,
      ...times,
    };
  });
  for (const batch of batches(clusters)) await db.insertInto("clusters").values(batch).execute();
  const leases = clusters.filter((_, number) => number % 20 !== 0);
  for (const batch of batches(leases)) {
    const session = { hub_id: newId(), epoch: 1, token_version: 1, started_at: now };
    const lease_until = new Date(now.getTime() + 3_600_000);
    const rows = batch.map(({ id }) => ({ cluster_id: id, lease_until, ...session }));
    await db.insertInto("cluster_sessions").values(rows).execute();
  }
  for (const batch of batches(projects)) await db.insertInto("projects").values(batch).execute();
  for (const batch of batches(apps)) await db.insertInto("apps").values(batch).execute();
}

const made = <T>(count: number, one: (number: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => one(index));

function* batches<T>(rows: readonly T[]): Generator<T[]> {
  for (let at = 0; at < rows.length; at += AT_ONCE) yield rows.slice(at, at + AT_ONCE);
}
