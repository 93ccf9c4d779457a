import type { Bus } from "../bus/bus.ts";
import type { Clock } from "../clock.ts";
import type { CloudAccess, CloudProviders, ProvisioningFailure } from "../cloud/provider.ts";
import { findOrgCredential } from "../credentials/credential.store.ts";
import { openedFor, secretsIn } from "../credentials/credential.ts";
import type { Queries } from "../database/transaction.ts";
import { type Job, LeaseLost, RunLater } from "../jobs/job.ts";
import type { JobContext, JobHandler } from "../jobs/running-job.runner.ts";
import type { Log } from "../outage.ts";
import type { StateBackend } from "../tofu/state-backend.adapter.ts";
import { findTofu } from "../tofu/tofu.adapter.ts";
import { type Mask, storedLines } from "../tofu/tofu-output.ts";
import type { Vault } from "../vault/vault.ts";
import { announceMoved } from "./announcement.runner.ts";
import { settleWaiting } from "./bootstrap-wait.runner.ts";
import { beginWait } from "./bootstrap-wait.store.ts";
import { runInfrastructure } from "./infrastructure.runner.ts";
import type { InfrastructureOperators } from "./operator-steps.runner.ts";
import { PROVISIONING_TOPIC } from "./provisioning.ts";
import { openRunLog, type RunLog } from "./provisioning-log.runner.ts";
import {
  type Begun,
  beginRun,
  failAbandonedRuns,
  failRun,
  succeedRun,
  wasEverPlanned,
} from "./provisioning-run.store.ts";
import {
  CANCELLED,
  causeOf,
  finalFailure,
  incomplete,
  masker,
  NO_CREDENTIAL,
  NO_PROGRAM,
  noProvider,
  RunFailed,
  RunWaits,
  timedOut,
} from "./provisioning-run.ts";
import { readThrottles, waitForCloud } from "./throttling.store.ts";
import { throttledTooLong, throttleWaitMs, waitingLine } from "./throttling.ts";

export interface ProvisionerSettings {
  /** The configured program; null looks for `tofu` and `terraform`. */
  readonly program: string | null;
  readonly searchPath: string;
  /** Variables of the worker that OpenTofu needs to reach the network, such as those of a proxy. */
  readonly network: Readonly<Record<string, string>>;
  readonly cliConfigFile: string | null;
  readonly pluginCacheFolder: string | null;
  readonly timeoutMinutes: number;
  /** The time for new machines to become nodes and for the operator to connect, after the apply. */
  readonly bootstrapMinutes: number;
  /** The time for OpenTofu to save its state when the worker stops. */
  readonly graceMs: number;
  readonly publicUrl: string;
  readonly adminRanges: readonly string[];
}

export interface ProvisionerPorts {
  readonly db: Queries;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Log;
  readonly vault: Vault;
  readonly operators: InfrastructureOperators;
  readonly clouds: CloudProviders;
  readonly backend: StateBackend;
  /** A number from 0 to below 1, so that jobs which wait do not come back together. */
  readonly random: () => number;
}

/** A worker that is killed costs an attempt; a job that kills each worker fails in the end. */
const MAX_ATTEMPTS = 20;

/** What a run needs of the outside to be stopped and to tell how far it is. */
export interface RunControl {
  readonly log: RunLog;
  /** OpenTofu ends as soon as it can and saves its state. The reason is the error of the run. */
  readonly interrupt: AbortSignal;
  /** Another worker may run the job: everything ends at once. */
  readonly kill: AbortSignal;
  /** Gives the run up because its writes are refused. */
  lose(error: unknown): void;
  /** Hides a further secret from now on. */
  hide(secrets: readonly string[]): void;
  readonly mask: Mask;
}

/** Why a run has ended, and when the job goes on by itself. */
type Ended = ProvisioningFailure & { readonly retryAt?: Date; readonly isForSnapshot?: boolean };

/** The handler of provisioning jobs. A job may be run again after any of its steps, and goes on with what exists. */
export function provisioningHandler(ports: ProvisionerPorts, settings: ProvisionerSettings): JobHandler {
  const { db, clock } = ports;

  async function run(job: Job, { signal, fence }: JobContext): Promise<undefined> {
    const { provisioning_job_id: jobId } = job.payload as { provisioning_job_id: string };
    const hold = { id: job.id, fence };
    const begun = await beginRun(db, hold, jobId, clock());
    if (!begun) return;
    announceMoved(ports, begun);
    const failure = await failureOf(begun, hold, signal);
    if (failure?.retryAt) {
      const { retryAt: until, isForSnapshot = false } = failure;
      announceMoved(ports, await waitForCloud(db, hold, begun.job, { until, isForSnapshot }, clock()));
      ports.bus.publish(PROVISIONING_TOPIC, { job_id: jobId });
      throw new RunLater(failure.message, until.getTime() - clock().getTime());
    }
    if (failure) announceMoved(ports, await failRun(db, hold, begun.job, failure, clock()));
    else if (begun.job.action !== "destroy" && !begun.job.dry_run) {
      const now = clock();
      const until = new Date(now.getTime() + settings.bootstrapMinutes * 60_000);
      announceMoved(ports, await beginWait(db, hold, begun.job, until, now));
      // Machines that are quick have reported already, and a job without new ones has nothing to wait for.
      await settleWaiting(ports, settings.bootstrapMinutes, begun.job.cluster_id);
    } else {
      announceMoved(ports, await succeedRun(db, hold, begun.job, clock()));
    }
    ports.bus.publish(PROVISIONING_TOPIC, { job_id: jobId });
  }

  /** Returns null for a success. Throws where the job is to be run again, by this worker or another. */
  async function failureOf(
    begun: Begun,
    hold: { readonly id: string; readonly fence: number },
    signal: AbortSignal,
  ): Promise<Ended | null> {
    const [interrupt, kill] = [new AbortController(), new AbortController()];
    const secrets: string[] = [];
    let masked = masker(secrets);
    const mask: Mask = (text) => masked(text);
    const lose = (error: unknown) => kill.abort(error);
    const stop = () => (signal.reason instanceof LeaseLost ? kill : interrupt).abort(signal.reason);
    signal.addEventListener("abort", stop);
    if (signal.aborted) stop();
    const deadline = setTimeout(
      () => interrupt.abort(new RunFailed(timedOut(settings.timeoutMinutes))),
      settings.timeoutMinutes * 60_000,
    );
    const log = openRunLog(ports, {
      hold,
      jobId: begun.job.id,
      mask,
      onCancel: () => interrupt.abort(new RunFailed(CANCELLED)),
      onLost: lose,
    });
    const hide = (more: readonly string[]) => {
      secrets.push(...more);
      masked = masker(secrets);
    };
    try {
      let failure: Ended | null = null;
      try {
        await attempt(ports, settings, begun, hold, {
          log,
          interrupt: interrupt.signal,
          kill: kill.signal,
          lose,
          hide,
          mask,
        });
      } catch (error) {
        const cause = causeOf(error, kill.signal, interrupt.signal);
        failure = await endOf(ports, cause, begun.job);
        if (!failure) throw cause;
        failure = { ...failure, message: storedLines(mask(failure.message)).join("\n") };
        const { retryAt, message } = failure;
        await log.write([retryAt ? waitingLine(message, retryAt) : `The job has failed: ${message}`]);
      }
      await log.close();
      return failure;
    } finally {
      clearTimeout(deadline);
      signal.removeEventListener("abort", stop);
      await log.close().catch(() => undefined);
    }
  }

  return { run, maxAttempts: MAX_ATTEMPTS, graceMs: settings.graceMs + 5_000 };
}

/** A cloud that asks to be called less often is asked again later, for as long as that makes sense. */
async function endOf(
  { db, clock, random }: Pick<ProvisionerPorts, "db" | "clock" | "random">,
  cause: unknown,
  job: Begun["job"],
): Promise<Ended | null> {
  const now = clock();
  if (cause instanceof RunWaits)
    return {
      code: "timed_out",
      message: cause.message,
      retryAt: new Date(now.getTime() + cause.waitMs),
      isForSnapshot: true,
    };
  const failure = finalFailure(cause);
  if (failure?.code !== "throttled") return failure;
  const waitMs = throttleWaitMs((await readThrottles(db, job)) ?? job, now, random);
  if (waitMs === null) return { ...failure, message: throttledTooLong(failure.message) };
  return { ...failure, retryAt: new Date(now.getTime() + waitMs) };
}

async function attempt(
  ports: ProvisionerPorts,
  settings: ProvisionerSettings,
  begun: Begun,
  hold: { id: string; fence: number },
  control: RunControl,
): Promise<void> {
  const { job, after: cluster } = begun;
  if (job.cancel_requested_at !== null) throw new RunFailed(CANCELLED);
  if (job.action === "destroy" && !job.dry_run && !(await wasEverPlanned(ports.db, cluster.id))) {
    // Otherwise a cluster with a wrong key or region could neither be made nor deleted.
    return control.log.write(["No infrastructure was ever made for the cluster, so there is nothing to destroy."]);
  }
  const provider = cluster.provider && ports.clouds[cluster.provider];
  if (!provider) throw new RunFailed(noProvider(cluster.provider));
  const program = await findTofu(settings.program, settings.searchPath);
  if (!program) throw new RunFailed(NO_PROGRAM);
  const access = await accessOf(ports, cluster);
  control.hide(secretsIn(access));
  await runInfrastructure(ports, { ...settings, program }, { job, cluster, hold, provider, access }, control);
}

async function accessOf({ db, vault }: ProvisionerPorts, cluster: Begun["after"]): Promise<CloudAccess> {
  const { credential_id, org_id, region } = cluster;
  const credential = credential_id === null ? undefined : await findOrgCredential(db, org_id, credential_id);
  if (!credential) throw new RunFailed(NO_CREDENTIAL);
  const opened = openedFor(credential, region ?? credential.region, vault);
  if ("lacks" in opened) throw new RunFailed(incomplete(opened.lacks));
  return opened.access;
}

/** Fails the records whose queued job has ended without them. */
export async function failAbandoned(ports: Pick<ProvisionerPorts, "db" | "bus" | "clock">): Promise<void> {
  for (const moved of await failAbandonedRuns(ports.db, ports.clock())) announceMoved(ports, moved);
}
