import { listAppSummaries } from "@binnacle/contract";
import type { Clock } from "../clock.ts";
import type { Queries } from "../database/transaction.ts";
import { signedIn } from "../http/guard.ts";
import { envelope, pageOf } from "../http/pagination.ts";
import { type Route, route } from "../http/route.ts";
import { listSummaryRows } from "./app-summary.store.ts";
import { wireAppSummary } from "./app-summary.ts";

export function appSummaryRoutes(db: Queries, clock: Clock): Route[] {
  return [
    route(listAppSummaries, signedIn, async ({ caller, query }) => {
      const { rows, total } = await listSummaryRows(db, caller, query, query.sort, pageOf(query));
      const now = clock();
      return envelope(
        rows.map((app) => wireAppSummary(app, now)),
        total,
        query,
      );
    }),
  ];
}
