import { getAddonInstance, listAddonInstances, listAddonRevisions } from "@binnacle/contract";
import type { Queries } from "../database/transaction.ts";
import { sendEtag } from "../http/etag.ts";
import { onInstance, signedIn } from "../http/guard.ts";
import { envelope, pageOf } from "../http/pagination.ts";
import { type Route, route } from "../http/route.ts";
import { listInstances, listRevisions } from "./addon.store.ts";
import { versionOf, wireInstance, wireRevision } from "./addon.ts";

/** Reading addon instances. */
export function addonRoutes(db: Queries): Route[] {
  return [
    route(listAddonInstances, signedIn, async ({ caller, query }) => {
      const { rows, total } = await listInstances(db, caller, query, pageOf(query));
      return envelope(rows.map(wireInstance), total, query);
    }),

    route(getAddonInstance, onInstance("viewer"), async ({ instance, reply }) => {
      sendEtag(reply, versionOf(instance));
      return wireInstance(instance);
    }),

    route(listAddonRevisions, onInstance("viewer"), async ({ instance, query }) => {
      const revisions = await listRevisions(db, instance, pageOf(query));
      return envelope(revisions.map(wireRevision), instance.revision_number, query);
    }),
  ];
}
