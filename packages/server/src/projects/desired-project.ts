import type { ProjectBody } from "@binnacle/contract";
import { type SettingsRow, settingsOf } from "../clusters/cluster-settings.ts";
import type { Project } from "./project.ts";
import { effectivePodSecurity, type PolicyColumns } from "./project-policy.ts";

/** What a cluster is told of a project. */
export function projectBody(
  project: Pick<Project, "org_id" | "name" | "namespace" | keyof PolicyColumns>,
  settingsRow: SettingsRow | null,
): ProjectBody {
  const { ingress_namespaces, cluster_wide_charts, pod_security } = settingsOf(settingsRow);
  const { org_id, name, namespace, isolation, quota } = project;
  const policy = {
    pod_security: effectivePodSecurity(project, pod_security),
    isolation,
    ingress_namespaces,
    ...(quota ? { quota } : {}),
    cluster_wide_charts,
  };
  return { spec: { org_id, name, namespace, policy }, secret: {} };
}
