import { getAppResources, listAppEvents, type ObservationRequest } from "@binnacle/contract";
import { at } from "../http/guard.ts";
import { type Route, route } from "../http/route.ts";
import type { Ports } from "../ports.ts";
import { type App, addressed } from "./app.ts";
import { appPlace } from "./app-place.store.ts";
import { resourceTree } from "./app-resources.ts";

/** Objects and events are read in the app's cluster while the client waits. Nothing is stored. */
export function appResourceRoutes({ operators }: Ports<"operators">): Route[] {
  const observe = <N extends "resources" | "events">({ cluster_id, namespace, name: app }: App, name: N) =>
    operators.observe(cluster_id, { name, namespace, app } as Extract<ObservationRequest, { name: N }>);

  return [
    route(getAppResources, at(appPlace, "viewer", addressed), async ({ app }) =>
      resourceTree(app, await observe(app, "resources")),
    ),
    route(listAppEvents, at(appPlace, "viewer", addressed), async ({ app }) => observe(app, "events")),
  ];
}
