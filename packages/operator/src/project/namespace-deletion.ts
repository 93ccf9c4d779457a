import { FINALIZER } from "@binnacle/contract";
import type { KubeObject } from "../kube/kube-client.ts";

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly message?: string;
}

/** Finalizers of others are at work for a moment in every deletion; those that remain hold it back. */
export const PATIENCE_MS = 10_000;
/**
 * A deletion without foreign finalizers is reported as blocked only after this time, because Kubernetes may be slow.
 */
export const LONG_PATIENCE_MS = 60_000;

/** Kubernetes cannot go on by itself: it does not know all kinds of objects, or may not delete some. */
const STUCK = new Set([
  "NamespaceDeletionDiscoveryFailure",
  "NamespaceDeletionGroupVersionParsingFailure",
  "NamespaceDeletionContentFailure",
]);
const FINALIZERS_REMAIN = "NamespaceFinalizersRemaining";
const CONTENT_REMAINS = "NamespaceContentRemaining";

/** They go by themselves, ours by our own hand. */
const PASSING = /^(foregroundDeletion|orphan|kubernetes|([a-z0-9.-]+\.)?kubernetes\.io\/[\w.-]+)$/;

/** As Kubernetes writes them: `Some content in the namespace has finalizers remaining: a.b/c in 1 resource instances, …`. */
const FINALIZER_COUNT = /([^\s,:]+) in \d+ resource instances/g;

export interface DeletionState {
  readonly isBlocked: boolean;
  /** The remaining content of the namespace, as Kubernetes describes it. */
  readonly message: string;
}

/** How the deletion of a namespace goes on. Whatever holds it back is named; taking it away is for its owner. */
export function deletionOf(namespace: KubeObject, nowMs: number): DeletionState {
  const { name, deletionTimestamp = "", finalizers = [] } = namespace.metadata;
  const conditions = conditionsOf(namespace).filter(({ status }) => status === "True");
  const messages = (types: (type: string) => boolean) =>
    conditions.filter(({ type }) => types(type)).map(({ message = "" }) => message.trim());

  const stuck = messages((type) => STUCK.has(type));
  const onContent = messages((type) => type === FINALIZERS_REMAIN);
  const onNamespace = [...finalizers, ...specFinalizers(namespace)].filter(isForeign);
  const isHeld = onNamespace.length > 0 || onContent.some((message) => finalizersIn(message).some(isForeign));
  const takenMs = nowMs - Date.parse(deletionTimestamp);

  const reasons = [
    ...stuck,
    ...onContent,
    ...messages((type) => type === CONTENT_REMAINS),
    ...(onNamespace.length > 0 ? [`The namespace has the finalizers ${onNamespace.join(", ")}.`] : []),
  ];
  return {
    isBlocked: takenMs > (stuck.length > 0 || isHeld ? PATIENCE_MS : LONG_PATIENCE_MS),
    message: [`The namespace ${name} is being deleted.`, ...reasons].join(" "),
  };
}

const conditionsOf = ({ status }: KubeObject): readonly Condition[] =>
  (status as { readonly conditions?: readonly Condition[] } | undefined)?.conditions ?? [];

const specFinalizers = ({ spec }: KubeObject): readonly string[] =>
  (spec as { readonly finalizers?: readonly string[] } | undefined)?.finalizers ?? [];

const finalizersIn = (message: string): string[] =>
  [...message.matchAll(FINALIZER_COUNT)].map(([, finalizer = ""]) => finalizer);

const isForeign = (finalizer: string): boolean => finalizer !== FINALIZER && !PASSING.test(finalizer);
