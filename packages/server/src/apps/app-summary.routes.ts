import { listAppSummaries } from "@binnacle/contract";
import { signedIn } from "../http/guard.ts";
import { envelope, pageOf } from "../http/pagination.ts";
import { type Route, route } from "../http/route.ts";
import type { Ports } from "../ports.ts";
import { listSummaryRows } from "./app-summary.store.ts";
import { wireAppSummary } from "./app-summary.ts";

export function appSummaryRoutes({ db, clock }: Ports<"db" | "clock">): Route[] {
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
