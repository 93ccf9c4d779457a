import { getSystemStatus } from "@binnacle/contract";
import type { Clock } from "../clock.ts";
import type { Config } from "../config.ts";
import type { Queries } from "../database/transaction.ts";
import { superuser } from "../http/guard.ts";
import { type Route, route } from "../http/route.ts";
import { countEverything, countJobs, readDatabaseFacts } from "./system.store.ts";

export function systemRoutes(db: Queries, clock: Clock, config: Pick<Config, "build" | "environment">): Route[] {
  const { build, environment } = config;
  return [
    route(getSystemStatus, superuser, async () => {
      const now = clock();
      const [counts, jobs, database] = await Promise.all([
        countEverything(db, now),
        countJobs(db),
        readDatabaseFacts(db),
      ]);
      const { sessions, undelivered, ...held } = counts;
      return {
        build,
        environment,
        started_at: new Date(now.getTime() - process.uptime() * 1_000).toISOString(),
        database,
        jobs,
        hub: { sessions, pending: undelivered },
        ...held,
      };
    }),
  ];
}
