import { getProjectPolicy, updateProjectPolicy } from "@binnacle/contract";
import type { Clock } from "../clock.ts";
import { readSettings } from "../clusters/cluster.store.ts";
import { changedFields } from "../clusters/cluster-settings.ts";
import type { Queries } from "../database/transaction.ts";
import { inProject } from "../http/guard.ts";
import { type Route, route } from "../http/route.ts";
import { lockProject, savePolicy } from "./project.store.ts";
import { dispatchedProject, projectAnnouncement, refuseDeleting } from "./project.ts";
import { changePolicy, type PolicyColumns, wirePolicy } from "./project-policy.ts";

interface Ports {
  readonly db: Queries;
  readonly clock: Clock;
}

const columnsOf = ({ pod_security, weaker_pod_security_allowed, isolation }: PolicyColumns): PolicyColumns => ({
  pod_security,
  weaker_pod_security_allowed,
  isolation,
});

export function projectPolicyRoutes({ db, clock }: Ports): Route[] {
  return [
    route(
      getProjectPolicy,
      inProject("viewer", ({ params }) => params.id),
      async ({ project }) => wirePolicy(project, await readSettings(db, project.cluster_id)),
    ),

    route(
      updateProjectPolicy,
      inProject("admin", ({ params }) => params.id),
      async ({ project: connection, params, body, standing, change }) =>
        change(async ({ db: tx, record, announce, dispatch }) => {
          const project = await lockProject(tx, params.id);
          refuseDeleting(project);
          const settings = await readSettings(tx, project.cluster_id);
          const current = columnsOf(project);
          const policy = changePolicy(current, body, settings.pod_security, standing);
          const changes = changedFields(current, policy);
          record({
            action: "project.update_policy",
            resource: { type: "project", id: project.id, name: project.name },
            orgId: project.org_id,
            changes: changes.after,
            before: changes.before,
          });
          if (Object.keys(changes.after).length > 0) {
            const now = clock();
            await savePolicy(tx, project.id, policy, now);
            announce(projectAnnouncement({ ...project, ...policy, updated_at: now }, connection, now));
            await dispatch(project.cluster_id, [dispatchedProject(project)]);
          }
          return wirePolicy({ id: project.id, ...policy }, settings);
        }),
    ),
  ];
}
