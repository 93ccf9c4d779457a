import { type SearchResult, search } from "@binnacle/contract";
import { signedIn } from "../http/guard.ts";
import { type Route, route } from "../http/route.ts";
import type { Ports } from "../ports.ts";
import { findByName } from "./search.store.ts";

const wireResult = ({ kind, id, name, namespace, project_id, cluster_id, detail }: SearchResult): SearchResult => ({
  ...{ kind, id, name, namespace, project_id, cluster_id, detail },
});

export function searchRoutes({ db }: Ports<"db">): Route[] {
  return [
    route(search, signedIn, async ({ caller, query: { q, org_id } }) => {
      const found = await findByName(db, caller, q, org_id);
      return { results: found.map(wireResult) };
    }),
  ];
}
