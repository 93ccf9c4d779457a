import {
  type Operation,
  type Suspension,
  suspendCluster,
  suspendProject,
  unsuspendCluster,
  unsuspendProject,
} from "@binnacle/contract";
import { knownCluster, lockCluster } from "../clusters/cluster.store.ts";
import { type Cluster, wireCluster } from "../clusters/cluster.ts";
import { clusterPlace } from "../clusters/cluster-place.store.ts";
import { clusterAnnouncement } from "../clusters/status.ts";
import { at } from "../http/guard.ts";
import { type Call, type Route, route } from "../http/route.ts";
import type { Ports } from "../ports.ts";
import { listActiveProjects, lockProject } from "../projects/project.store.ts";
import { dispatchedProject, projectAnnouncement, refuseDeleting, wireProject } from "../projects/project.ts";
import { projectPlace } from "../projects/project-place.store.ts";
import {
  lockProjects,
  readProjectSurroundings,
  saveClusterSuspension,
  saveProjectSuspension,
} from "./suspension.store.ts";
import { type SuspensionColumns, suspendedColumns, unsuspendedColumns } from "./suspension.ts";

type Acting = Pick<Call<Operation>, "change"> & { readonly params: { readonly id: string } };

interface Decision {
  readonly verb: "suspend" | "unsuspend";
  readonly changes: Readonly<Record<string, unknown>>;
  /** Null where there is nothing left to change. */
  readonly decide: (before: SuspensionColumns, now: Date) => SuspensionColumns | null;
}

interface Suspending {
  readonly caller: { readonly email: string };
  readonly body: { readonly reason?: string | undefined };
}

function suspending({ caller, body }: Suspending): Decision {
  const reason = body.reason ?? null;
  const decide: Decision["decide"] = (before, now) => suspendedColumns(before, { by: caller.email, reason }, now);
  return { verb: "suspend", changes: { reason }, decide };
}
const UNSUSPENDING: Decision = { verb: "unsuspend", changes: {}, decide: unsuspendedColumns };

/** A hub of the release before sends projects without their suspension, and the operator confirms what it was sent. */
const isToBeSentAgain = (
  { suspended_at }: SuspensionColumns,
  { suspended }: { readonly suspended: Suspension | null },
): boolean => suspended_at !== null && suspended?.state !== "in_effect";

/**
 * The operator learns of a suspension by the body of each project that it holds, and the projects confirm it. Their apps and addon
 * instances are not written, however many there are.
 */
export function suspensionRoutes({ clock, operatorChart }: Ports<"clock" | "operatorChart">): Route[] {
  const turnProject = ({ params, change }: Acting, { verb, changes, decide }: Decision) =>
    change(async ({ db: tx, record, unchanged, announce, dispatch }) => {
      const before = await lockProject(tx, params.id);
      refuseDeleting(before);
      const now = clock();
      const columns = decide(before, now);
      if (!columns) {
        unchanged();
        const shown = wireProject(before, await readProjectSurroundings(tx, before), now);
        if (isToBeSentAgain(before, shown)) dispatch(before.cluster_id, [dispatchedProject(before)]);
        return shown;
      }
      await saveProjectSuspension(tx, before.id, columns, now);
      const after = { ...before, ...columns, suspension_reported: null, updated_at: now };
      const surroundings = await readProjectSurroundings(tx, before);
      const { id, name, org_id: orgId } = after;
      record({ action: `project.${verb}`, resource: { type: "project", id, name }, orgId, changes });
      announce(projectAnnouncement(after, surroundings, now));
      dispatch(after.cluster_id, [dispatchedProject(after)]);
      return wireProject(after, surroundings, now);
    });

  const turnCluster = ({ params: { id }, change }: Acting, { verb, changes, decide }: Decision) =>
    change(async ({ db: tx, record, unchanged, announce, dispatch }) => {
      await lockProjects(tx, id);
      const before = await lockCluster(tx, id);
      const now = clock();
      const columns = decide(before, now);
      const shown = (cluster: Cluster) => wireCluster(cluster, now, operatorChart.version);
      if (!columns) {
        unchanged();
        const unchangedCluster = shown(before);
        if (isToBeSentAgain(before, unchangedCluster))
          dispatch(id, async () => (await listActiveProjects(tx, id)).map(dispatchedProject));
        return unchangedCluster;
      }
      await saveClusterSuspension(tx, id, columns, now);
      const after = await knownCluster(tx, id);
      record({
        action: `cluster.${verb}`,
        resource: { type: "cluster", id, name: after.name },
        orgId: after.org_id,
        changes,
      });
      announce(clusterAnnouncement(after, now));
      dispatch(id, async () => (await listActiveProjects(tx, id)).map(dispatchedProject));
      return shown(after);
    });

  const [onProject, onCluster] = [at(projectPlace, "admin"), at(clusterPlace, "admin")];
  return [
    route(suspendProject, onProject, (call) => turnProject(call, suspending(call))),
    route(unsuspendProject, onProject, (call) => turnProject(call, UNSUSPENDING)),
    route(suspendCluster, onCluster, (call) => turnCluster(call, suspending(call))),
    route(unsuspendCluster, onCluster, (call) => turnCluster(call, UNSUSPENDING)),
  ];
}
