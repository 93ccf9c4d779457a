import { type Operation, suspendApp, unsuspendApp } from "@binnacle/contract";
import { Fault } from "../fault.ts";
import { requireMatch, sendEtag } from "../http/etag.ts";
import { at } from "../http/guard.ts";
import { type Call, type Route, route } from "../http/route.ts";
import { lockApp, updateAppRow } from "./app.store.ts";
import {
  type AppAddress,
  type AppWithSecretPaths,
  addressed,
  addressOf,
  appEvent,
  appVersion,
  auditedApp,
  dispatchedApp,
  wireApp,
} from "./app.ts";
import { appPlace } from "./app-place.store.ts";
import type { AppPorts } from "./operate.runner.ts";
import { movePending } from "./suspension.store.ts";
import { suspended, unsuspended } from "./transition.ts";

type Acting = Pick<Call<Operation>, "headers" | "change" | "reply"> & {
  readonly params: Omit<AppAddress, "projectId">;
  readonly query: { readonly project_id: string };
};

interface Decision {
  readonly action: "app.suspend" | "app.unsuspend";
  readonly changes: Readonly<Record<string, unknown>>;
  /** Null where there is nothing left to change. */
  readonly decide: (before: AppWithSecretPaths, now: Date) => AppWithSecretPaths | Fault | null;
}

const asEditor = at(appPlace, "editor", addressed);

/** A suspension makes no revision, because it changes what the operator does and not the app. */
export function appSuspensionRoutes({ clock, deploymentTimeoutSeconds }: AppPorts): Route[] {
  async function turn({ params, query, headers, change, reply }: Acting, { action, changes, decide }: Decision) {
    const app = await change(async ({ db: tx, record, unchanged, announce, dispatch }) => {
      const before = await lockApp(tx, addressOf({ params, query }));
      requireMatch(headers, appVersion(before));
      const now = clock();
      const decided = decide(before, now);
      if (decided instanceof Fault) throw decided;
      if (!decided) {
        unchanged();
        return before;
      }
      // What is pending cannot end while the app is suspended, and has its whole time afterwards.
      const deadline = decided.suspended_at ? null : new Date(now.getTime() + deploymentTimeoutSeconds * 1000);
      const isMoved = await movePending(tx, decided, deadline);
      const isForced = isMoved && before.forced_generation === before.generation;
      const after = isForced ? { ...decided, forced_generation: decided.generation } : decided;
      await updateAppRow(tx, after);
      record({ action, resource: auditedApp(after), orgId: after.org_id, changes });
      announce(appEvent(after, after, now));
      dispatch(after.cluster_id, [dispatchedApp(after)]);
      return after;
    });
    sendEtag(reply, appVersion(app));
    return wireApp(app, clock());
  }

  return [
    route(suspendApp, asEditor, (call) => {
      const { reason = null } = call.body;
      const decide: Decision["decide"] = (before, now) => suspended(before, { by: call.caller.email, reason }, now);
      return turn(call, { action: "app.suspend", changes: { reason }, decide });
    }),
    route(unsuspendApp, asEditor, (call) => turn(call, { action: "app.unsuspend", changes: {}, decide: unsuspended })),
  ];
}
