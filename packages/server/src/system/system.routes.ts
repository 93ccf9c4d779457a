import { getSystemStatus } from "@binnacle/contract";
import { superuser } from "../http/guard.ts";
import { type Route, route } from "../http/route.ts";
import type { Ports } from "../ports.ts";
import { countEverything, countJobs, readDatabaseFacts } from "./system.store.ts";

export function systemRoutes({
  db,
  clock,
  build,
  environment,
}: Ports<"db" | "clock" | "build" | "environment">): Route[] {
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
