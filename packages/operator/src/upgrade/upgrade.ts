import { type ObservedUpgrade, type OperatorUpgradeRequest, safeText } from "@binnacle/contract";
import type { KubeObject } from "../kube/kube-client.ts";
import { type Fields, fieldsIn, listIn, specOf, textIn } from "../kube/object-fields.ts";

/** The record of an upgrade, in the operator's own Deployment: whichever pod leads finds it there, also after a restart. */
const UPGRADE_ANNOTATION = "binnacle.dev/operator-upgrade";
/** The container of the operator's chart. */
const CONTAINER = "operator";
/**
 * The former pod acts at the deadline. The new one waits for this much longer: it may have taken over in the last moment, and needs
 * time to connect.
 */
const TAKEN_OVER_MS = 60_000;

export interface UpgradeRecord extends ObservedUpgrade {
  readonly id: string;
  readonly deadline: string;
}

/** What the leading pod knows when it looks at the record. */
export interface UpgradeFacts {
  readonly nowMs: number;
  /** The image that this pod runs. */
  readonly podImage: string;
  readonly deploymentImage: string;
  /** Whether the hub has admitted this pod. */
  readonly isConnected: boolean;
}

export type UpgradeStep =
  | { readonly do: "wait" }
  | { readonly do: "finish"; readonly phase: "succeeded" | "failed"; readonly reason: string | null }
  /** Go back to the former image. */
  | { readonly do: "return" };

/** Returns the next step of an upgrade that is under way. The pod of either image may ask, whichever leads. */
export function nextStep(record: UpgradeRecord, facts: UpgradeFacts): UpgradeStep {
  if (record.phase !== "running") return { do: "wait" };
  if (facts.deploymentImage !== record.to) {
    return { do: "finish", phase: "failed", reason: "Somebody else has given the Deployment another image meanwhile." };
  }
  const isNew = facts.podImage === record.to;
  if (isNew && facts.isConnected) return { do: "finish", phase: "succeeded", reason: null };
  const dueMs = Date.parse(record.deadline) + (isNew ? TAKEN_OVER_MS : 0);
  return facts.nowMs >= dueMs ? { do: "return" } : { do: "wait" };
}

/**
 * Returns the image to run: from the registry and the repository that the release was installed from, because the nodes of this
 * cluster can pull from there.
 */
export function imageFor(
  current: string,
  { version, digest }: Pick<OperatorUpgradeRequest, "version" | "digest">,
): string {
  const [beforeDigest = ""] = current.split("@");
  const repository = beforeDigest.replace(/:[^/:]*$/, "");
  return digest ? `${repository}@${digest}` : `${repository}:${version}`;
}

export function newRecord(request: OperatorUpgradeRequest, from: string, nowMs: number): UpgradeRecord {
  return {
    id: request.upgrade_id,
    phase: "running",
    from,
    to: imageFor(from, request),
    since: new Date(nowMs).toISOString(),
    deadline: new Date(nowMs + request.ready_within_seconds * 1_000).toISOString(),
    reason: null,
  };
}

export const ended = (
  record: UpgradeRecord,
  phase: Exclude<UpgradeRecord["phase"], "running">,
  reason: string | null,
  nowMs: number,
): UpgradeRecord => ({ ...record, phase, since: new Date(nowMs).toISOString(), reason: reason && safeText(reason) });

export const observed = ({ phase, from, to, since, reason }: UpgradeRecord): ObservedUpgrade => ({
  phase,
  from,
  to,
  since,
  reason,
});

/** Null where there is none, or where it was written by something that is not this operator. */
export function recordIn({ metadata }: KubeObject): UpgradeRecord | null {
  const text = metadata.annotations?.[UPGRADE_ANNOTATION];
  if (!text) return null;
  try {
    const { id, phase, from, to, since, deadline, reason } = JSON.parse(text) as Partial<UpgradeRecord>;
    if (!id || !phase || !from || !to || !since || !deadline || Number.isNaN(Date.parse(deadline))) return null;
    return { id, phase, from, to, since, deadline, reason: reason ?? null };
  } catch {
    return null;
  }
}

const containersOf = (spec: Fields): readonly Fields[] => listIn(spec["containers"]);
const imageIn = (spec: Fields): string => textIn(containersOf(spec).find(({ name }) => name === CONTAINER)?.["image"]);

export const podImageOf = (pod: KubeObject): string => imageIn(specOf(pod));
const templateOf = (deployment: KubeObject): Fields => fieldsIn(fieldsIn(specOf(deployment)["template"])["spec"]);
export const deploymentImageOf = (deployment: KubeObject): string => imageIn(templateOf(deployment));

/** With `Recreate` the former pod ends before the new one has shown that it works, and nobody is left to go back. */
export const isRolling = (deployment: KubeObject): boolean =>
  fieldsIn(specOf(deployment)["strategy"])["type"] === "RollingUpdate";

/** Refused by the API server if the Deployment has changed since it was read. */
export function upgradePatch(deployment: KubeObject, record: UpgradeRecord, image?: string): object {
  const { resourceVersion } = deployment.metadata;
  const metadata = { resourceVersion, annotations: { [UPGRADE_ANNOTATION]: JSON.stringify(record) } };
  if (image === undefined) return { metadata };
  const containers = containersOf(templateOf(deployment)).map((container) =>
    container["name"] === CONTAINER ? { ...container, image } : container,
  );
  return { metadata, spec: { template: { spec: { containers } } } };
}
