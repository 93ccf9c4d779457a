import type { BootstrapStage, BootstrapStatus, ProvisioningAction } from "@binnacle/contract";
import type { Selectable } from "kysely";
import type { ProvisioningFailure } from "../cloud/provider.ts";
import { named } from "../clusters/cluster.ts";
import type { NodeBootTable } from "../database/provisioning-tables.ts";
import type { Mask } from "../tofu/tofu-output.ts";
import { CONTROL_PLANE_NODE, nodeTokenHash } from "./node-token.ts";
import { APPLY_TO, CANCELLED, masker, type Progress } from "./provisioning-run.ts";

/** How far a machine has come since a job has planned to make it. */
export type NodeBoot = Selectable<NodeBootTable>;

/** What a job waits for after its apply. */
export interface Wait {
  readonly action: ProvisioningAction;
  readonly boots: readonly Pick<NodeBoot, "node" | "status" | "stage" | "message">[];
  /** Whether the operator has ever connected. */
  readonly hasConnected: boolean;
  /** The control plane is a new machine, of which an earlier connection says nothing. */
  readonly isRestore: boolean;
  /** Whether the next node can only be drained by an operator, and whether one is connected now. */
  readonly needsOperator: boolean;
  readonly isOperatorHere: boolean;
  readonly isCancelled: boolean;
  readonly until: Date;
  /** The time that was given, for the message of a job that ran out of it. */
  readonly minutes: number;
}

export type WaitStep =
  | { readonly is: "waiting"; readonly progress: Progress }
  | { readonly is: "done" }
  | { readonly is: "failed"; readonly progress: Progress; readonly failure: ProvisioningFailure };

const BOOTSTRAP_TO = 95;
const OPERATOR: Progress = { phase: "operator", percent: BOOTSTRAP_TO };

/** The operator runs on the control plane, so the control plane is up once the operator has connected. */
const isUp = ({ node, status }: Pick<NodeBoot, "node" | "status">, hasConnected: boolean) =>
  status === "completed" || (node === CONTROL_PLANE_NODE && hasConnected);

/** Decides what becomes of a job that waits for its machines and its operator. */
export function waitStep(wait: Wait, now: Date): WaitStep {
  const { boots, hasConnected } = wait;
  const missing = boots.filter((boot) => !isUp(boot, hasConnected && !wait.isRestore));
  const isLate = now >= wait.until;
  if (missing.length > 0) {
    const share = (boots.length - missing.length) / boots.length;
    const percent = APPLY_TO + Math.floor(share * (BOOTSTRAP_TO - APPLY_TO));
    const progress: Progress = { phase: "bootstrap", percent };
    if (wait.isCancelled) return { is: "failed", progress, failure: CANCELLED };
    const broken = missing.find(({ status }) => status === "failed");
    if (broken) return { is: "failed", progress, failure: bootstrapFailed(broken) };
    if (isLate) return { is: "failed", progress, failure: machinesLate(missing, wait.minutes) };
    return { is: "waiting", progress };
  }
  const isWaitOver = wait.action === "create" ? hasConnected : !wait.needsOperator || wait.isOperatorHere;
  if (isWaitOver) return { is: "done" };
  if (wait.isCancelled) return { is: "failed", progress: OPERATOR, failure: CANCELLED };
  if (isLate) return { is: "failed", progress: OPERATOR, failure: operatorLate(wait.minutes) };
  return { is: "waiting", progress: OPERATOR };
}

const STEPS: Readonly<Record<BootstrapStage, string>> = {
  secrets: "fetching its secrets",
  install: "installing k3s",
  configure: "configuring k3s",
  start: "starting k3s",
  join: "joining the cluster",
  ready: "ending its bootstrap",
};

const AGAIN = "Remove the cause and retry the job: a machine that has not become a node is replaced.";

const bootstrapFailed = ({ node, stage, message }: Wait["boots"][number]): ProvisioningFailure => ({
  code: "bootstrap_failed",
  message:
    `The machine ${node} failed at ${stage ? STEPS[stage] : "its bootstrap"}: ${message || "it gave no reason"}. ` +
    `The log of the job has its output. ${AGAIN}`,
});

function machinesLate(missing: Wait["boots"], minutes: number): ProvisioningFailure {
  const words = missing.map(({ node, stage }) =>
    stage === null ? `${node} has never reported` : `${node} was last ${STEPS[stage]}`,
  );
  const hint = missing.some(({ stage }) => stage === null)
    ? " A machine that never reports may not reach BINNACLE_PUBLIC_URL."
    : "";
  return {
    code: "timed_out",
    message: `Not all machines became nodes within ${minutes} minutes: ${named(words)}.${hint} ${AGAIN}`,
  };
}

const operatorLate = (minutes: number): ProvisioningFailure => ({
  code: "timed_out",
  message:
    `All machines are nodes, but the operator has not connected within ${minutes} minutes. Check that the cluster can pull its ` +
    "image and reach BINNACLE_PUBLIC_URL, and retry the job.",
});

/**
 * The machines that a further run makes anew, because they will never become nodes. Agents join the address of their control
 * plane, so they go with it. A control plane whose operator has ever connected has data and is never replaced.
 */
export function machinesToReplace(
  boots: readonly Pick<NodeBoot, "node" | "status">[],
  nodes: readonly string[],
  hasConnected: boolean,
): string[] {
  const broken = boots.filter((boot) => boot.status === "failed" && !isUp(boot, hasConnected)).map(({ node }) => node);
  return nodes.filter((node) => broken.includes(node) || broken.includes(CONTROL_PLANE_NODE));
}

/** Bounds of what a machine can make Binnacle store, so that no tenant can fill the disk with one. */
export const MOST_LOG_BYTES = 256 * 1024;
/** What a line takes beside its text: the name of its machine and its row. Otherwise empty lines would cost nothing. */
const LINE_BYTES = 100;
const MOST_REPORTS_A_MINUTE = 60;
const WINDOW_MS = 60_000;

export interface Report {
  readonly stage: BootstrapStage;
  readonly status: BootstrapStatus;
  readonly message: string | null;
  /** The number of lines before these. */
  readonly firstLine: number;
  /** Masked, and cleaned as the output of OpenTofu. */
  readonly lines: readonly string[];
}

export const DROPPED = "Further output of this machine is dropped: it has printed more than is kept of one.";

/** The fields of a boot after a report, and the lines to store. A machine that is up stays so, whatever it reports. */
export function afterReport(boot: NodeBoot, report: Report, now: Date) {
  // A report whose answer was lost comes again.
  const fresh = report.lines.slice(Math.max(0, boot.lines - report.firstLine));
  const stored: string[] = [];
  let bytes = boot.log_bytes;
  for (const line of fresh) {
    if (bytes >= MOST_LOG_BYTES) break;
    bytes += Buffer.byteLength(line) + LINE_BYTES;
    stored.push(bytes >= MOST_LOG_BYTES ? DROPPED : line);
  }
  const isOver = boot.status === "completed";
  const fields = {
    ...(isOver ? {} : { status: report.status, stage: report.stage, message: report.message }),
    lines: Math.max(boot.lines, report.firstLine + report.lines.length),
    log_bytes: Math.min(bytes, MOST_LOG_BYTES),
    ...windowAfter(boot, now),
    updated_at: now,
  };
  return { fields, stored: stored.map((line) => `[${boot.node}] ${line}`) };
}

function windowAfter({ window_at, window_reports }: Pick<NodeBoot, "window_at" | "window_reports">, now: Date) {
  const isCurrent = window_at !== null && now.getTime() - window_at.getTime() < WINDOW_MS;
  return isCurrent ? { window_at, window_reports: window_reports + 1 } : { window_at: now, window_reports: 1 };
}

/** Returns for how many seconds a machine that reports too often is refused, or null. */
export function refusedSeconds(boot: Pick<NodeBoot, "window_at" | "window_reports">, now: Date): number | null {
  const { window_at, window_reports } = boot;
  if (window_at === null || window_reports < MOST_REPORTS_A_MINUTE) return null;
  const leftMs = window_at.getTime() + WINDOW_MS - now.getTime();
  return leftMs > 0 ? Math.ceil(leftMs / 1000) : null;
}

/** The forms of a token of the operator and of a token of k3s. */
const OTHER_TOKENS = /\beyJ[\w-]{8,}\.[\w-]+\.[\w-]+|\bK10[0-9a-f]{64}::\S+/g;

/** Masks what a machine may print of its secrets: those that are known, tokens whose hash is, and whatever looks like one. */
export function reportMask(secrets: readonly string[], hashes: ReadonlySet<string>): Mask {
  const mask = masker(secrets);
  return (text) =>
    mask(text)
      .replace(/\b[0-9a-f]{64}\b/g, (word) => (hashes.has(nodeTokenHash(word)) ? "****" : word))
      .replace(OTHER_TOKENS, "****");
}
