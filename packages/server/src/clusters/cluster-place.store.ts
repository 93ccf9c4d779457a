import type { BindingRole } from "@binnacle/contract";
import type { Place } from "../access/place.ts";
import {
  clusterSuspensionOf,
  columnsOf,
  DECISIVE_JOB,
  journalOf,
  longOf,
  operatorUpgradeOf,
  SHORT_CLUSTER_COLUMNS,
} from "../database/columns.ts";
import { abandonedProblem } from "./abandonment.ts";
import type { Cluster } from "./cluster.ts";

const LAST_JOB = `select action, status, phase, error_message from provisioning_jobs where cluster_id = p.id
  and ${DECISIVE_JOB} order by id desc limit 1`;

/** A member is every member of the cluster's organization. An abandoned cluster takes hardly any change. */
export const clusterPlace: Place<"cluster", Cluster, string, "member" | BindingRole | "org_admin"> = {
  key: "cluster",
  title: "Cluster",
  table: "clusters",
  owners: { org: "org_id", cluster: "id" },
  requirement: (role) => ({ needs: "cluster_role", role }),
  columns: `${columnsOf("p", SHORT_CLUSTER_COLUMNS)}, ${journalOf("p")} as install_journal,
    ${operatorUpgradeOf("p")} as operator_upgrade, ${clusterSuspensionOf("p")} as suspension_reported,
    s.lease_until as session_lease_until, j.action as job_action, j.status as job_status, j.phase as job_phase,
    j.error_message as job_error_message`,
  long: longOf("p", ["egress"]),
  joins: `left join cluster_sessions s on s.cluster_id = p.id left join lateral (${LAST_JOB}) j on true`,
  refusal: abandonedProblem,
};
