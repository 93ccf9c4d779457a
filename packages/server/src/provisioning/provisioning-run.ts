import type { ProvisioningPhase } from "@binnacle/contract";
import { CloudRefusal, type CloudResource, type Diagnostic, type ProvisioningFailure } from "../cloud/provider.ts";
import { named } from "../clusters/cluster.ts";
import { isOutage, isTooSlow } from "../database/transaction.ts";
import { LeaseLost, storedMessage, WorkerStops } from "../jobs/job.ts";
import type { Mask, ReadPlan, ReadState } from "../tofu/tofu-output.ts";
import { CONTROL_PLANE_NODE } from "./node-token.ts";

type PlannedAction = ReadPlan["changes"][number]["action"];

/** Ends a run in a way that its record tells. */
export class RunFailed extends Error {
  override readonly name = "RunFailed";
  readonly failure: ProvisioningFailure;
  constructor(failure: ProvisioningFailure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** Ends a run whose job goes on by itself after a time, in which there may be a fresh snapshot. */
export class RunWaits extends Error {
  override readonly name = "RunWaits";
  readonly waitMs: number;
  constructor(message: string, waitMs: number) {
    super(message);
    this.waitMs = waitMs;
  }
}

/** Something outside has killed OpenTofu, such as a kernel without memory. Another attempt may pass. */
export class ProgramKilled extends Error {
  override readonly name = "ProgramKilled";
}

/** Why a run has ended: whatever went wrong after a stop was asked for went wrong because of it. */
export function causeOf(error: unknown, kill: AbortSignal, interrupt: AbortSignal): unknown {
  if (kill.aborted) return kill.reason;
  return interrupt.aborted ? interrupt.reason : error;
}

/** Returns null where another attempt may pass: the worker stops, was replaced, or the database is away or full. */
export function finalFailure(cause: unknown): ProvisioningFailure | null {
  if (cause instanceof RunFailed || cause instanceof CloudRefusal) return cause.failure;
  const mayPass = [LeaseLost, WorkerStops, ProgramKilled].some((kind) => cause instanceof kind);
  if (mayPass || isOutage(cause) || isTooSlow(cause)) return null;
  return { code: "failed", message: storedMessage(cause) };
}

/** How far a job has come. */
export interface Progress {
  readonly phase: ProvisioningPhase;
  readonly percent: number;
}

export const INIT: Progress = { phase: "init", percent: 5 };
export const PLAN: Progress = { phase: "plan", percent: 10 };
const APPLY_FROM = 15;
/** The rest is the way of the machines and the operator. */
export const APPLY_TO = 80;

/** The progress of an apply, by the operations that have ended. */
export function applied(ended: number, planned: number): Progress {
  const share = planned === 0 ? 1 : Math.min(ended / planned, 1);
  return { phase: "apply", percent: APPLY_FROM + Math.floor(share * (APPLY_TO - APPLY_FROM)) };
}

/** The names of the machines of a cluster, as tokens, the module and Kubernetes have them. */
export const nodeNames = (agentCount: number): string[] => [CONTROL_PLANE_NODE, ...agentNames(0, agentCount)];

/** The agents after the first `from`, up to number `to`. */
export const agentNames = (from: number, to: number): string[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, index) => `agent-${from + index + 1}`);

/** Go also escapes what could end a script in a page. */
const asGoWritesIt = (json: string) =>
  json.replace(/[<>&]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16).padStart(2, "0")}`);

/** A message of OpenTofu that was cut is no longer JSON, and is shown with what was escaped in it. */
function spellingsOf(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  return [secret, json, asGoWritesIt(json)];
}

/** Masks every secret in a text; a secret of several lines in each of its lines, since texts are stored by lines. */
export function masker(secrets: readonly string[]): Mask {
  const parts = secrets
    .flatMap((secret) => [secret, ...secret.split("\n")])
    .map((part) => part.trim())
    .flatMap(spellingsOf)
    // A shorter part would also hide ordinary words.
    .filter((part) => part.length >= 6);
  // The longest first, so that no rest of a longer one is left.
  const ordered = [...new Set(parts)].sort((a, b) => b.length - a.length);
  return (text) => ordered.reduce((masked, part) => masked.replaceAll(part, "****"), text);
}

/**
 * Returns what the cloud has of the module and no state knows of: it was created right before a worker was killed. Objects
 * that Kubernetes has made count only when the cluster goes.
 */
export function orphansOf(
  existing: readonly CloudResource[],
  state: ReadState | null,
  isDestroy: boolean,
): CloudResource[] {
  return existing.filter(({ type, id, address }) => (isDestroy || address !== null) && !state?.knows(type, id));
}

/**
 * The addresses of what exists although its creation did not end, as when a job is cancelled while a machine starts. It is
 * kept, as an orphan would be: what is missing in it is changed in place.
 */
export const keptDespiteTaint = (existing: readonly CloudResource[], state: ReadState | null): string[] =>
  (state?.tainted ?? [])
    .filter((one) => existing.some(({ type, id, address }) => address === one.address && one.hasId(type, id)))
    .map(({ address }) => address);

export interface OrphanDecision {
  readonly imported: readonly { readonly to: string; readonly id: string }[];
  readonly removed: readonly CloudResource[];
}

/** OpenTofu evaluates the texts of a configuration, and whoever may name resources in the cloud chooses their ids. */
const isLiteral = (id: string) => !/[$%]\{/.test(id);

/**
 * An orphan that the plan would create again is imported in its place; a second one for that place, and all others, go. So
 * does one whose id OpenTofu would evaluate: it could name a file of the worker, whose content would then be in the plan.
 */
export function decideOrphans(orphans: readonly CloudResource[], plan: Pick<ReadPlan, "changes">): OrphanDecision {
  const free = new Set(plan.changes.filter(({ action }) => action === "create").map(({ address }) => address));
  const imported: { to: string; id: string }[] = [];
  const removed: CloudResource[] = [];
  for (const orphan of orphans) {
    if (orphan.address !== null && isLiteral(orphan.id) && free.delete(orphan.address))
      imported.push({ to: orphan.address, id: orphan.id });
    else removed.push(orphan);
  }
  return { imported, removed };
}

/**
 * The agents that go with a plan and with the removal of orphans. The record of the cluster does not name them all: a failed
 * change of size may have added machines that it does not count.
 */
export function leavingAgents(plan: Pick<ReadPlan, "changes">, removed: readonly CloudResource[]): string[] {
  const leaving = plan.changes.filter(({ action }) => action === "delete" || action === "replace");
  const names = [...leaving, ...removed].flatMap(({ address }) => /\["(agent-\d+)"\]$/.exec(address ?? "")?.[1] ?? []);
  return [...new Set(names)].sort((one, other) => one.localeCompare(other, "en", { numeric: true }));
}

/** Whether the run has to replace the machine of the chosen node: after a crash it may have done so already. */
export function isToBeReplaced<Job extends { readonly node: string | null; readonly replaced_machine: string | null }>(
  job: Job,
  existing: readonly CloudResource[],
): job is Job & { node: string } {
  if (job.node === null) return false;
  return job.replaced_machine === null || existing.some(({ id }) => id === job.replaced_machine);
}

/** Whether the job makes the control plane anew from its newest snapshot. */
export const isRestore = ({ node }: { readonly node: string | null }): boolean => node === CONTROL_PLANE_NODE;

const MADE_ANEW: Readonly<Partial<Record<PlannedAction, string>>> = {
  create: "make it anew",
  replace: "replace it",
  delete: "delete it",
};

/**
 * Why a run must not go on: the machine of the control plane has the data of Kubernetes, and another one would be an empty cluster that
 * no agent belongs to. Only the creation may make it, until an operator has connected.
 */
export function controlPlaneProblem(
  address: string,
  plan: Pick<ReadPlan, "changes">,
  removed: readonly CloudResource[],
): ProvisioningFailure | null {
  const change = plan.changes.find((one) => one.address === address && MADE_ANEW[one.action] !== undefined);
  const surplus = removed.find((one) => one.address === address);
  if (!change && !surplus) return null;
  const what = change
    ? `The plan does not keep ${address}${change.id ? ` (${change.id})` : ""}, it would ${MADE_ANEW[change.action]}`
    : `A second machine ${surplus?.id} says that it is ${address}, and would be removed`;
  return {
    code: "control_plane_protected",
    message:
      `${what}. The cluster and everything in it could be lost, so nothing was changed. ` +
      "Look in the cloud which machine is the control plane, bring it back or remove the other one there, and retry the job; or delete the cluster.",
  };
}

export function leftoversFailure(left: readonly CloudResource[]): ProvisioningFailure {
  const names = left.map(({ type, id }) => `${type} ${id}`);
  return {
    code: "leftovers",
    message: `These resources could not be removed: ${named(names)}. Remove them in the cloud, or what keeps them there, and retry the job.`,
  };
}

const unsupported = (message: string): ProvisioningFailure => ({ code: "unsupported", message });

export const NO_PROGRAM = unsupported(
  "The worker has neither OpenTofu nor Terraform. Install `tofu` where the worker runs, or set BINNACLE_TOFU to its path; then retry the job.",
);
export const noProvider = (provider: string | null): ProvisioningFailure =>
  unsupported(
    `This version of Binnacle cannot make clusters with the provider ${provider ?? "none"}. Register the cluster as your own instead.`,
  );
export const NO_CREDENTIAL: ProvisioningFailure = {
  code: "bad_credentials",
  message: "The cluster has no credential any more. Delete the cluster, and what is left of it at the provider.",
};
export const incomplete = (lacks: readonly string[]): ProvisioningFailure => ({
  code: "bad_credentials",
  message: `The credential of the cluster lacks ${lacks.join(", ")}. Set what is missing and retry the job.`,
});
export const NO_BUCKET: ProvisioningFailure = {
  code: "no_snapshot",
  message:
    "The cluster has no snapshots, because its credential named no bucket for them when it was made. Nothing was changed. Look in the " +
    "cloud what became of the machine of the control plane, or delete the cluster.",
};
export const NO_SNAPSHOT: ProvisioningFailure = {
  code: "no_snapshot",
  message:
    "The bucket of the cluster has no snapshot of it. Nothing was changed. Look in the bucket, in the folder with the id of the cluster, " +
    "what became of them.",
};
export const CANCELLED: ProvisioningFailure = {
  code: "cancelled",
  message: "The job was cancelled. What exists already stays; retry the job to go on.",
};
export const timedOut = (minutes: number): ProvisioningFailure => ({
  code: "timed_out",
  message: `The job did not end within ${minutes} minutes. What exists already stays; retry the job to go on.`,
});

const REGISTRY =
  /registry service|failed to (?:query|retrieve|install)|could not (?:query|retrieve)|no such host|dial tcp|i\/o timeout/i;
const CHECKSUM = /checksum|lock ?file/i;

/** Why OpenTofu could not be prepared. The cloud has no part in it: OpenTofu only fetches its plugins. */
export function initFailure(lastLines: readonly string[]): ProvisioningFailure {
  // OpenTofu wraps long lines, and the cause comes first.
  const error = lastLines.slice(
    Math.max(
      0,
      lastLines.findLastIndex((line) => line.includes("Error:")),
    ),
  );
  const output = error.join(" ").replace(/\s+/g, " ").trim();
  const [what, advice] = CHECKSUM.test(output)
    ? [
        "The plugin of the provider is not the one that Binnacle was released with, and is not used.",
        "Check the mirror of BINNACLE_TOFU_CONFIG_FILE and the folder of BINNACLE_TOFU_PLUGIN_CACHE, and retry the job.",
      ]
    : REGISTRY.test(output)
      ? [
          "The plugin of the provider could not be fetched from its registry. The cloud was not asked for anything yet.",
          "Check that the worker reaches the registry, or name a mirror in BINNACLE_TOFU_CONFIG_FILE, and retry the job.",
        ]
      : ["OpenTofu could not be prepared.", "Remove the cause and retry the job."];
  return { code: "init_failed", message: `${what} ${advice}${output ? ` Its output: ${output}` : ""}` };
}

/** The last lines of a program that failed without a diagnostic. */
export const lastLinesOf = (lines: readonly string[]): Diagnostic => ({
  summary: "OpenTofu failed.",
  detail: lines.slice(-5).join("\n"),
  address: null,
});
