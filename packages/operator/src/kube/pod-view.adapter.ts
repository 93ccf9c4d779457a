import { type InformerLog, startInformer } from "./informer.adapter.ts";
import type { KubeClient, KubeObject } from "./kube-client.ts";
import { isSamePod, type PodView, trimmedPod, withPullCauses } from "./pod-view.ts";
import { PODS } from "./resource-types.ts";

export interface RunningPodView extends PodView {
  readonly synced: Promise<void>;
  stop(): Promise<void>;
}

/** Follows the pods of all namespaces, since charts may label theirs as they like. */
export function startPodView({
  kube,
  log,
}: {
  readonly kube: Pick<KubeClient, "list" | "watch">;
  readonly log: InformerLog;
}): RunningPodView {
  const namespaces = new Map<string, Map<string, KubeObject>>();
  const listeners = new Set<(pod: KubeObject) => void>();

  /** Returns the pod as it was before and as it is now. */
  function set(key: string, found: KubeObject | null) {
    const [namespace = "", name = ""] = key.split("/");
    const pods = namespaces.get(namespace) ?? new Map<string, KubeObject>();
    const before = pods.get(name);
    const pod = found && withPullCauses(before, found);
    if (pod) pods.set(name, pod);
    else pods.delete(name);
    if (pods.size > 0) namespaces.set(namespace, pods);
    else namespaces.delete(namespace);
    return { before, pod };
  }

  const informer = startInformer({
    client: kube,
    type: PODS,
    trim: trimmedPod,
    // Not `mayBeStale`: in a list from memory API servers ignore the limit, and would gather all pods of the cluster in one answer,
    // which is 150 MB for 20,000 of them. Page by page the answers stay small on every version.
    log,
    onChange(key, found) {
      const { before, pod } = set(key, found);
      const changed = pod ?? before;
      if (!changed || (pod && isSamePod(before, pod))) return;
      for (const listener of listeners) listener(changed);
    },
  });

  return {
    in: (namespace) => [...(namespaces.get(namespace)?.values() ?? [])],
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    synced: informer.synced,
    stop: informer.stop,
  };
}
