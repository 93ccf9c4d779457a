import type { KubeClient, KubeObject } from "../kube/kube-client.ts";
import { createLeases } from "../kube/lease.store.ts";
import { listIn, specOf, statusOf } from "../kube/object-fields.ts";
import { PODS } from "../kube/resource-types.ts";
import type { Clock } from "../kube/work-queue.ts";
import type { LinkLog } from "../link/ports.ts";

/** Every cluster has it, so operators of one cluster in different namespaces meet in it. The chart gives the rights for one Lease there. */
export const LEASE_NAMESPACE = "default";
export const leaseNameOf = (clusterId: string): string => `binnacle-operator-${clusterId}`;

/** Another process works at most 20 seconds after this one was killed or frozen: this time, two tries, and its start. */
const LEASE_SECONDS = 12;
/** Nothing is sent to the cluster meanwhile, so a restart of the API server need not end the process. */
const LOSE_AFTER_MS = 60_000;
const TRY_EVERY_MS = 2_000;
const LONGEST_TRIAL_DELAY_MS = 60_000;

export interface LeadershipPorts {
  readonly kube: Pick<KubeClient, "get" | "list" | "create" | "patch" | "delete">;
  readonly clusterId: string;
  /** Where pods of the operator run. */
  readonly namespace: string;
  /** The pod, or another name that no process had before. */
  readonly holder: string;
  /** Asks the hub whether it would admit this process; null where it would. */
  readonly trial: () => Promise<string | null>;
  readonly clock: Clock;
  readonly nowMs: () => number;
  readonly log: LinkLog;
  readonly tryEveryMs?: number;
}

type LeadersWork = (lost: AbortSignal, isHeld: () => boolean) => Promise<void>;

export interface Leadership {
  /** Whether this process could take over: it reads the Lease, and the hub would admit it. */
  readonly couldLead: boolean;
  readonly isLeading: boolean;
  /**
   * Waits until no other process of the cluster works, and does the work while none other can begin. The work is given a signal for
   * when another process may begin, and learns at any time whether that is impossible yet. Resolves after the work, or when `signal` ends the wait.
   */
  run(signal: AbortSignal, work: LeadersWork): Promise<void>;
}

/**
 * One process of a cluster works at a time, wherever it runs. The others wait for its Lease and show that they could connect, which makes
 * their pods ready: a Deployment that is rolled then ends the former pod, which releases the Lease.
 */
export function createLeadership(ports: LeadershipPorts): Leadership {
  const { clusterId, clock, log, tryEveryMs = TRY_EVERY_MS } = ports;
  const lease = { namespace: LEASE_NAMESPACE, name: leaseNameOf(clusterId) };
  const leases = createLeases({
    kubeIn: () => ports.kube,
    clusterId,
    // A container that is started again is the same holder, and need not wait.
    holder: ports.holder,
    clock,
    nowMs: ports.nowMs,
    leaseSeconds: LEASE_SECONDS,
    loseAfterMs: LOSE_AFTER_MS,
  });
  const proof = proofOf(ports);
  let isRead = false;
  let isLeading = false;
  let isAlone = false;

  /** Pods of earlier charts know no Lease. A new process waits until they are gone, as if they had it. */
  async function withoutEarlierPods(): Promise<boolean> {
    const labelSelector = "app.kubernetes.io/name=binnacle-operator";
    const { items } = await ports.kube.list(PODS, { namespace: ports.namespace, labelSelector });
    return !items.some((pod) => !hasEnded(pod) && isEarlierPod(pod, clusterId));
  }

  async function lead(signal: AbortSignal, work: LeadersWork): Promise<boolean> {
    isAlone ||= await withoutEarlierPods();
    if (!isAlone) return false;
    return leases.under(lease, signal, async (lost, { isHeld }) => {
      isLeading = true;
      await work(lost, isHeld).finally(() => {
        isLeading = false;
      });
    });
  }

  return {
    get couldLead() {
      return proof.isProven && isRead;
    },
    get isLeading() {
      return isLeading;
    },
    async run(signal, work) {
      while (!signal.aborted) {
        try {
          if (await lead(signal, work)) return;
          isRead = true;
          // Not where the Lease cannot be read: the former pod would be ended for one that can never begin.
          proof.seek();
        } catch (err) {
          isRead = false;
          log.warn({ err }, "the operator's Lease could not be read; it is retried");
        }
        await new Promise<void>((resolve) => void clock.after(tryEveryMs, resolve));
      }
    },
  };
}

/** Asks the hub, less and less often while it refuses or is away. Nobody waits for its answer: the Lease may become free meanwhile. */
function proofOf({ trial, clock, log }: LeadershipPorts) {
  let isProven = false;
  let isAsked = false;
  let delayMs = 0;
  let dueMs = Number.NEGATIVE_INFINITY;
  let lastProblem: string | null = null;

  async function ask(): Promise<void> {
    const problem = await trial().catch((error: unknown) => String(error));
    isProven = problem === null;
    if (isProven) log.info({}, "the hub would admit this process; it waits for the one that works to end");
    else if (problem !== lastProblem) log.warn({ problem }, "the hub would not admit this process; it is not ready");
    lastProblem = problem;
    delayMs = Math.min(2 * delayMs + TRY_EVERY_MS, LONGEST_TRIAL_DELAY_MS);
    dueMs = clock.now() + delayMs;
    isAsked = false;
  }

  return {
    get isProven() {
      return isProven;
    },
    seek(): void {
      if (isProven || isAsked || clock.now() < dueMs) return;
      isAsked = true;
      void ask();
    },
  };
}

const hasEnded = (pod: KubeObject): boolean => ["Succeeded", "Failed"].includes(String(statusOf(pod)["phase"]));

function isEarlierPod(pod: KubeObject, clusterId: string): boolean {
  const variables = listIn(specOf(pod)["containers"]).flatMap(({ env }) => listIn(env));
  const isOfCluster = variables.some(({ name, value }) => name === "BINNACLE_CLUSTER_ID" && value === clusterId);
  return isOfCluster && !variables.some(({ name }) => name === "BINNACLE_POD");
}
