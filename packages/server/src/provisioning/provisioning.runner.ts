import type { Bus } from "../bus/bus.ts";
import type { Clock } from "../clock.ts";
import type { CloudAccess, CloudProviders, ProvisioningFailure } from "../cloud/provider.ts";
import { findOrgCredential } from "../credentials/credential.store.ts";
import { openedFor } from "../credentials/credential.ts";
import type { Queries } from "../database/transaction.ts";
import { activityOf, EVENTS_TOPIC } from "../events/event.ts";
import type { OperatorRequests } from "../hub/operator-requests.ts";
import { type Job, LeaseLost } from "../jobs/job.ts";
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
  masker,
  NO_CREDENTIAL,
  NO_PROGRAM,
  noProvider,
  RunFailed,
  timedOut,
} from "./provisioning-run.ts";

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
  readonly operators: Pick<OperatorRequests, "isConnected" | "drainNodes" | "removeCloudObjects">;
  readonly clouds: CloudProviders;
  readonly backend: StateBackend;
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
    if (failure) announceMoved(ports, await failRun(db, hold, begun.job, failure, clock()));
    else if (begun.job.action !== "destroy" && !begun.job.dry_run) {
      const now = clock();
      const until = new Date(now.getTime() + settings.bootstrapMinutes * 60_000);
      announceMoved(ports, await beginWait(db, hold, begun.job, until, now));
      // Machines that are quick have reported already, and a job without new ones has nothing to wait for.
      await settleWaiting(ports, settings.bootstrapMinutes, begun.job.cluster_id);
    } else {
      const done = await succeedRun(db, hold, begun.job, clock());
      announceMoved(ports, done);
      if (done.audit) ports.bus.publish(EVENTS_TOPIC, activityOf(done.audit, null));
    }
    ports.bus.publish(PROVISIONING_TOPIC, { job_id: jobId });
  }

  /** Returns null for a success. Throws where the job is to be run again, by this worker or another. */
  async function failureOf(
    begun: Begun,
    hold: { readonly id: string; readonly fence: number },
    signal: AbortSignal,
  ): Promise<ProvisioningFailure | null> {
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
      let failure: ProvisioningFailure | null = null;
      try {
        await attempt(begun, hold, { log, interrupt: interrupt.signal, kill: kill.signal, lose, hide, mask });
      } catch (error) {
        const cause = causeOf(error, kill.signal, interrupt.signal);
        failure = finalFailure(cause);
        if (!failure) throw cause;
        failure = { ...failure, message: storedLines(mask(failure.message)).join("\n") };
        await log.write([`The job has failed: ${failure.message}`]);
      }
      await log.close();
      return failure;
    } finally {
      clearTimeout(deadline);
      signal.removeEventListener("abort", stop);
      await log.close().catch(() => undefined);
    }
  }

  async function attempt(begun: Begun, hold: { id: string; fence: number }, control: RunControl): Promise<void> {
    const { job, after: cluster } = begun;
    if (job.cancel_requested_at !== null) throw new RunFailed(CANCELLED);
    if (job.action === "destroy" && !job.dry_run && !(await wasEverPlanned(db, cluster.id))) {
      // Otherwise a cluster with a wrong key or region could neither be made nor deleted.
      return control.log.write(["No infrastructure was ever made for the cluster, so there is nothing to destroy."]);
    }
    const provider = cluster.provider && ports.clouds[cluster.provider];
    if (!provider) throw new RunFailed(noProvider(cluster.provider));
    const program = await findTofu(settings.program, settings.searchPath);
    if (!program) throw new RunFailed(NO_PROGRAM);
    const access = await accessOf(cluster);
    control.hide([access.secretAccessKey]);
    await runInfrastructure(ports, { ...settings, program }, { job, cluster, hold, provider, access }, control);
  }

  async function accessOf(cluster: Begun["after"]): Promise<CloudAccess> {
    const { credential_id, org_id, region } = cluster;
    const credential = credential_id === null ? undefined : await findOrgCredential(db, org_id, credential_id);
    const access = credential && openedFor(credential, region ?? credential.region, ports.vault);
    if (!access) throw new RunFailed(NO_CREDENTIAL);
    return access;
  }

  return { run, maxAttempts: MAX_ATTEMPTS, graceMs: settings.graceMs + 5_000 };
}

/** Fails the records whose queued job has ended without them. */
export async function failAbandoned(ports: Pick<ProvisionerPorts, "db" | "bus" | "clock">): Promise<void> {
  for (const moved of await failAbandonedRuns(ports.db, ports.clock())) announceMoved(ports, moved);
}
