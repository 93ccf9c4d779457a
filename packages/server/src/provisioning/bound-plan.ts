import { createHash } from "node:crypto";
import type { PlannedVolume } from "@binnacle/contract";
import type { CloudResource, ProvisioningFailure } from "../cloud/provider.ts";
import { named } from "../clusters/cluster.ts";
import { conflict, type Fault } from "../fault.ts";
import type { ReadPlan } from "../tofu/tofu-output.ts";
import type { ProvisioningJob } from "./provisioning.ts";

/** All that somebody who looks at a plan agrees to. */
export interface Decided {
  readonly changes: ReadPlan["changes"];
  /** What each update changes; an update that changes something else is another one. */
  readonly updates?: ReadPlan["updates"];
  readonly volumes: readonly PlannedVolume[];
  /** What no state knows of and no resource of the module takes up. */
  readonly removed: readonly Pick<CloudResource, "type" | "id">[];
}

const DOES: Readonly<Record<ReadPlan["changes"][number]["action"], string>> = {
  create: "create",
  update: "change",
  replace: "replace",
  delete: "remove",
  import: "take up",
};

/** One line for each change, sorted. The id tells one machine at an address from another that has taken its place. */
const linesOf = ({ changes, volumes, removed }: Decided): string[] =>
  [
    ...changes.map(({ action, address, id }) => `${DOES[action]} ${address}${id ? ` (${id})` : ""}`),
    ...volumes.map(({ action, id, node }) => `${action} the volume ${id}${node ? ` on ${node}` : ""}`),
    ...removed.map(({ type, id }) => `remove ${type} ${id}`),
  ].sort();

/** Equal where two plans do the same to the same resources. */
export const planDigest = (decided: Decided): string =>
  createHash("sha256")
    .update(
      JSON.stringify([
        ...linesOf(decided),
        ...Object.entries(decided.updates ?? {})
          .map(String)
          .sort(),
      ]),
    )
    .digest("hex");

const MOST_NAMED = 5;

/** Why a job must not go on: it would not do what somebody has seen. `seen` is null where that plan is gone. */
export function boundPlanProblem(
  seen: Pick<ProvisioningJob, "plan" | "plan_digest"> | null,
  decided: Decided,
): ProvisioningFailure | null {
  if (seen?.plan_digest && seen.plan_digest === planDigest(decided)) return null;
  const before = new Set(linesOf({ changes: [], volumes: [], removed: [], ...shownBy(seen) }));
  const now = linesOf(decided);
  const words = [
    ...now.filter((line) => !before.has(line)).map((line) => `it would now ${line}`),
    ...[...before].filter((line) => !now.includes(line)).map((line) => `it would no longer ${line}`),
  ];
  const what = words.length > 0 ? `: ${named(words.slice(0, MOST_NAMED))}${more(words.length)}` : "";
  return {
    code: "plan_changed",
    message: `The change is no longer the one that was planned${what}. Nothing was changed. Look at a new plan and ask again.`,
  };
}

type Action = ReadPlan["changes"][number]["action"];

/** What is still to be done to a resource where a run that was to do this has ended half-way. */
const LEFT_OF: Readonly<Record<Action, readonly Action[]>> = {
  create: ["create", "import", "replace", "update"],
  replace: ["create", "delete", "import", "replace", "update"],
  import: ["import", "update"],
  update: ["update"],
  delete: ["delete"],
};
/** A run has made what is there since, which has another id. */
const MADE: readonly Action[] = ["create", "replace"];

/**
 * Why a job that was confirmed once must not go on: it finishes what was begun and does nothing that was not in the plan. What the run before has
 * made and no state knows of is removed too, so that is not compared.
 */
export function unseenProblem(
  seen: Pick<ProvisioningJob, "plan"> | null,
  { changes, volumes }: Pick<Decided, "changes" | "volumes">,
): ProvisioningFailure | null {
  const planned = { changes: [], volumes: [], ...shownBy(seen) };
  const isSeen = ({ action, address, id }: Decided["changes"][number]) =>
    planned.changes.some(
      (one) =>
        one.address === address &&
        LEFT_OF[one.action].includes(action) &&
        (action !== "delete" || MADE.includes(one.action) || one.id === id),
    );
  const isLossSeen = ({ action, id }: PlannedVolume) =>
    action !== "delete" || planned.volumes.some((one) => one.id === id && one.action === "delete");
  const unseen = linesOf({
    changes: changes.filter((change) => !isSeen(change)),
    volumes: volumes.filter((volume) => !isLossSeen(volume)),
    removed: [],
  }).map((line) => `it would now ${line}`);
  if (unseen.length === 0) return null;
  return {
    code: "failed",
    message: `The job was begun, and the rest is no longer what was planned: ${named(unseen.slice(0, MOST_NAMED))}${more(unseen.length)}. This run has changed nothing. Look at a new plan and ask again.`,
  };
}

const shownBy = (seen: Pick<ProvisioningJob, "plan"> | null) =>
  seen?.plan ? { changes: seen.plan.changes, volumes: seen.plan.volumes ?? [] } : {};

const more = (count: number) => (count > MOST_NAMED ? `, and ${count - MOST_NAMED} more` : "");

type Planned = Pick<
  ProvisioningJob,
  "action" | "cluster_id" | "desired_node_count" | "dry_run" | "id" | "node" | "plan_digest" | "started_at" | "status"
>;

/** Why a change cannot be bound to a plan, as far as that is known before the change is planned once more. */
export function staleProblem(
  plan: Planned | undefined,
  wanted: Pick<Planned, "action" | "cluster_id" | "desired_node_count" | "node">,
  newest: Pick<ProvisioningJob, "finished_at" | "id"> | undefined,
): Fault | null {
  if (!plan?.dry_run || plan.cluster_id !== wanted.cluster_id) return conflict("The cluster has no such plan.");
  if (plan.status === "failed") return conflict("The plan has failed. Ask for a new one.");
  if (plan.status !== "succeeded")
    return conflict("The plan is still being made. Wait for it, look at it, and try again.");
  const isOfAnother =
    plan.action !== wanted.action ||
    plan.node !== wanted.node ||
    (plan.action === "scale" && plan.desired_node_count !== wanted.desired_node_count);
  if (isOfAnother) return conflict("The plan is one of another change. Ask for a plan of this one.");
  if (plan.plan_digest === null) return conflict("The plan was made by an earlier release. Ask for a new one.");
  const isOlder =
    newest !== undefined &&
    (newest.finished_at === null || plan.started_at === null || newest.finished_at > plan.started_at);
  if (isOlder)
    return conflict("The plan is out of date: another job has changed the cluster since. Ask for a new one.");
  return null;
}
