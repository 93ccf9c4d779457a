import {
  attachAddon,
  createApp,
  deleteApp,
  detachAddon,
  getApp,
  listApps,
  listDeployments,
  type Operation,
  pauseApp,
  redeployApp,
  resumeApp,
  rollbackApp,
  rollbackToDeployment,
  scaleApp,
  updateApp,
} from "@binnacle/contract";
import { isOrgAdmin } from "../access/role.ts";
import type { Tx } from "../database/transaction.ts";
import { volumesBefore } from "../deletions/deletion-outlook.runner.ts";
import { removalOf } from "../dispatch/dispatch.ts";
import { Fault } from "../fault.ts";
import { commitsOfResource } from "../gitops/status.store.ts";
import { requireMatch, sendEtag } from "../http/etag.ts";
import { type At, at, judgedByHandler, listOf, wellFormed } from "../http/guard.ts";
import { envelope, pageOf } from "../http/pagination.ts";
import { type Call, type Route, route } from "../http/route.ts";
import type { Ports } from "../ports.ts";
import { projectPlace } from "../projects/project-place.store.ts";
import { refuseSuspended } from "../suspensions/suspension.ts";
import {
  findDeployment,
  findInstance,
  listDeploymentRows,
  lockApp,
  supersedePending,
  updateAppRow,
} from "./app.store.ts";
import {
  type AppAddress,
  type AppWithSecretPaths,
  addressed,
  addressOf,
  appEvent,
  appVersion,
  auditedApp,
  dispatchedApp,
  listedApp,
  listedDeployment,
  wireApp,
} from "./app.ts";
import { appList, appPlace } from "./app-place.store.ts";
import { changeProblems, newAppProblems } from "./component-change.ts";
import { type AppPorts, createApp as create, operate } from "./operate.runner.ts";
import { readProjectFacts } from "./project-facts.store.ts";
import {
  attached,
  deleted,
  detached,
  type Outcome,
  pausedApp,
  redeployed,
  resumed,
  rolledBack,
  scaled,
  targetRevision,
  updated,
} from "./transition.ts";

export function appRoutes(ports: AppPorts & Ports<"operators">): Route[] {
  const volumesOf = ({ cluster_id, namespace, name }: AppWithSecretPaths, components?: readonly string[]) =>
    volumesBefore(ports.operators, {
      clusterId: cluster_id,
      namespace,
      app: name,
      ...(components ? { components } : {}),
    });

  return [
    route(listApps, listOf(appList), async ({ rows, total, query }) => {
      const now = ports.clock();
      return envelope(
        rows.map((app) => listedApp(app, now)),
        total,
        query,
      );
    }),

    route(
      createApp,
      wellFormed(
        ({ body: { name = "", components = [] }, isPartial }) => newAppProblems(name, components, ports, { isPartial }),
        at(projectPlace, "editor", ({ body }) => body.project_id),
      ),
      async ({ caller, project, standing, query, body, change, reply }) => {
        const { name, components, description = null } = body;
        const by = { createdBy: caller.email, isOrgAdmin: isOrgAdmin(standing) };
        const made = await change(async (unit) => {
          const app = await create(unit, ports, { project, name, description, components, ...by });
          return { version: appVersion(app), app: wireApp(app, ports.clock()) };
        });
        if (!query.dry_run) sendEtag(reply, made.version);
        return made.app;
      },
    ),

    route(getApp, at(appPlace, "viewer", addressed), async ({ app, reply }) => {
      sendEtag(reply, appVersion(app));
      return wireApp(app, ports.clock());
    }),

    route(
      updateApp,
      judgedByHandler(
        ({ body }) => changeProblems(body.components ?? [], ports),
        at(appPlace, "editor", (input) => addressOf(input)),
      ),
      async ({ app: seen, caller, standing, params, query, body, headers, change, reply }) => {
        const { components = [] } = body;
        const removed = components.flatMap(({ op, name }) => (op === "remove" ? [name] : []));
        const changes = removed.length > 0 ? await volumesOf(seen, removed) : {};
        const by = { createdBy: caller.email, isOrgAdmin: isOrgAdmin(standing) };
        const order = { address: addressOf({ params, query }), headers, ...by, changes };
        const app = await change((unit) =>
          operate(unit, ports, order, async (before) => {
            const project = await readProjectFacts(unit.db, before.project_id, components);
            return updated(before, body, { ...ports, project });
          }),
        );
        if (!query.dry_run) sendEtag(reply, appVersion(app));
        return wireApp(app, ports.clock());
      },
    ),

    route(deleteApp, at(appPlace, "editor", addressed), async ({ app: seen, params, query, headers, change }) => {
      requireMatch(headers, appVersion(seen));
      const volumes = seen.phase === "deleting" ? {} : await volumesOf(seen);
      return change(async ({ db: tx, record, unchanged, announce, dispatch }) => {
        const before = await lockApp(tx, addressOf({ params, query }));
        requireMatch(headers, appVersion(before));
        if (before.phase === "deleting") {
          unchanged();
          return null;
        }
        refuseSuspended(before, before);
        record({ action: "app.delete", resource: auditedApp(before), orgId: before.org_id, changes: volumes });
        const now = ports.clock();
        const app = deleted(before, now);
        await updateAppRow(tx, app);
        await supersedePending(tx, app.id, now);
        announce(appEvent(app, app, now));
        dispatch(app.cluster_id, [removalOf(dispatchedApp(app))]);
        return null;
      });
    }),
  ];
}

/** The instance is still there, and reads as `deleting`; it is as good as gone for what would need it. */
const instanceDeleted = (name: string) => new Fault("not_found", `The addon instance ${name} is being deleted.`);

const asEditor = at(appPlace, "editor", addressed);

type Acting = Pick<Call<Operation>, "headers" | "change" | "reply"> &
  Pick<At<"app", unknown>, "caller" | "standing"> & {
    readonly params: Omit<AppAddress, "projectId">;
    readonly query: { readonly project_id: string };
  };

export function appOperationRoutes(ports: AppPorts & Ports<"db">): Route[] {
  const { db } = ports;
  /** All operations share these steps and differ in their decision and their audit entry. */
  async function act(
    { params, query, headers, caller, standing, change, reply }: Acting,
    changes: Readonly<Record<string, unknown>>,
    decide: (app: AppWithSecretPaths, tx: Tx) => Outcome | Promise<Outcome>,
  ) {
    const by = { createdBy: caller.email, isOrgAdmin: isOrgAdmin(standing) };
    const order = { address: addressOf({ params, query }), headers, ...by, changes };
    const app = await change((unit) => operate(unit, ports, order, (before) => decide(before, unit.db)));
    sendEtag(reply, appVersion(app));
    return wireApp(app, ports.clock());
  }
  async function rollback(
    app: AppWithSecretPaths,
    tx: Tx,
    wanted: Parameters<typeof findDeployment>[2],
    body: { allow_downgrade?: boolean },
  ) {
    const deployment = await findDeployment(tx, app.id, wanted);
    const project = await readProjectFacts(tx, app.project_id, deployment.spec.components);
    return rolledBack(app, deployment, { ...ports, project }, body);
  }

  return [
    route(scaleApp, asEditor, (call) => act(call, call.body, (app) => scaled(app, call.body))),
    route(pauseApp, asEditor, (call) => act(call, {}, pausedApp)),
    route(resumeApp, asEditor, (call) => act(call, {}, resumed)),
    route(redeployApp, asEditor, (call) => act(call, call.body, (app) => redeployed(app, call.body))),

    route(listDeployments, at(appPlace, "viewer", addressed), async ({ app, query }) => {
      const { rows, total } = await listDeploymentRows(db, app.id, pageOf(query));
      const commits = await commitsOfResource(
        db,
        app.id,
        rows.map(({ generation }) => generation),
      );
      const listed = rows.map((row) => listedDeployment(row, commits.get(row.generation) ?? null));
      return envelope(listed, total, query);
    }),

    route(rollbackApp, asEditor, (call) => {
      const { deployment_id, revision = -1 } = call.body;
      return act(call, call.body, (app, tx) => {
        const wanted = deployment_id ? { id: deployment_id } : { revision: targetRevision(app, revision) };
        return rollback(app, tx, wanted, call.body);
      });
    }),

    route(rollbackToDeployment, asEditor, (call) => {
      const { deployment_id } = call.params;
      return act(call, { deployment_id, ...call.body }, (app, tx) =>
        rollback(app, tx, { id: deployment_id }, call.body),
      );
    }),

    route(attachAddon, asEditor, (call) => {
      const { addon_instance_id, component_name } = call.body;
      return act(call, call.body, async (app, tx) => {
        const { name: instance, phase } = await findInstance(tx, app.project_id, addon_instance_id);
        return phase === "deleting" ? instanceDeleted(instance) : attached(app, { instance, component_name });
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
