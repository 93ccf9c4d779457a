import { type Reason, safeText } from "@binnacle/contract";
import type { KubeObject } from "./kube-client.ts";
import { KubeError } from "./kube-error.ts";
import { titleOf } from "./object-fields.ts";

/** Why the API server does not take an object, or is not asked to, where trying again would not change its mind. */
export interface Refusal {
  readonly refused: "immutable" | "invalid" | "forbidden" | "no_namespace" | "untestable" | "host_taken";
  /** For the status: one word. */
  readonly reason: Reason;
  /** For people. */
  readonly message: string;
}

export const isRefusal = (answer: object): answer is Refusal => "refused" in answer;

const IMMUTABLE = [
  /field is immutable/i,
  /is immutable after creation/i,
  /updates to \w+ spec for fields other than/i,
  /may not change once set/i,
  /can not be (less than|decreased)/i,
];

const UNEXPANDABLE = /must support resize|pvc can be resized/i;

/** Said with a 500, as if it were the server's fault. */
const MISSHAPEN = /failed to create typed (patch )?object|duplicate entries for key/i;

const WITH_PODS: ReadonlySet<string> = new Set(["Deployment", "DaemonSet"]);

/** Made again, these are what they were. A StatefulSet may have been told to take its volumes with it. */
const WITHOUT_DATA: ReadonlySet<string> = new Set([
  ...WITH_PODS,
  "ConfigMap",
  "CronJob",
  "HorizontalPodAutoscaler",
  "Ingress",
  "PodDisruptionBudget",
  "Service",
]);

const REMOVE = "It cannot be changed while it is there; remove the component and add it again.";

/** A Service gets another address and pods stop meanwhile, so a person chooses the moment. */
function remedyFor({ kind, metadata: { name, namespace } }: KubeObject): string {
  if (!WITHOUT_DATA.has(kind)) return REMOVE;
  const command = `kubectl delete ${kind.toLowerCase()} ${name}${namespace ? ` --namespace ${namespace}` : ""}`;
  const price = WITH_PODS.has(kind) ? " Its pods are replaced, with a pause." : "";
  return `It cannot be changed while it is there, and holds no data. Delete it, and it is made again as it is to be: ${command}.${price}`;
}

/** The refusal of a component's own object, with what to do where it cannot be changed. */
export const refusalFor = (error: unknown, object: KubeObject): Refusal | null =>
  refusalOf(error, titleOf(object), remedyFor(object));

/** Null for errors that may resolve by themselves: no answer, too many requests, an object that has changed in the meantime. */
export function refusalOf(error: unknown, title: string, remedy = REMOVE): Refusal | null {
  if (!(error instanceof KubeError)) return null;
  const { status, message } = error;
  const words = safeText(`${title}: ${message}`);
  if (status === 404) {
    return {
      refused: "no_namespace",
      reason: "NamespaceMissing",
      message: `The namespace of ${title} is not there yet.`,
    };
  }
  if (status === 403 && UNEXPANDABLE.test(message)) {
    const keeps = `The volume keeps its size, because its storage class does not allow expansion. Allow it there, or set size_gb back.`;
    return { refused: "forbidden", reason: "VolumeNotExpandable", message: safeText(`${keeps} ${words}`) };
  }
  if (status === 403) return { refused: "forbidden", reason: "Forbidden", message: words };
  if (status === 422 && IMMUTABLE.some((pattern) => pattern.test(message))) {
    return { refused: "immutable", reason: "ImmutableField", message: safeText(`${remedy} ${title}: ${message}`) };
  }
  if (status === 400 && /dry.?run/i.test(message)) {
    return { refused: "untestable", reason: "DryRunUnsupported", message: words };
  }
  return status === 400 || status === 422 || MISSHAPEN.test(message)
    ? { refused: "invalid", reason: "ObjectRefused", message: words }
    : null;
}
