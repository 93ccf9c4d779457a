import { isPodOf, NOT_OF_WORKLOADS, type ReleasePods } from "../helm/release-pods.ts";
import { keyOf } from "../kube/informer-cache.ts";
import type { KubeObject } from "../kube/kube-client.ts";

/** Which pods of a namespace are meant, also of those that come later. */
export interface PodSelection {
  /** All that are meant have these labels, and perhaps others too. */
  readonly labelSelector: string;
  /** Of those that are there when it begins. */
  among(pods: readonly KubeObject[]): Promise<readonly KubeObject[]>;
  /** Fails where it cannot be known now. */
  isMeant(pod: KubeObject): Promise<boolean>;
  /** A pod is gone. */
  forget(key: string): void;
}

export const podsLabelled = (labelSelector: string): PodSelection => ({
  labelSelector,
  among: async (pods) => pods,
  isMeant: async () => true,
  forget: () => undefined,
});

/** Of each pod it is decided once: what makes it does not change, though the release may. */
export function podsOfRelease(read: () => Promise<ReleasePods | null>): PodSelection {
  const decided = new Map<string, { readonly uid: string | undefined; readonly isMeant: boolean }>();
  let release: ReleasePods | null = null;

  const fits = (pod: KubeObject): boolean => release !== null && isPodOf(release, pod);

  function decide(pod: KubeObject): boolean {
    const isMeant = fits(pod);
    decided.set(keyOf(pod), { uid: pod.metadata.uid, isMeant });
    return isMeant;
  }

  return {
    labelSelector: NOT_OF_WORKLOADS,
    async among(pods) {
      release = await read();
      return pods.filter(decide);
    },
    async isMeant(pod) {
      const before = decided.get(keyOf(pod));
      if (before && before.uid === pod.metadata.uid) return before.isMeant;
      // Helm has what it makes on record before it makes it, so another look tells.
      if (!fits(pod)) release = await read();
      return decide(pod);
    },
    forget: (key) => void decided.delete(key),
  };
}
