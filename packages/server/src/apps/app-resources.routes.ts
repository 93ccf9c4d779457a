import { getAppResources, listAppEvents, type ObservationRequest } from "@binnacle/contract";
import { inApp } from "../http/guard.ts";
import { type Route, route } from "../http/route.ts";
import type { OperatorRequests } from "../hub/operator-requests.ts";
import { type App, addressed } from "./app.ts";
import { resourceTree } from "./app-resources.ts";

/** Objects and events are read in the app's cluster while the client waits. Nothing is stored. */
export function appResourceRoutes(operators: Pick<OperatorRequests, "observe">): Route[] {
  const observe = <N extends "resources" | "events">({ cluster_id, namespace, name: app }: App, name: N) =>
    operators.observe(cluster_id, { name, namespace, app } as Extract<ObservationRequest, { name: N }>);

  return [
    route(getAppResources, inApp("viewer", addressed), async ({ app }) =>
      resourceTree(app, await observe(app, "resources")),
    ),
    route(listAppEvents, inApp("viewer", addressed), async ({ app }) => observe(app, "events")),
  ];
}
