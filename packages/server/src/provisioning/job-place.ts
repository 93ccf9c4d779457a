import type { Place } from "../access/place.ts";
import { columnsOf, longOf, SHORT_JOB_COLUMNS } from "../database/columns.ts";
import type { ProvisioningJob } from "./provisioning.ts";

/** A job is visible with its cluster. */
export const jobPlace: Place<"job", ProvisioningJob, string, "member" | "org_admin"> = {
  key: "job",
  title: "Provisioning job",
  table: "provisioning_jobs",
  owners: { org: "org_id", cluster: "cluster_id" },
  requirement: (role) => ({ needs: "cluster_role", role }),
  columns: columnsOf("p", SHORT_JOB_COLUMNS),
  long: longOf("p", ["plan"]),
};
