import type { DriftField } from "@binnacle/contract";
import { foreign, heldSummary, missing, type Step } from "../kube/apply-set.ts";
import { differencesOf } from "../kube/drift.ts";
import type { KubeObject, ResourceType } from "../kube/kube-client.ts";
import { splitApiVersion } from "../kube/kube-path.ts";
import { type Fields, fieldsIn, textIn, titleOf } from "../kube/object-fields.ts";
import { isRefusal, type Refusal } from "../kube/refusal.ts";
import { OWNED_KINDS } from "../kube/resource-types.ts";
import type { ReleaseObject } from "./manifest.ts";
import { isOfRelease, isPassing, RELEASE_NAME, RELEASE_NAMESPACE } from "./release-readiness.ts";
import type { ReleaseId } from "./revision.ts";

/** Compares the objects of a release with its manifest. Only fields that the manifest sets are compared. */

/** Helm applies under this name. Healing uses the same, so that the next upgrade finds no other manager in its way. */
export const HELM_MANAGER = "helm";

/** Controllers rewrite the specification of custom resources, so only kinds of Kubernetes itself are compared. */
export const COMPARED_KINDS: readonly ResourceType[] = OWNED_KINDS;

export function comparedKindOf({ apiVersion, kind }: Pick<ReleaseObject, "apiVersion" | "kind">): ResourceType | null {
  const { group } = splitApiVersion(apiVersion);
  const type = COMPARED_KINDS.find((one) => one.group === group && one.kind === kind);
  return type && !isPassing({ kind }) ? type : null;
}

const MANAGED_BY = "app.kubernetes.io/managed-by";

/** The object as Helm applies it: with its marks, and with the text of Secrets encoded as the API server stores it. */
export function appliedForm(object: ReleaseObject, { name, namespace }: ReleaseId, isNamespaced: boolean): KubeObject {
  const { status: _, stringData, ...rest } = object.manifest as KubeObject & Fields;
  const { metadata } = object.manifest;
  const encoded = Object.entries(fieldsIn(stringData)).map(([key, value]) => [key, encode(textIn(value))]);
  return {
    ...rest,
    metadata: {
      ...metadata,
      ...(isNamespaced ? { namespace: object.namespace ?? namespace } : {}),
      labels: { ...metadata.labels, [MANAGED_BY]: "Helm" },
      annotations: { ...metadata.annotations, [RELEASE_NAME]: name, [RELEASE_NAMESPACE]: namespace },
    },
    ...(encoded.length > 0 ? { data: { ...fieldsIn(rest["data"]), ...Object.fromEntries(encoded) } } : {}),
  } as KubeObject;
}

const encode = (text: string): string => Buffer.from(text).toString("base64");

export interface Comparison {
  readonly id: ReleaseId;
  readonly desired: KubeObject;
  readonly live: KubeObject | null;
  /** The result of a dry run, or the refusal. Null where the object is known to be as desired. */
  readonly trial: KubeObject | Refusal | null;
}

/** Decides what is to be done about one object of a release that Helm has installed as desired. */
export function releaseStepFor({ id, desired, live, trial }: Comparison, takeOver: boolean): Step {
  if (!live) return { action: "apply", isForced: false, drift: [missing(desired)] };
  if (live.metadata.deletionTimestamp) return { action: "wait", message: `${titleOf(live)} is still being deleted.` };
  if (isOfAnother(live, id) && !takeOver) return foreign(live);
  if (trial === null) return { action: "keep", isCertain: true };
  if (isRefusal(trial)) return { action: "keep", isCertain: false };
  const differences = differencesOf(live, trial, HELM_MANAGER).filter(({ field }) => !isPlaceholder(field));
  const held = differences.filter(({ cause }) => cause === "held").map(({ field }) => shown(field));
  if (held.length > 0 && !takeOver) return { action: "blocked", fields: held, summary: heldSummary(held) };
  if (differences.length === 0) return { action: "keep", isCertain: true };
  return { action: "apply", isForced: true, drift: differences.map(({ field }) => shown(field)) };
}

/** Somebody has deleted the object and installed one of another release in its place. */
function isOfAnother(live: KubeObject, id: ReleaseId): boolean {
  return live.metadata.annotations?.[RELEASE_NAME] !== undefined && !isOfRelease(live, id);
}

/** Charts leave such fields empty for others to fill in, like the certificate of a webhook. */
const isPlaceholder = ({ desired }: DriftField): boolean => desired === "" || desired === null;

/** Values of these fields cannot be secrets. */
const PUBLIC = /\/(image|imagePullPolicy|type|schedule|storageClassName|serviceAccountName)$|\/resources\//;

/** A chart may put a secret value anywhere, so texts are shown of few fields only. */
function shown({ desired, observed, ...field }: DriftField): DriftField {
  const isPublic = PUBLIC.test(field.pointer);
  const value = (given: unknown) => isPublic || typeof given === "number" || typeof given === "boolean";
  return {
    ...field,
    ...(desired !== undefined && value(desired) ? { desired } : {}),
    ...(observed !== undefined && value(observed) ? { observed } : {}),
  };
}
