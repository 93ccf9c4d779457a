import type { CloudResource } from "../cloud/provider.ts";
import type { Cluster } from "../clusters/cluster.ts";
import type { ReadPlan, ReadState } from "../tofu/tofu-output.ts";
import type { Decided } from "./bound-plan.ts";
import { CONTROL_PLANE_NODE } from "./node-token.ts";
import type { operatorSteps } from "./operator-steps.runner.ts";
import type { ProvisioningJob } from "./provisioning.ts";
import {
  controlPlaneProblem,
  decideOrphans,
  isRestore,
  keptDespiteTaint,
  leavingAgents,
  leftoversFailure,
  type OrphanDecision,
  orphansOf,
  RunFailed,
} from "./provisioning-run.ts";
import { decideDisks, diskLine, localVolumesFailure, lossText, lostVolumes, mayGo } from "./volumes.ts";

interface Wanted {
  readonly job: ProvisioningJob;
  readonly cluster: Pick<Cluster, "first_connected_at">;
  /** The address of the machine of the control plane in the module. */
  readonly controlPlane: string;
}

/** What a run can do with OpenTofu, the cloud and the operator. */
export interface Steps {
  readonly operator: ReturnType<typeof operatorSteps>;
  /** What the cloud has, and what the newest state knows. */
  survey(): Promise<{ readonly existing: readonly CloudResource[]; readonly known: ReadState | null }>;
  /** The nodes whose machines are made anew although they exist. */
  nodesToReplace(existing: readonly CloudResource[]): Promise<string[]>;
  keep(taintedAddress: string): Promise<void>;
  plan(replaced: readonly string[]): Promise<ReadPlan>;
  import(imported: OrphanDecision["imported"]): Promise<void>;
  /** Throws where somebody has seen another plan. A run after one that has confirmed it finishes what that one began, and nothing else. */
  confirm(decided: Decided): Promise<void>;
  store(plan: ReadPlan, decided: Omit<Decided, "changes">): Promise<void>;
  apply(plan: ReadPlan): Promise<void>;
  remove(resources: readonly CloudResource[]): Promise<void>;
  writeLog(text: string): Promise<void>;
}

/** Makes the infrastructure what the job wants. Everything that could lose data is decided before anything is changed. */
export async function build({ job, cluster, controlPlane }: Wanted, steps: Steps): Promise<void> {
  const { operator, writeLog } = steps;
  const { existing, known } = await steps.survey();
  const found = orphansOf(existing, known, false);
  for (const address of keptDespiteTaint(existing, known)) await steps.keep(address);
  const replaced = await steps.nodesToReplace(existing);
  let planned = await steps.plan(replaced);
  const { imported, removed } = decideOrphans(found, planned);
  if (imported.length > 0) {
    for (const { to, id } of imported) await writeLog(`${to} exists already as ${id}: it is imported.`);
    await steps.import(imported);
    planned = await steps.plan(replaced);
  }
  const isFirst = job.action === "create" && cluster.first_connected_at === null;
  // A restore makes the control plane anew, and nothing else may.
  const guarded = isRestore(job) ? { changes: [] } : planned;
  const problem = isFirst ? null : controlPlaneProblem(controlPlane, guarded, removed);
  if (problem && !job.dry_run) throw new RunFailed(problem);
  const leaving = leavingAgents(planned, removed);
  // An upgrade is not asked for with the loss of what is on the control plane, as its replacement is.
  const isUpgraded = job.action === "upgrade" && replaced.includes(CONTROL_PLANE_NODE);
  const losing = isUpgraded ? [CONTROL_PLANE_NODE, ...leaving] : leaving;
  const local = await operator.localVolumes(losing);
  const loss = lossText(local, losing);
  if (loss && !job.force && !job.dry_run) throw new RunFailed(localVolumesFailure(loss));
  const decided = { changes: planned.changes, updates: planned.updates, volumes: lostVolumes(local), removed };
  await steps.confirm(decided);
  if (loss) await writeLog(job.force ? `${loss} The job was asked for with \`force\`.` : `${loss} It takes \`force\`.`);
  if (!job.dry_run) {
    await operator.drain(leaving);
    await steps.remove(removed);
  }
  await steps.store(planned, decided);
  if (problem) throw new RunFailed(problem);
  if (job.dry_run) return;
  await steps.apply(planned);
  // A resource that was replaced may have left its predecessor.
  const after = await steps.survey();
  await steps.remove(orphansOf(after.existing, after.known, false));
}

/** Removes everything of the cluster but the disks that are not known to be deletable. */
export async function destroy({ job }: Pick<Wanted, "job">, steps: Steps): Promise<void> {
  const before = await steps.survey();
  const disks = before.existing.filter(({ data }) => data).map(({ id }) => id);
  const volumes = decideDisks(before.existing, await steps.operator.describeDisks(disks), job.plan?.volumes ?? []);
  for (const volume of volumes) await steps.writeLog(diskLine(volume));
  if (job.plan_job_id !== null) await steps.confirm({ ...(await steps.plan([])), volumes, removed: [] });
  const going = (resources: readonly CloudResource[]) => resources.filter((resource) => mayGo(resource, volumes));
  if (!job.dry_run) {
    await steps.operator.removeCloudObjects();
    const { existing, known } = await steps.survey();
    await steps.remove(going(orphansOf(existing, known, true)));
  }
  const planned = await steps.plan([]);
  await steps.store(planned, { volumes, removed: [] });
  if (job.dry_run) return;
  await steps.apply(planned);
  const left = going((await steps.survey()).existing);
  if (left.length === 0) return;
  await steps.remove(left);
  const stillLeft = going((await steps.survey()).existing);
  if (stillLeft.length > 0) throw new RunFailed(leftoversFailure(stillLeft));
}
