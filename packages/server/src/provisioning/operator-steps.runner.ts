import { setTimeout as pause } from "node:timers/promises";
import type { Cluster } from "../clusters/cluster.ts";
import type { OperatorRequests } from "../hub/operator-requests.ts";
import { storedMessage } from "../jobs/job.ts";
import { RunFailed } from "./provisioning-run.ts";

const DRAIN_MS = 10 * 60_000;
const REMOVE_OBJECTS_MS = 5 * 60_000;
/** After a restart of the control plane an operator is back within seconds. */
const OPERATOR_RETURN_MS = 60_000;
const OPERATOR_POLL_MS = 1_000;

/** What the operator of a cluster does before machines go. */
export function operatorSteps(
  operators: Pick<OperatorRequests, "isConnected" | "drainNodes" | "removeCloudObjects">,
  cluster: Pick<Cluster, "id" | "first_connected_at">,
  say: (text: string) => Promise<void>,
  stopped: AbortSignal,
) {
  return { drain, removeCloudObjects };

  async function drain(nodes: readonly string[]): Promise<void> {
    if (nodes.length === 0) return;
    if (!(await operatorReturns())) {
      return say(`No operator is connected: ${nodes.join(", ")} cannot be drained before the removal.`);
    }
    await say(`The operator drains ${nodes.join(", ")}.`);
    try {
      await operators.drainNodes(cluster.id, nodes, AbortSignal.any([stopped, AbortSignal.timeout(DRAIN_MS)]));
    } catch (error) {
      stopped.throwIfAborted();
      const message = `The nodes ${nodes.join(", ")} could not be drained, and nothing was removed: ${storedMessage(error)} Retry the job.`;
      throw new RunFailed({ code: "failed", message });
    }
  }

  /** Whether an operator is connected. One that was connected before is waited for: the hub may have been restarted. */
  async function operatorReturns(): Promise<boolean> {
    const polls = cluster.first_connected_at === null ? 0 : OPERATOR_RETURN_MS / OPERATOR_POLL_MS;
    for (let poll = 0; !(await operators.isConnected(cluster.id)); poll++) {
      if (poll >= polls) return false;
      if (poll === 0) await say("The operator is not connected. It has a minute to come back.");
      await pause(OPERATOR_POLL_MS, undefined, { signal: stopped });
    }
    return true;
  }

  /** What stays because of an error is found by its tags after the destroy. */
  async function removeCloudObjects(): Promise<void> {
    if (!(await operators.isConnected(cluster.id))) return;
    await say("The operator removes what Kubernetes has made in the cloud.");
    const signal = AbortSignal.any([stopped, AbortSignal.timeout(REMOVE_OBJECTS_MS)]);
    try {
      await operators.removeCloudObjects(cluster.id, signal);
    } catch (error) {
      stopped.throwIfAborted();
      await say(`The operator could not remove everything: ${storedMessage(error)}`);
    }
  }
}
