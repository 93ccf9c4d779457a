import { createApp, deleteApp, getApp, listApps, updateApp } from "@binnacle/contract";
import { isOrgAdmin } from "../access/role.ts";
import type { Queries } from "../database/transaction.ts";
import { removalOf } from "../dispatch/dispatch.ts";
import { Fault } from "../fault.ts";
import { requireMatch, sendEtag } from "../http/etag.ts";
import { inApp, inProject, signedIn } from "../http/guard.ts";
import { envelope, pageOf } from "../http/pagination.ts";
import { type Route, route } from "../http/route.ts";
import { wellFormed } from "../http/well-formed.ts";
import { listAppRows, lockApp, supersedePending, updateAppRow } from "./app.store.ts";
import { appEvent, appVersion, auditedApp, dispatchedApp, wireApp } from "./app.ts";
import { addressed, addressOf } from "./app-address.ts";
import { changeProblems, newAppProblems } from "./component-change.ts";
import { createApp as create } from "./create-app.runner.ts";
import { type AppPorts, operate } from "./operate.runner.ts";
import { deleted, updated } from "./transition.ts";

export function appRoutes(db: Queries, ports: AppPorts): Route[] {
  return [
    route(listApps, signedIn, async ({ caller, query }) => {
      const { rows, total } = await listAppRows(db, caller, query, pageOf(query));
      return envelope(rows.map(wireApp), total, query);
    }),

    route(
      createApp,
      wellFormed(
        ({ body }) => newAppProblems(body.name, body.components, ports),
        inProject("editor", ({ body }) => body.project_id),
      ),
      async ({ caller, project, standing, body, change, reply }) => {
        const { name, components, description = null } = body;
        const by = { createdBy: caller.email, isOrgAdmin: isOrgAdmin(standing) };
        const made = await change(async (unit) => {
          const app = await create(unit, ports, { project, name, description, components, ...by });
          return { version: appVersion(app), app: wireApp(app) };
        });
        sendEtag(reply, made.version);
        return made.app;
      },
    ),

    route(getApp, inApp("viewer", addressed), async ({ app, reply }) => {
      sendEtag(reply, appVersion(app));
      return wireApp(app);
    }),

    route(
      updateApp,
      wellFormed(
        ({ body }) => changeProblems(body.components ?? [], ports),
        inApp("editor", (input) => addressOf(input)),
      ),
      async ({ caller, standing, params, query, body, headers, change, reply }) => {
        const { components = [], description } = body;
        const changes = {
          ...(description === undefined ? {} : { description }),
          components: components.map(({ op, name }) => ({ op, name })),
        };
        const by = { createdBy: caller.email, isOrgAdmin: isOrgAdmin(standing) };
        const order = { address: addressOf({ params, query }), headers, ...by, changes };
        const app = await change((unit) => operate(unit, ports, order, (before) => updated(before, body, ports)));
        sendEtag(reply, appVersion(app));
        return wireApp(app);
      },
    ),

    route(deleteApp, inApp("editor", addressed), async ({ params, query, headers, change }) =>
      change(async ({ db: tx, record, announce, dispatch }) => {
        const before = await lockApp(tx, addressOf({ params, query }));
        requireMatch(headers, appVersion(before));
        record({ action: "app.delete", resource: auditedApp(before), orgId: before.org_id });
        if (before.phase === "deleting") return null;
        const now = ports.clock();
        const app = deleted(before, now);
        if (app instanceof Fault) throw app;
        await updateAppRow(tx, app);
        await supersedePending(tx, app.id, now);
        announce(appEvent(app));
        await dispatch(app.cluster_id, [removalOf(dispatchedApp(app))]);
        return null;
      }),
    ),
  ];
}
