import type {
  Answer,
  AuditEntry,
  Cluster,
  JournalEntry,
  PriceEstimate,
  ProvisioningJob,
  ProvisioningPlan,
} from "@binnacle/client";
import type { StatusView, Tone } from "../status/status.ts";

/** How long people wait before something is probably wrong. */
const PATIENCE_SECONDS = 60;

export interface ConnectionWait {
  readonly state: "waiting" | "late" | "connected" | "failed";
  readonly text: string;
}

/** What a freshly registered cluster's page says while its operator is awaited. */
export function connectionWait(
  cluster: Pick<Cluster, "status" | "stale" | "message">,
  waitedSeconds: number,
): ConnectionWait {
  const { status, stale, message } = cluster;
  if (status === "install_failed" || status === "error") {
    return { state: "failed", text: message ?? "The installation has failed. Its journal says at which stage." };
  }
  if (status === "connected" && !stale) return { state: "connected", text: "The operator has connected." };
  if (status === "installing") return { state: "waiting", text: "The platform is being installed on the cluster." };
  return waitedSeconds > PATIENCE_SECONDS
    ? { state: "late", text: "The operator has not connected yet. The usual causes are below." }
    : { state: "waiting", text: "Waiting for the operator. This page changes by itself when it has connected." };
}

const PHASES: readonly { readonly key: ProvisioningJob["phase"]; readonly label: string; readonly text: string }[] = [
  { key: "init", label: "Prepare", text: "The tools and the state are being prepared." },
  { key: "plan", label: "Plan", text: "The changes to the infrastructure are being worked out." },
  { key: "apply", label: "Apply", text: "Machines and networks are being changed." },
  { key: "bootstrap", label: "Kubernetes", text: "Kubernetes is being installed on the machines." },
  { key: "operator", label: "Operator", text: "The operator is being installed, and is expected to connect." },
  { key: "done", label: "Done", text: "The job is done." },
];

export interface PhaseView {
  readonly key: string;
  readonly label: string;
  readonly state: "done" | "current" | "failed" | "to_come";
}

const OF_A_PLAN: readonly string[] = ["init", "plan", "done"];

/** The phases of a job with what has become of each. A job that has failed stopped in its current phase. */
export function phasesOf(
  job: Pick<ProvisioningJob, "phase" | "status"> & { readonly dry_run?: boolean },
): readonly PhaseView[] {
  const { phase, status } = job;
  const phases = job.dry_run ? PHASES.filter(({ key }) => OF_A_PLAN.includes(key)) : PHASES;
  const at = phases.findIndex(({ key }) => key === phase);
  return phases.map(({ key, label }, index) => {
    if (status === "succeeded" || index < at) return { key, label, state: "done" };
    if (index > at) return { key, label, state: "to_come" };
    return { key, label, state: status === "failed" ? "failed" : status === "pending" ? "to_come" : "current" };
  });
}

const ACTIONS: Readonly<Record<ProvisioningJob["action"], string>> = {
  create: "Creation",
  scale: "Change of size",
  replace: "Replacement of a machine",
  upgrade: "Upgrade of Kubernetes",
  destroy: "Destruction",
};
export const jobTitle = ({ action, dry_run }: Pick<ProvisioningJob, "action" | "dry_run">): string =>
  dry_run ? `Plan of the ${ACTIONS[action].toLowerCase()}` : ACTIONS[action];

const ADVICE: Readonly<Record<NonNullable<ProvisioningJob["error_code"]>, string>> = {
  bad_credentials: "Rotate the keys of the cloud credential, check it, and try again.",
  permission_denied: "Give the user of the cloud credential the missing permission at the provider, and try again.",
  quota_exceeded: "Ask the provider for a higher quota, or free some of it, and try again.",
  not_offered: "The region does not offer this. Create the cluster with another region or instance type.",
  throttled:
    "The provider answers too few calls of the account. Find out what else calls it so often, and try again later.",
  no_capacity: "The provider has no such machine free at the moment. Try again later, or use another instance type.",
  unreachable: "The provider could not be reached from here. Check the network of the control plane, and try again.",
  timed_out: "It took too long. Read the output for what it waited for, and try again.",
  cancelled: "It was cancelled. What it has made so far stays; another try continues from there.",
  leftovers: "Something is left at the provider. Try again, or remove what is named there yourself.",
  unsupported: "This installation cannot do it. Ask whoever runs it.",
  init_failed: "Its plugins could not be fetched. Check the network of the control plane, and try again.",
  bootstrap_failed: "A machine did not become a node. Read its output for the cause, and try again: it is replaced.",
  control_plane_protected:
    "Nothing was changed. Find out at the provider what became of the machine of the control plane, and bring it back before you try again.",
  local_volumes: "Nothing was changed. Move the data that is named first, or ask again with `force`, which loses it.",
  plan_changed:
    "Nothing was changed. Have the change planned again, look at what it does now, and ask for it once more.",
  no_snapshot:
    "Nothing was changed. Look in the bucket of the cluster what became of its snapshots, or at the provider what became of the machine.",
  failed: "Read the output for the cause, and try again once it is resolved.",
};
/** What to do about a job that has failed; null for one that has not. */
export const jobAdvice = ({ error_code }: Pick<ProvisioningJob, "error_code">): string | null =>
  error_code === null ? null : ADVICE[error_code];

/** What a plan does, in one sentence. */
export function planText({ summary: { add, change, remove } }: Pick<ProvisioningPlan, "summary">): string {
  if (add + change + remove === 0) return "Nothing would change.";
  return `${add} to add, ${change} to change, ${remove} to remove.`;
}

/** The price after a change. It is never more than an estimate, and says of when its prices are. */
export function estimateText({ monthly, currency, prices_of, note }: PriceEstimate): string {
  const amount =
    monthly === null ? "not known, because a price is missing" : `about ${monthly.toFixed(2)} ${currency} a month`;
  return `Estimate: ${amount}, by prices of ${prices_of}. ${note}`;
}

export const JOB_STATUS: Readonly<Record<ProvisioningJob["status"], StatusView>> = {
  pending: { tone: "unknown", word: "Pending", sign: "waiting" },
  running: { tone: "progress", word: "Running" },
  succeeded: { tone: "good", word: "Succeeded" },
  failed: { tone: "bad", word: "Failed" },
};

/** A worker takes a job up within seconds; after this time there is probably none. */
const QUEUE_SECONDS = 120;

/** A job in one sentence: what it does now, or how it has ended. */
export function jobText(
  job: Pick<
    ProvisioningJob,
    "phase" | "status" | "error_message" | "attempts" | "dry_run" | "cancel_requested_at" | "retry_at"
  >,
  waitedSeconds: number,
): string {
  if (job.status === "pending" && job.retry_at !== null)
    return "The job waits for its provider, or for a snapshot, and goes on by itself; its output says when.";
  if (job.status === "pending") {
    return waitedSeconds > QUEUE_SECONDS
      ? "The job was accepted, but no worker has taken it up yet. Ask whoever runs this installation whether its provisioning works."
      : "The job was accepted and waits for its turn. Jobs of one cluster run one after the other.";
  }
  if (job.status === "succeeded") return job.dry_run ? "The plan is made. Nothing was changed." : "The job is done.";
  const phase = PHASES.find(({ key }) => key === job.phase);
  if (job.status === "running" && job.cancel_requested_at !== null)
    return "The job stops after the resource that it is working on.";
  if (job.status === "running") return phase?.text ?? "The job is running.";
  const times = job.attempts > 1 ? `, after ${job.attempts} attempts` : "";
  return `The job failed in the phase ${phase?.label ?? job.phase}${times}: ${job.error_message ?? "no reason was given"}`;
}

const STAGES: Readonly<Record<JournalEntry["stage"], string>> = {
  preflight: "Preflight checks",
  register: "Registration",
  "k3s-server": "Kubernetes server",
  "k3s-agents": "Kubernetes agents",
  "platform-networking": "Networking",
  "platform-certs": "Certificates",
  "platform-storage": "Storage",
  "platform-backup": "Backup",
  "platform-day2": "Day-2 tools",
  agent: "Operator",
  profiles: "Profiles",
  record: "Record",
  verify: "Verification",
  backup: "Backup before the upgrade",
  "platform-components": "Platform components",
  kubernetes: "Kubernetes",
};

export interface JournalLine {
  readonly title: string;
  readonly tone: Tone;
  readonly word: string;
  readonly detail: string | null;
  readonly at: string;
}

const ENDS: Readonly<Record<JournalEntry["status"], readonly [Tone, string]>> = {
  started: ["progress", "Started"],
  completed: ["good", "Completed"],
  failed: ["bad", "Failed"],
};

type CurrentStage = Cluster["current_stage"];

/** The stage of an install that is under way, such as `Storage: longhorn`, or null. */
export function stageText(current: Pick<JournalEntry, "stage" | "component"> | null): string | null {
  if (current === null) return null;
  const name = STAGES[current.stage] ?? current.stage;
  return current.component ? `${name}: ${current.component}` : name;
}

/** The install journal as a timeline, the newest entry first, with the stage that is under way above it. */
export function journalLines(journal: readonly JournalEntry[], current: CurrentStage = null): readonly JournalLine[] {
  const ended = journal.toReversed().map((entry): JournalLine => {
    const [tone, word] = ENDS[entry.status];
    const said = [entry.reason_code, entry.detail].filter((text) => text !== null && text !== "").join(": ");
    return { title: stageText(entry) ?? "", tone, word, detail: said || null, at: entry.at };
  });
  const title = stageText(current);
  if (current === null || title === null) return ended;
  return [{ title, tone: "progress", word: "Under way", detail: null, at: current.started_at }, ...ended];
}

const ISSUES_TOKEN: readonly string[] = ["cluster.create", "cluster.rotate_token", "cluster.mint_agent_credentials"];

/** When the newest token of the operator was issued, as far as the audit log says; entries come newest first. */
export const tokenIssuedAt = (entries: readonly Pick<AuditEntry, "action" | "at">[]): string | null =>
  entries.find(({ action }) => ISSUES_TOKEN.includes(action))?.at ?? null;

/** How long an operator's token is valid. */
const TOKEN_DAYS = 365;
/** People need some weeks to plan a rotation. */
const SOON_DAYS = 30;

/** The tone of a token by its age: it stops working after a year. */
export function tokenTone(issuedAt: string, now: number): Tone {
  const days = (now - Date.parse(issuedAt)) / 86_400_000;
  if (days >= TOKEN_DAYS) return "bad";
  return days >= TOKEN_DAYS - SOON_DAYS ? "warning" : "good";
}

/** What is to be said about the version of an operator; null where nobody has to act. */
export function skewText(skew: Cluster["operator_skew"]): StatusView | null {
  if (skew === "outdated") return { tone: "warning", word: "outdated" };
  return skew === "unsupported" ? { tone: "bad", word: "unsupported" } : null;
}

/** One sentence about the newest upgrade of an operator. */
export function upgradeText(upgrade: Cluster["operator_upgrade"]): string {
  if (!upgrade) return "none was started here";
  const { phase, to_version, reason } = upgrade;
  return `${UPGRADE_LABELS[phase]} ${to_version}${reason ? `: ${reason}` : ""}`;
}

const UPGRADE_LABELS: Readonly<Record<NonNullable<Cluster["operator_upgrade"]>["phase"], string>> = {
  pending: "waits for its turn, to",
  running: "under way, to",
  succeeded: "succeeded, to",
  returned: "went back to the former image, from",
  failed: "failed, to",
  skipped: "skipped, to",
  cancelled: "cancelled, to",
};

/** What a row of the list says of an upgrade that is under way, or has not brought its version; else null. */
export function upgradeMark({
  operator_upgrade: upgrade,
  operator_version,
}: Pick<Cluster, "operator_upgrade" | "operator_version">): StatusView | null {
  if (!upgrade || upgrade.to_version === operator_version) return null;
  if (upgrade.phase === "pending") return { tone: "unknown", word: "waits", sign: "waiting" };
  if (upgrade.phase === "running") return { tone: "progress", word: "upgrading" };
  return upgrade.phase === "returned" || upgrade.phase === "failed" ? { tone: "bad", word: "upgrade failed" } : null;
}

export const operatorsText = (count: number): string => `${count.toLocaleString()} operator${count === 1 ? "" : "s"}`;

/** What an upgrade of all operators would do, and what it would leave out. */
export function upgradeAllTexts(preview: Answer<"previewOperatorUpgrade">): readonly string[] {
  const { to_version, from_versions, skipped_count } = preview;
  const versions = from_versions.map(({ version, cluster_count: count }) => `${operatorsText(count)} of ${version}`);
  const upgraded = `${versions.join(" and ")} get the version ${to_version}.`;
  if (skipped_count === 0) return [upgraded];
  const skipped = `${operatorsText(skipped_count)} of an older version that cannot be upgraded from here now`;
  return [upgraded, `Left out: ${skipped}, as while it is not connected.`];
}
