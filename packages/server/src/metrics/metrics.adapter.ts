import { CONTRACT } from "@binnacle/contract";
import type pg from "pg";
import { Gauge } from "prom-client";
import type { Queries } from "../database/transaction.ts";
import type { Metrics } from "../http/request-metrics.adapter.ts";
import {
  type Backlog,
  type ProvisioningCount,
  pendingDispatches,
  pendingJobs,
  provisioningJobs,
} from "./backlog.store.ts";

interface Reading {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A number that is read when somebody asks for the metrics, so that nothing has to keep it up to date. */
export function addGauge(
  { exposition }: Metrics,
  name: string,
  help: string,
  read: () => readonly Reading[] | Promise<readonly Reading[]>,
  labelNames: readonly string[] = [],
): void {
  new Gauge({
    name,
    help,
    labelNames: [...labelNames],
    registers: [exposition],
    async collect() {
      const readings = await read();
      // Labels that are gone would keep their last value.
      this.reset();
      for (const { labels = {}, value } of readings) this.set(labels, value);
    },
  });
}

/** What every process has. */
export function addProcessGauges(metrics: Metrics, pool: pg.Pool, version: string): void {
  const labels = { version, contract: String(CONTRACT) };
  addGauge(
    metrics,
    "binnacle_build_info",
    "The version of the process",
    () => [{ labels, value: 1 }],
    Object.keys(labels),
  );
  addGauge(
    metrics,
    "binnacle_database_connections",
    "Connections of the pool",
    () => [
      { labels: { state: "busy" }, value: pool.totalCount - pool.idleCount },
      { labels: { state: "idle" }, value: pool.idleCount },
    ],
    ["state"],
  );
  addGauge(metrics, "binnacle_database_waiting_requests", "Requests that wait for a connection of the pool", () => [
    { value: pool.waitingCount },
  ]);
}

/** Backlogs are the same for all processes, so workers alone read them. A database that is away has none to tell. */
export function addBacklogGauges(metrics: Metrics, db: Queries): void {
  const kinds = [
    ["jobs", "jobs that are due and not begun", pendingJobs],
    ["dispatch", "resources that a connected cluster has not confirmed", pendingDispatches],
  ] as const;
  for (const [name, what, read] of kinds) {
    const backlog = () => read(db).catch((): Backlog[] => []);
    const readings = (field: "count" | "oldest_seconds") => async () =>
      (await backlog()).map(({ kind, [field]: value }) => ({ labels: { kind }, value }));
    addGauge(metrics, `binnacle_${name}_pending`, `Number of ${what}`, readings("count"), ["kind"]);
    addGauge(
      metrics,
      `binnacle_${name}_oldest_pending_seconds`,
      `Age of the oldest of the ${what}`,
      readings("oldest_seconds"),
      ["kind"],
    );
  }
  const provisioning = () => provisioningJobs(db).catch((): ProvisioningCount[] => []);
  addGauge(
    metrics,
    "binnacle_provisioning_jobs",
    "Provisioning jobs of the last 24 hours, and all that are not finished",
    async () =>
      (await provisioning()).map(({ action, status, count }) => ({ labels: { action, status }, value: count })),
    ["action", "status"],
  );
  addGauge(
    metrics,
    "binnacle_provisioning_oldest_seconds",
    "Age of the oldest provisioning job that is not finished",
    async () => oldestByAction(await provisioning()),
    ["action"],
  );
}

function oldestByAction(counts: readonly ProvisioningCount[]): Reading[] {
  const oldest = new Map<string, number>();
  for (const { action, oldest_seconds } of counts) {
    if (oldest_seconds !== null) oldest.set(action, Math.max(oldest.get(action) ?? 0, oldest_seconds));
  }
  return [...oldest].map(([action, value]) => ({ labels: { action }, value }));
}
