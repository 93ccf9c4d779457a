import { diffDeployments, getDeployment } from "@binnacle/contract";
import type { Queries } from "../database/transaction.ts";
import { inApp } from "../http/guard.ts";
import { type Route, route } from "../http/route.ts";
import { findDeployment } from "./app.store.ts";
import { addressed, wireDeployment } from "./app.ts";
import { secretsChangedBetween } from "./deployment.store.ts";
import { diffDeployments as diff } from "./deployment-diff.ts";

const asViewer = inApp("viewer", addressed);

export function deploymentRoutes(db: Queries): Route[] {
  return [
    route(getDeployment, asViewer, async ({ app, params }) =>
      wireDeployment(await findDeployment(db, app.id, { id: params.deployment_id }), app),
    ),

    route(diffDeployments, asViewer, async ({ app, params, query }) => {
      const [against, deployment] = await Promise.all([
        findDeployment(db, app.id, { id: query.against }),
        findDeployment(db, app.id, { id: params.deployment_id }),
      ]);
      const [earlier, later] = [
        Math.min(against.revision, deployment.revision),
        Math.max(against.revision, deployment.revision),
      ];
      return diff(against, deployment, await secretsChangedBetween(db, app.id, [earlier, later]));
    }),
  ];
}
