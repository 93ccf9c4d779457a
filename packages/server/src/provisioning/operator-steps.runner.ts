import { setTimeout as pause } from "node:timers/promises";
import type { DescribedDisk } from "@binnacle/contract";
import type { Cluster } from "../clusters/cluster.ts";
import type { OperatorRequests } from "../hub/operator-requests.ts";
import { storedMessage } from "../jobs/job.ts";
import { RunFailed } from "./provisioning-run.ts";
import { type LocalData, NO_LOCAL_DATA } from "./volumes.ts";

export type InfrastructureOperators = Pick<
  OperatorRequests,
  "isConnected" | "drainNodes" | "removeCloudObjects" | "describeDisks" | "localVolumes"
>;

const DRAIN_MS = 10 * 60_000;
const REMOVE_OBJECTS_MS = 5 * 60_000;
/** After a restart of the control plane an operator is back within seconds. */
const OPERATOR_RETURN_MS = 60_000;
const OPERATOR_POLL_MS = 1_000;

/** What the operator of a cluster does before machines go. */
export function operatorSteps(
  operators: InfrastructureOperators,
  cluster: Pick<Cluster, "id" | "first_connected_at">,
  writeLog: (text: string) => Promise<void>,
  stopped: AbortSignal,
) {
  let isGone = false;

  return { drain, localVolumes, describeDisks, removeCloudObjects };

  /** Which data goes with the nodes. Where no operator ever connected, nothing was run on them. */
  async function localVolumes(nodes: readonly string[]): Promise<LocalData> {
    if (nodes.length === 0) return NO_LOCAL_DATA;
    if (!(await operatorReturns()))
      return cluster.first_connected_at === null ? NO_LOCAL_DATA : { unknown: "No operator is connected." };
    try {
      return await operators.localVolumes(cluster.id, nodes);
    } catch (error) {
      stopped.throwIfAborted();
      return { unknown: storedMessage(error) };
    }
  }

  /** Null where the operator does not say which volumes the disks are. */
  async function describeDisks(disks: readonly string[]): Promise<readonly DescribedDisk[] | null> {
    if (disks.length === 0) return [];
    if (!(await operatorReturns())) return null;
    try {
      return await operators.describeDisks(cluster.id, disks);
    } catch (error) {
      stopped.throwIfAborted();
      await writeLog(`The operator did not say which disks are retained: ${storedMessage(error)}`);
      return null;
    }
  }

  async function drain(nodes: readonly string[]): Promise<void> {
    if (nodes.length === 0) return;
    if (!(await operatorReturns())) {
      return writeLog(`No operator is connected: ${nodes.join(", ")} cannot be drained before the removal.`);
    }
    await writeLog(`The operator drains ${nodes.join(", ")}.`);
    try {
      await operators.drainNodes(cluster.id, nodes, AbortSignal.any([stopped, AbortSignal.timeout(DRAIN_MS)]));
    } catch (error) {
      stopped.throwIfAborted();
      const message = `The nodes ${nodes.join(", ")} could not be drained, and nothing was removed: ${storedMessage(error)} Retry the job.`;
      throw new RunFailed({ code: "failed", message });
    }
  }

  /** Whether an operator is connected. One that was connected before is waited for once: the hub may have been restarted. */
  async function operatorReturns(): Promise<boolean> {
    const polls = isGone || cluster.first_connected_at === null ? 0 : OPERATOR_RETURN_MS / OPERATOR_POLL_MS;
    for (let poll = 0; !(await operators.isConnected(cluster.id)); poll++) {
      if (poll >= polls) {
        isGone = true;
        return false;
      }
      if (poll === 0) await writeLog("The operator is not connected. It has a minute to come back.");
      await pause(OPERATOR_POLL_MS, undefined, { signal: stopped });
    }
    return true;
  }

  /** What stays because of an error is found by its tags after the destroy. */
  async function removeCloudObjects(): Promise<void> {
    if (!(await operators.isConnected(cluster.id))) return;
    await writeLog("The operator removes what Kubernetes has made in the cloud.");
    const signal = AbortSignal.any([stopped, AbortSignal.timeout(REMOVE_OBJECTS_MS)]);
    try {
      await operators.removeCloudObjects(cluster.id, signal);
    } catch (error) {
      stopped.throwIfAborted();
      await writeLog(`The operator could not remove everything: ${storedMessage(error)}`);
    }
  }
}
