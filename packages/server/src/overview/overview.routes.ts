import { getFleet, getOrgOverview } from "@binnacle/contract";
import { visibleProjectIds } from "../access/visible.store.ts";
import type { Clock } from "../clock.ts";
import { readClusterFacts } from "../clusters/cluster-facts.store.ts";
import type { Queries } from "../database/transaction.ts";
import { orgMember } from "../http/guard.ts";
import { type Route, route } from "../http/route.ts";
import { countAppsByCluster, countContents, findExpiringTokens, findTrouble } from "./overview.store.ts";
import { fleetOf, overviewOf } from "./overview.ts";

export function overviewRoutes(db: Queries, clock: Clock): Route[] {
  return [
    route(
      getOrgOverview,
      orgMember(({ params }) => params.id),
      async ({ org, caller }) => {
        const now = clock();
        const seen = await visibleProjectIds(db, caller, { org_id: org.id });
        const [clusters, appsOn, counts, contents, tokens] = await Promise.all([
          readClusterFacts(db, org.id),
          countAppsByCluster(db, seen, now),
          countContents(db, seen, now),
          findTrouble(db, seen, now),
          findExpiringTokens(db, caller, org.id, now),
        ]);
        return overviewOf({ clusters, appsOn, ...counts, contents, tokens }, now);
      },
    ),

    route(
      getFleet,
      orgMember(({ params }) => params.org_id),
      async ({ org, caller }) => {
        const now = clock();
        const seen = await visibleProjectIds(db, caller, { org_id: org.id });
        const [clusters, counts] = await Promise.all([readClusterFacts(db, org.id), countAppsByCluster(db, seen, now)]);
        return { clusters: fleetOf(clusters, counts, now) };
      },
    ),
  ];
}
