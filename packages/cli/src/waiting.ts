import {
  Conflict,
  type CreatedCluster,
  type JournalEntry,
  type PlannedChange,
  type PriceEstimate,
  type ProvisioningJob,
  type ProvisioningPlan,
} from "@binnacle/client";
import { type Call, durationMs, type GivenFor, isTable, send } from "./command.ts";
import { CliError, EXIT, type ExitCode, printable } from "./host.ts";
import { column, stateColumn, view } from "./output.ts";

const POLL_MS = 1000;

/** Repeats an observation until it has an outcome; null where the time has passed. */
export async function until<T>(
  call: Call,
  timeoutMs: number,
  observe: () => Promise<T | null>,
  pollMs = POLL_MS,
): Promise<T | null> {
  const { host } = call;
  const endMs = host.now() + timeoutMs;
  for (;;) {
    const outcome = await observe();
    if (outcome !== null) return outcome;
    if (host.now() >= endMs) return null;
    await host.sleep(Math.min(pollMs, Math.max(1, endMs - host.now())), host.interrupted);
  }
}

export const WAIT_FIELDS = [
  { from: "--wait", kind: "flag", help: "until it has ended" },
  { from: "--timeout <duration>", help: "how long to wait", preset: "1h" },
] as const;

/** Repeats an observation for as long as `--timeout` says. */
export const waited = <T>(call: Call, options: Readonly<Record<string, unknown>>, observe: () => Promise<T | null>) =>
  until(call, durationMs("--timeout", String(options["timeout"])), observe);

const REGISTERED = view<CreatedCluster>(
  "name",
  column("NAME", "name"),
  stateColumn("STATUS", "status"),
  column("ID", "id"),
  column("JOB", "provisioning_job_id"),
);

/** The command that installs the operator is the point of a registration, so it is shown by itself. */
export async function clusterRegistered(
  call: Call,
  { input, options }: GivenFor<"createCluster">,
): Promise<ExitCode | undefined> {
  const timeoutMs = durationMs("--timeout", String(options["timeout"]));
  const made = await send(call, "createCluster", input);
  call.show(REGISTERED, made);
  if (made.install_command)
    call.info(
      `\nInstall the operator where helm reaches the cluster. The token in it is not shown again.\n\n  ${made.install_command}\n`,
    );
  if (made.provisioning_job_id) call.info(`Follow it with: binnacle jobs logs -f ${made.provisioning_job_id}`);
  if (!options["wait"]) return undefined;
  call.info(`Waiting until ${made.name} is connected …`);
  const outcome = await until(call, timeoutMs, async () => {
    const cluster = await send(call, "getCluster", { id: made.id });
    return cluster.status === "connected" || cluster.status === "error" || cluster.status === "install_failed"
      ? cluster
      : null;
  });
  if (!outcome)
    throw new CliError(`${made.name} has not connected in time.`, EXIT.timedOut, `binnacle clusters show ${made.name}`);
  if (outcome.status !== "connected")
    throw new CliError(outcome.message ?? `${made.name} is in the status ${outcome.status}.`, EXIT.failed);
  call.info(`${made.name} is connected.`);
  return undefined;
}

/** The record of a cluster whose machines were made by Binnacle stays until they are gone. */
export async function clusterDeleted(
  call: Call,
  { input, args }: GivenFor<"deleteCluster">,
): Promise<ExitCode | undefined> {
  const name = args["cluster"];
  await call.confirm(`Delete the cluster ${name}? Machines that Binnacle has made for it are destroyed.`);
  await send(call, "deleteCluster", input).catch(async (error: unknown) => {
    if (!(error instanceof Conflict)) throw error;
    // What is on a cluster that is not connected cannot be deleted first, so that cannot be the advice.
    const seen = await call.client.attempt("getCluster", { id: input.id });
    if (!seen.ok || seen.data.status === "connected") throw error;
    throw new CliError(
      error.message,
      EXIT.conflict,
      `binnacle clusters abandon ${name}, and then delete it: it is not connected, so what is on it cannot be deleted`,
    );
  });
  const left = await call.client.attempt("getCluster", { id: input.id });
  call.info(
    left.ok ? `${name} is being destroyed. Look how far it is with: binnacle jobs list ${name}` : `Deleted ${name}.`,
  );
  return undefined;
}

const STAGE = view<JournalEntry>(
  "stage",
  column("STAGE", "stage"),
  stateColumn("STATUS", "status"),
  column("COMPONENT", "component"),
  column("DETAIL", "detail"),
  column("REASON", "reason_code"),
  { title: "TIME", of: ({ at }) => at.slice(0, 19).replace("T", " ") },
);

export async function followInstall(
  call: Call,
  { input, options, args }: GivenFor<"getClusterBundle">,
): Promise<ExitCode | undefined> {
  const read = () => send(call, "getClusterBundle", input);
  /** Null where no stage is under way. */
  const readCurrent = async () => (await send(call, "getCluster", input)).current_stage;
  if (!options["watch"]) {
    const [bundle, current_stage] = [await read(), await readCurrent()];
    const started = { status: "started", detail: null, reason_code: null } as const;
    const underWay = current_stage ? [{ ...current_stage, ...started, at: current_stage.started_at }] : [];
    if (isTable(call)) call.list(STAGE, [...(bundle.install_journal ?? []), ...underWay]);
    else call.show(null, { ...bundle, current_stage });
    return undefined;
  }
  let shown = 0;
  let begun: string | null = null;
  const ended = await until(call, durationMs("--timeout", String(options["timeout"])), async () => {
    const journal = (await read()).install_journal ?? [];
    for (const entry of journal.slice(shown)) {
      const { stage, status, component, detail } = entry;
      call.item([stage, status, component, detail].filter(Boolean).join("  "), entry);
    }
    shown = journal.length;
    const current = await readCurrent();
    if (current && current.started_at !== begun) {
      call.item([current.stage, "started", current.component].filter(Boolean).join("  "), {
        ...current,
        status: "started",
      });
      begun = current.started_at;
    }
    const last = journal.at(-1);
    if (!last) return null;
    return last.status === "failed" ||
      (last.status === "completed" && (last.stage === "verify" || last.stage === "record"))
      ? last
      : null;
  });
  if (!ended)
    throw new CliError(
      "The installation has not ended in time.",
      EXIT.timedOut,
      `binnacle clusters install-status ${args["cluster"]} -w`,
    );
  if (ended.status === "failed")
    throw new CliError(`The stage ${ended.stage} has failed${ended.detail ? `: ${ended.detail}` : "."}`, EXIT.failed);
  return undefined;
}

const hasEnded = ({ status }: ProvisioningJob): boolean => status === "succeeded" || status === "failed";

/** Prints the output of a job, with `--follow` as it comes until the job has ended. */
export async function followJob(
  call: Call,
  { input, options }: GivenFor<"getProvisioningLogs">,
): Promise<ExitCode | undefined> {
  const { out, interrupted } = call.host;
  // A terminal obeys what it is sent, and a provider may repeat what others have written.
  const shown = (text: string) => (out.isTerminal ? printable(text, { colors: true }) : text);
  if (!options["follow"]) {
    const { logs } = await send(call, "getProvisioningLogs", input);
    for (const line of String(logs ?? "")
      .split("\n")
      .slice(0, -1))
      call.item(shown(line), { line });
    return undefined;
  }
  const { id } = input;
  try {
    for await (const item of call.client.stream("getProvisioningLogs", { id }, { signal: interrupted })) {
      if (item.type === "event") call.item(shown(item.data.line), { line: item.data.line });
    }
  } catch (error) {
    if (interrupted.aborted) return EXIT.ok;
    throw error;
  }
  const job = await call.client.attempt("getProvisioningJob", { id });
  if (job.ok) return outcomeOf(job.data);
  if (job.error.status !== 404) throw job.error;
  call.info("The cluster is gone, and its jobs with it.");
  return undefined;
}

const CHANGE = view<PlannedChange>(
  "address",
  column("CHANGE", "action"),
  column("RESOURCE", "address"),
  column("ID", "id"),
);

const VOLUME = view<ProvisioningPlan["volumes"][number]>(
  "id",
  column("DATA", "action"),
  column("VOLUME", "id"),
  column("CLAIM", "claim"),
  column("NODE", "node"),
  column("WHY", "reason"),
);

/** What a plan changes as a table, and what the cluster would cost as a sentence. */
export function showPlan(call: Call, plan: ProvisioningPlan): void {
  if (!isTable(call)) {
    call.show(null, plan);
    return;
  }
  const { add, change, remove } = plan.summary;
  if (plan.changes.length > 0) call.list(CHANGE, plan.changes);
  if (plan.volumes.length > 0) call.list(VOLUME, plan.volumes);
  call.info(`${add} to add, ${change} to change, ${remove} to remove.`);
  if (plan.estimate) call.info(estimateText(plan.estimate));
}

function estimateText({ monthly, currency, prices_of, note }: PriceEstimate): string {
  const amount = monthly === null ? "unknown, because a price is missing" : `about ${monthly.toFixed(2)} ${currency}`;
  return `Estimate for a month after the change: ${amount} (prices of ${prices_of}). ${note}`;
}

/** Asks for a plan, waits until it is made, and shows it. */
export async function planned(call: Call, { input, options }: GivenFor<"planCluster">): Promise<ExitCode | undefined> {
  const started = await send(call, "planCluster", input);
  call.info("Planning; nothing is changed …");
  const job = await until(call, durationMs("--timeout", String(options["timeout"])), async () => {
    const now = await send(call, "getProvisioningJob", { id: started.id });
    return hasEnded(now) ? now : null;
  });
  if (!job) throw new CliError("The plan was not made in time.", EXIT.timedOut, `binnacle jobs plan ${started.id}`);
  if (job.status === "failed") throw new CliError(job.error_message ?? "The plan has failed.", EXIT.failed);
  showPlan(call, await send(call, "getProvisioningPlan", { id: started.id }));
  call.info(`To make this change and no other, give the command that makes it: --plan ${started.id}`);
  return undefined;
}

export async function jobEnded(
  call: Call,
  { input, options }: GivenFor<"getProvisioningJob">,
): Promise<ExitCode | undefined> {
  let last = "";
  const job = await until(call, durationMs("--timeout", String(options["timeout"])), async () => {
    const now = await send(call, "getProvisioningJob", input);
    const line = `${now.phase} ${now.progress_pct}%`;
    if (line !== last) call.info(line);
    last = line;
    return hasEnded(now) ? now : null;
  });
  return outcomeOf(job);
}

function outcomeOf(job: ProvisioningJob | null): undefined {
  if (!job) throw new CliError("The job has not ended in time.", EXIT.timedOut);
  if (job.status === "failed")
    throw new CliError(
      job.error_message ?? "The job has failed.",
      EXIT.failed,
      job.dry_run || job.error_code === "plan_changed"
        ? `binnacle clusters plan ${job.cluster_id}`
        : `binnacle jobs retry ${job.id}`,
    );
  return undefined;
}
