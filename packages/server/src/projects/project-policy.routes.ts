import { getProjectPolicy, updateProjectPolicy } from "@binnacle/contract";
import { readSettings } from "../clusters/cluster.store.ts";
import { changedFields } from "../clusters/cluster-settings.ts";
import { at } from "../http/guard.ts";
import { type Route, route } from "../http/route.ts";
import type { Ports } from "../ports.ts";
import { lockProject, savePolicy } from "./project.store.ts";
import { dispatchedProject, projectAnnouncement, refuseDeleting } from "./project.ts";
import { projectPlace } from "./project-place.store.ts";
import { changePolicy, type PolicyColumns, wirePolicy } from "./project-policy.ts";

const columnsOf = ({ pod_security, weaker_pod_security_allowed, isolation }: PolicyColumns): PolicyColumns => ({
  pod_security,
  weaker_pod_security_allowed,
  isolation,
});

export function projectPolicyRoutes({ db, clock }: Ports<"db" | "clock">): Route[] {
  return [
    route(getProjectPolicy, at(projectPlace, "viewer"), async ({ project }) =>
      wirePolicy(project, await readSettings(db, project.cluster_id)),
    ),

    route(
      updateProjectPolicy,
      at(projectPlace, "admin"),
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
            dispatch(project.cluster_id, [dispatchedProject(project)]);
          }
          return wirePolicy({ id: project.id, ...policy }, settings);
        }),
    ),
  ];
}
