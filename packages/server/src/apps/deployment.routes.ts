import { diffDeployments, getDeployment } from "@binnacle/contract";
import { commitsOfResource } from "../gitops/status.store.ts";
import { at } from "../http/guard.ts";
import { type Route, route } from "../http/route.ts";
import type { Ports } from "../ports.ts";
import { findDeployment } from "./app.store.ts";
import { addressed, wireDeployment } from "./app.ts";
import { appPlace } from "./app-place.store.ts";
import { secretsChangedBetween } from "./deployment.store.ts";
import { diffDeployments as diff } from "./deployment-diff.ts";

const asViewer = at(appPlace, "viewer", addressed);

export function deploymentRoutes({ db }: Ports<"db">): Route[] {
  return [
    route(getDeployment, asViewer, async ({ app, params }) => {
      const deployment = await findDeployment(db, app.id, { id: params.deployment_id });
      const commits = await commitsOfResource(db, app.id, [deployment.generation]);
      return wireDeployment(deployment, app, commits.get(deployment.generation) ?? null);
    }),

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
