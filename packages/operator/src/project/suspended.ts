import type { DesiredKind } from "@binnacle/contract";
import type { DesiredView, StoredResource } from "../desired/desired-state.ts";

/**
 * Whether nothing of a resource is to be touched: it is suspended itself, or its project is. The control plane suspends a cluster by all of
 * its projects. What is in a project that is being removed goes with it.
 */
export function isSuspended(view: Pick<DesiredView, "get" | "holder">, { spec, isDeleting }: StoredResource): boolean {
  const isOwn = "suspended" in spec && spec.suspended === true && !isDeleting;
  return isOwn || isHeldByProject(view, `project/${spec.namespace}`);
}

/** One that somebody has changed in the cluster holds as it stands there until the hub has sent it again. */
function isHeldByProject(view: Pick<DesiredView, "get" | "holder">, key: string): boolean {
  const kind: DesiredKind = "project";
  const stored = view.get(kind, key);
  if (stored) return stored.spec.suspended === true && !stored.isDeleting;
  const spec = view.holder(kind, key)?.["spec"] as { readonly suspended?: unknown } | undefined;
  return spec?.suspended === true;
}
