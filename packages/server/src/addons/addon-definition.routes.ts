import { getAddonDefinition, listAddonDefinitions } from "@binnacle/contract";
import type { AddonDefinition } from "../catalog/catalog.adapter.ts";
import { notFound } from "../fault.ts";
import { signedIn } from "../http/guard.ts";
import { envelope, pageOf } from "../http/pagination.ts";
import { type Route, route } from "../http/route.ts";

/** `definitions` come by name. */
export function addonDefinitionRoutes(definitions: readonly AddonDefinition[]): Route[] {
  return [
    route(listAddonDefinitions, signedIn, async ({ query }) => {
      const { limit, offset } = pageOf(query);
      return envelope(definitions.slice(offset, offset + limit), definitions.length, query);
    }),

    route(getAddonDefinition, signedIn, async ({ params }) => {
      const definition = definitions.find(({ id }) => id === params.id.toLowerCase());
      if (!definition) throw notFound("Addon definition");
      return definition;
    }),
  ];
}
