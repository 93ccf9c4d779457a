import {
  attachAddon,
  detachAddon,
  listDeployments,
  type Operation,
  pauseApp,
  redeployApp,
  resumeApp,
  rollbackApp,
  rollbackToDeployment,
  scaleApp,
} from "@binnacle/contract";
import { isOrgAdmin } from "../access/role.ts";
import type { Queries, Tx } from "../database/transaction.ts";
import { notFound } from "../fault.ts";
import { sendEtag } from "../http/etag.ts";
import { type InApp, inApp } from "../http/guard.ts";
import { envelope, pageOf } from "../http/pagination.ts";
import { type Call, type Route, route } from "../http/route.ts";
import { findDeployment, findInstance, listDeploymentRows } from "./app.store.ts";
import { type AppAddress, appVersion, type SeenApp, wireApp, wireDeployment } from "./app.ts";
import { addressed, addressOf } from "./app-address.ts";
import { type AppPorts, operate } from "./operate.runner.ts";
import {
  attached,
  detached,
  meantRevision,
  type Outcome,
  pausedApp,
  redeployed,
  resumed,
  rolledBack,
  scaled,
} from "./transition.ts";

const asEditor = inApp("editor", addressed);

type Acting = Pick<Call<Operation>, "headers" | "change" | "reply"> &
  Pick<InApp, "caller" | "standing"> & {
    readonly params: Omit<AppAddress, "projectId">;
    readonly query: { readonly project_id: string };
  };

export function appOperationRoutes(db: Queries, ports: AppPorts): Route[] {
  /** Every operation is the same but for what it decides and what the audit log says about it. */
  async function act(
    { params, query, headers, caller, standing, change, reply }: Acting,
    changes: Readonly<Record<string, unknown>>,
    decide: (app: SeenApp, tx: Tx) => Outcome | Promise<Outcome>,
  ) {
    const by = { createdBy: caller.email, isOrgAdmin: isOrgAdmin(standing) };
    const order = { address: addressOf({ params, query }), headers, ...by, changes };
    const app = await change((unit) => operate(unit, ports, order, (before) => decide(before, unit.db)));
    sendEtag(reply, appVersion(app));
    return wireApp(app);
  }

  return [
    route(scaleApp, asEditor, (call) => act(call, call.body, (app) => scaled(app, call.body))),
    route(pauseApp, asEditor, (call) => act(call, {}, pausedApp)),
    route(resumeApp, asEditor, (call) => act(call, {}, resumed)),
    route(redeployApp, asEditor, (call) => act(call, call.body, (app) => redeployed(app, call.body))),

    route(listDeployments, inApp("viewer", addressed), async ({ app, query }) => {
      const deployments = await listDeploymentRows(db, app.id, pageOf(query));
      return envelope(
        deployments.map((deployment) => wireDeployment(deployment, app)),
        app.revision,
        query,
      );
    }),

    route(rollbackApp, asEditor, (call) => {
      const { deployment_id, revision = -1 } = call.body;
      return act(call, call.body, async (app, tx) => {
        const wanted = deployment_id ? { id: deployment_id } : { revision: meantRevision(app, revision) };
        return rolledBack(app, await findDeployment(tx, app.id, wanted));
      });
    }),

    route(rollbackToDeployment, asEditor, (call) => {
      const { deployment_id } = call.params;
      return act(call, { deployment_id }, async (app, tx) =>
        rolledBack(app, await findDeployment(tx, app.id, { id: deployment_id })),
      );
    }),

    route(attachAddon, asEditor, (call) => {
      const { addon_instance_id, component_name } = call.body;
      return act(call, call.body, async (app, tx) => {
        const { name: instance, phase } = await findInstance(tx, app.project_id, addon_instance_id);
        return phase === "deleting" ? notFound("Addon instance") : attached(app, { instance, component_name });
      });
    }),

    route(detachAddon, asEditor, async (call) => {
      const { addon_instance_id } = call.params;
      await act(call, { addon_instance_id }, async (app, tx) => {
        const { name: instance } = await findInstance(tx, app.project_id, addon_instance_id);
        return detached(app, { instance });
      });
      return null;
    }),
  ];
}
