import { DEFAULT_POLICY, type PodSecurity, type ProjectFacts } from "@binnacle/contract";
import { sql } from "kysely";
import type { Tx } from "../database/transaction.ts";
import { notFound } from "../fault.ts";
import { effectivePodSecurity, type PolicyColumns } from "../projects/project-policy.ts";
import { asksProject, instancesNamed, NOTHING_ASKED } from "./project-facts.ts";

interface Row extends Omit<PolicyColumns, "isolation"> {
  readonly of_cluster: PodSecurity | null;
  readonly instances: readonly string[];
}

/** Reads what the project says about the components, or about changes of some. An instance that is being deleted is as good as gone. */
export async function readProjectFacts(
  tx: Tx,
  projectId: string,
  components: readonly object[],
): Promise<ProjectFacts> {
  if (!asksProject(components)) return NOTHING_ASKED;
  const { rows } = await sql<Row>`
    select p.pod_security, p.weaker_pod_security_allowed, s.pod_security as of_cluster, array(
      select i.name from addon_instances i
      where i.project_id = p.id and i.phase <> 'deleting' and i.name = any(${instancesNamed(components)}::text[])
    ) as instances
    from projects p left join cluster_settings s on s.cluster_id = p.cluster_id where p.id = ${projectId}
  `.execute(tx);
  const [row] = rows;
  if (!row) throw notFound("Project");
  const instances = new Set(row.instances);
  return {
    podSecurity: effectivePodSecurity(row, row.of_cluster ?? DEFAULT_POLICY.pod_security),
    hasInstance: (name) => instances.has(name),
  };
}
