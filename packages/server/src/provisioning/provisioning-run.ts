import type { ProvisioningPhase } from "@binnacle/contract";
import type { CloudResource, Diagnostic, ProvisioningFailure } from "../cloud/provider.ts";
import { named } from "../clusters/cluster.ts";
import type { ReadPlan, ReadState } from "../tofu/tofu-output.ts";
import { CONTROL_PLANE_NODE } from "./node-token.ts";

/** Ends a run in a way that its record tells. */
export class RunFailed extends Error {
  override readonly name = "RunFailed";
  readonly failure: ProvisioningFailure;
  constructor(failure: ProvisioningFailure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** Something outside has killed OpenTofu, such as a kernel without memory. Another attempt may pass. */
export class ProgramKilled extends Error {
  override readonly name = "ProgramKilled";
}

/** How far a job has come. */
export interface Progress {
  readonly phase: ProvisioningPhase;
  readonly percent: number;
}

export const INIT: Progress = { phase: "init", percent: 5 };
export const PLAN: Progress = { phase: "plan", percent: 10 };
const APPLY_FROM = 15;
const APPLY_TO = 95;

/** The progress of an apply, by the operations that have ended. */
export function applied(ended: number, planned: number): Progress {
  const share = planned === 0 ? 1 : Math.min(ended / planned, 1);
  return { phase: "apply", percent: APPLY_FROM + Math.floor(share * (APPLY_TO - APPLY_FROM)) };
}

/** The names of the machines of a cluster, as tokens, the module and Kubernetes have them. */
export const nodeNames = (agentCount: number): string[] => [CONTROL_PLANE_NODE, ...agentNames(0, agentCount)];

/** The agents that go when the number of agents falls. */
export const agentNames = (from: number, to: number): string[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, index) => `agent-${from + index + 1}`);

/** Masks every secret in a text; a secret of several lines in each of its lines, since texts are stored by lines. */
export function masker(secrets: readonly string[]): (text: string) => string {
  const parts = secrets
    .flatMap((secret) => [secret, ...secret.split("\n")])
    .map((part) => part.trim())
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

export interface OrphanDecision {
  readonly imported: readonly { readonly to: string; readonly id: string }[];
  readonly removed: readonly CloudResource[];
}

/** An orphan that the plan would create again is imported in its place; a second one for that place, and all others, go. */
export function decideOrphans(orphans: readonly CloudResource[], plan: Pick<ReadPlan, "changes">): OrphanDecision {
  const free = new Set(plan.changes.filter(({ action }) => action === "create").map(({ address }) => address));
  const imported: { to: string; id: string }[] = [];
  const removed: CloudResource[] = [];
  for (const orphan of orphans) {
    if (orphan.address !== null && free.delete(orphan.address)) imported.push({ to: orphan.address, id: orphan.id });
    else removed.push(orphan);
  }
  return { imported, removed };
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
  message: "The credential of the cluster has no secret key. Set one and retry the job.",
};
export const CANCELLED: ProvisioningFailure = {
  code: "cancelled",
  message: "The job was cancelled. What exists already stays; retry the job to go on, or delete the cluster.",
};
export const timedOut = (minutes: number): ProvisioningFailure => ({
  code: "timed_out",
  message: `The job did not end within ${minutes} minutes. What exists already stays; retry the job to go on.`,
});

/** The last words of a program that failed without a diagnostic. */
export const lastWords = (lines: readonly string[]): Diagnostic => ({
  summary: "OpenTofu failed.",
  detail: lines.slice(-5).join("\n"),
  address: null,
});
