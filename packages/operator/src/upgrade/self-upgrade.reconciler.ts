import type { ObservedUpgrade, OperatorUpgradeRequest } from "@binnacle/contract";
import type { KubeClient, KubeObject } from "../kube/kube-client.ts";
import { KubeError } from "../kube/kube-error.ts";
import { PODS } from "../kube/resource-types.ts";
import type { Clock } from "../kube/work-queue.ts";
import { AnswerError, type LinkLog } from "../link/ports.ts";
import { ownDeployment } from "./own-deployment.store.ts";
import {
  deploymentImageOf,
  ended,
  isRolling,
  newRecord,
  nextStep,
  observed,
  podImageOf,
  recordIn,
  type UpgradeRecord,
} from "./upgrade.ts";

const OBSERVE_EVERY_MS = 5_000;

export interface SelfUpgradePorts {
  readonly kube: Pick<KubeClient, "get" | "list" | "patch">;
  readonly namespace: string;
  /** The operator's own Deployment, and the pod that this process is. */
  readonly deployment: string;
  readonly pod: string;
  /** Whether the hub has admitted this pod. */
  readonly isConnected: () => boolean;
  readonly clock: Clock;
  readonly nowMs: () => number;
  readonly log: LinkLog;
  readonly observeEveryMs?: number;
}

export interface SelfUpgrade {
  /** Begins the upgrade, or says how it stands. The same request may come any number of times, to any pod. */
  answer(request: OperatorUpgradeRequest): Promise<ObservedUpgrade>;
  stop(): Promise<void>;
}

/**
 * Gives the operator's own Deployment another image, and goes back to the former one when the new pod is not ready in time. The
 * pod that leads does it: that is the former one until the new one is ready, because Kubernetes keeps it until then. Resolves
 * once an upgrade that is overdue has been taken back, so that an image that crashes later than this cannot stay.
 */
export async function startSelfUpgrade(ports: SelfUpgradePorts): Promise<SelfUpgrade> {
  const { kube, namespace, clock, nowMs, log, observeEveryMs = OBSERVE_EVERY_MS } = ports;
  const { onDeployment, write, troubleWith } = ownDeployment(ports);
  let cancelNext = () => {};
  let isStopped = false;
  let last: Promise<unknown> = Promise.resolve();
  const self = await kube.get(PODS, ports.pod, namespace);
  const podImage = self ? podImageOf(self) : "";

  /** One after the other: a request may come while the record is read. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = last.then(work);
    last = turn.catch(() => undefined);
    return turn;
  }

  async function advance(deployment: KubeObject, record: UpgradeRecord): Promise<UpgradeRecord> {
    const deploymentImage = deploymentImageOf(deployment);
    const facts = { nowMs: nowMs(), podImage, deploymentImage, isConnected: ports.isConnected() };
    const step = nextStep(record, facts);
    switch (step.do) {
      case "wait":
        return record;
      case "finish":
        log.info({ to: record.to, phase: step.phase }, "the upgrade of the operator has ended");
        return write(deployment, ended(record, step.phase, step.reason, nowMs()));
      case "return": {
        const reason = await troubleWith(deployment, record);
        log.warn({ from: record.from, to: record.to, reason }, "the operator goes back to its former image");
        return write(deployment, ended(record, "returned", reason, nowMs()), record.from);
      }
    }
  }

  const observe = () =>
    onDeployment(async (deployment) => {
      const record = recordIn(deployment);
      if (record?.phase !== "running") return;
      const after = await advance(deployment, record);
      if (after.phase === "running") observeLater();
    });

  /** The first request begins the upgrade, all others with its id say how it stands. */
  async function answerOn(deployment: KubeObject, request: OperatorUpgradeRequest): Promise<ObservedUpgrade> {
    const record = recordIn(deployment);
    if (record?.phase === "running" && record.id !== request.upgrade_id) {
      throw new AnswerError("failed", "Another upgrade of the operator is under way.");
    }
    const isKnown = record?.id === request.upgrade_id;
    const after = await (isKnown ? advance(deployment, record) : begin(deployment, request, { nowMs, log, write }));
    if (after.phase === "running") observeLater();
    return observed(after);
  }

  function observeLater(): void {
    cancelNext();
    if (isStopped) return;
    cancelNext = clock.after(observeEveryMs, () => {
      inTurn(observe).catch((err: unknown) => {
        log.warn({ err }, "the upgrade of the operator could not be observed; it is retried");
        observeLater();
      });
    });
  }

  await inTurn(observe).catch((err: unknown) => {
    log.warn({ err }, "the upgrade of the operator could not be observed; it is retried");
    observeLater();
  });

  return {
    answer: (request) =>
      inTurn(() => onDeployment((deployment) => answerOn(deployment, request))).catch((error: unknown) => {
        if (error instanceof KubeError && error.status === 403) {
          throw new AnswerError("failed", "The operator has no right to change its own Deployment.");
        }
        throw error;
      }),
    async stop() {
      isStopped = true;
      cancelNext();
      await last;
    },
  };
}

type BeginPorts = Pick<SelfUpgradePorts, "nowMs" | "log"> & Pick<ReturnType<typeof ownDeployment>, "write">;

/** What can never be done is not recorded: the same request gets the same answer. */
async function begin(
  deployment: KubeObject,
  request: OperatorUpgradeRequest,
  { nowMs, log, write }: BeginPorts,
): Promise<UpgradeRecord> {
  const from = deploymentImageOf(deployment);
  const record = newRecord(request, from, nowMs());
  if (from === "") return ended(record, "failed", "The Deployment has no container `operator`.", nowMs());
  if (!isRolling(deployment)) {
    return ended(record, "failed", "The Deployment does not have the strategy RollingUpdate.", nowMs());
  }
  if (record.to === from) return ended(record, "succeeded", null, nowMs());
  log.info({ from, to: record.to }, "the operator gives its Deployment another image");
  return write(deployment, record, record.to);
}
