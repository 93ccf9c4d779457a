import { deleteAddonInstance } from "@binnacle/contract";
import { volumesBefore } from "../deletions/deletion-outlook.runner.ts";
import { confirmedWithin } from "../dispatch/confirmation.store.ts";
import { removalOf } from "../dispatch/dispatch.ts";
import { requireMatch } from "../http/etag.ts";
import { at } from "../http/guard.ts";
import { type Route, route } from "../http/route.ts";
import type { Ports } from "../ports.ts";
import { readHolding } from "../suspensions/suspension.store.ts";
import { refuseSuspended } from "../suspensions/suspension.ts";
import { lockInstance, updateInstance } from "./addon.store.ts";
import {
  announcementOf,
  auditedAs,
  deleting,
  deletionUnconfirmed,
  dispatchedAddon,
  operatorUnreachable,
  versionOf,
} from "./addon.ts";
import { addonPlace } from "./addon-place.ts";

/** The longest time that a DELETE waits for the cluster. The deletion itself continues after that. */
const CONFIRM_WITHIN_MS = 10_000;

interface DeletionPorts extends Ports<"db" | "clock" | "operators"> {
  readonly confirmWithinMs?: number;
}

export function addonDeletionRoutes({
  db,
  clock,
  operators,
  confirmWithinMs = CONFIRM_WITHIN_MS,
}: DeletionPorts): Route[] {
  return [
    route(deleteAddonInstance, at(addonPlace, "editor"), async ({ instance: seen, headers, change }) => {
      requireMatch(headers, versionOf(seen));
      if (seen.phase !== "deleting" && !(await operators.isConnected(seen.cluster_id))) throw operatorUnreachable();
      const { cluster_id: clusterId, namespace, name: addonInstance } = seen;
      const isFirst = seen.phase !== "deleting";
      const changes = isFirst ? await volumesBefore(operators, { clusterId, namespace, addonInstance }) : {};
      // The deletion is stored before it is sent, so the hub repeats it until the cluster confirms it, whatever fails
      // in between.
      await change(async (unit) => {
        const current = await lockInstance(unit.db, seen.id);
        if (current.phase === "deleting") return unit.unchanged();
        refuseSuspended({ ...current, suspended_at: null }, await readHolding(unit.db, current));
        unit.record({ action: "addon_instance.delete", resource: auditedAs(current), orgId: current.org_id, changes });
        const now = clock();
        const instance = deleting(current, now);
        await updateInstance(unit.db, instance);
        unit.announce(announcementOf(instance, seen, now));
        unit.dispatch(instance.cluster_id, [removalOf(dispatchedAddon(instance))]);
      });
      if (!(await confirmedWithin(db, seen.cluster_id, dispatchedAddon(seen), confirmWithinMs)))
        throw deletionUnconfirmed();
      return null;
    }),
  ];
}
