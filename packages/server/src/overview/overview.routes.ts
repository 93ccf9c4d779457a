import { getFleet, getOrgOverview, MOST_FLEET_CLUSTERS } from "@binnacle/contract";
import { seenPlaces } from "../access/visibility.store.ts";
import { readClusterFacts } from "../clusters/cluster-facts.store.ts";
import { totalRows } from "../database/row-count.store.ts";
import { at } from "../http/guard.ts";
import { envelope, pageOf } from "../http/pagination.ts";
import { type Route, route } from "../http/route.ts";
import { orgPlace } from "../orgs/org-place.store.ts";
import type { Ports } from "../ports.ts";
import { countAppsByCluster, countContents, findExpiringTokens, findTrouble } from "./overview.store.ts";
import { fleetOf, overviewOf } from "./overview.ts";

export function overviewRoutes({ db, clock }: Ports<"db" | "clock">): Route[] {
  return [
    route(getOrgOverview, at(orgPlace, "member"), async ({ org, caller }) => {
      const now = clock();
      const seen = await seenPlaces(db, caller, { org_id: org.id });
      // One after the other: the turns of an organization bound its connections only if each read takes one.
      const clusters = await readClusterFacts(db, org.id);
      const appsOn = await countAppsByCluster(db, seen, now);
      const counts = await countContents(db, seen, now);
      const contents = await findTrouble(db, seen, now);
      const tokens = await findExpiringTokens(db, caller, org.id, now);
      return overviewOf({ clusters, appsOn, ...counts, contents, tokens }, now);
    }),

    route(
      getFleet,
      at(orgPlace, "member", ({ params }) => params.org_id),
      async ({ org, caller, query }) => {
        const now = clock();
        const seen = await seenPlaces(db, caller, { org_id: org.id });
        const { offset } = pageOf(query);
        const [clusters, counts, total] = await Promise.all([
          readClusterFacts(db, org.id, { offset, limit: MOST_FLEET_CLUSTERS }),
          countAppsByCluster(db, seen, now),
          totalRows(db, "clusters", org.id),
        ]);
        return envelope(fleetOf(clusters, counts, now), total, query);
      },
    ),
  ];
}
