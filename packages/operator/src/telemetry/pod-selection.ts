import { componentNames } from "../app/names.ts";
import { isPodOf, NOT_OF_WORKLOADS, type PodMaker, type ReleasePods } from "../helm/release-pods.ts";
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

/** Metrics of containers know neither labels nor owners of pods, so that only names tell whose they are. */

/** Beyond this length Kubernetes cuts what it puts between a workload's name and the end of its pods' names. */
const LONGEST_UNCUT = 46;

const HASH = "[a-z0-9]{5}";

const escaped = (name: string): string => name.replace(/[^a-z0-9-]/g, "\\$&");

/** A hash of a ReplicaSet has no vowels; that of a Job is ours, and the time of a CronJob a number. */
const RUN = "([bcdfghjklmnpqrstvwxz2456789]{6,10}|[0-9a-f]{8}|[0-9]+)";

/**
 * Kubernetes appends an ordinal, two words without a hyphen, or of a DaemonSet one to the name of a workload. The first of two
 * is told from the name of another component, whose DaemonSet's pods would look the same.
 */
export function podPattern(app: string, component: string, isDaemonSet = false): string {
  const { base, suffixable } = componentNames(app, component);
  if (isDaemonSet) return `${escaped(base)}-${HASH}`;
  const names = [...new Set([base, suffixable])].map(escaped).join("|");
  const cut = base.length > LONGEST_UNCUT ? "|[a-z0-9]+" : "";
  return `(${names})-([0-9]+|${RUN}-${HASH}${cut})`;
}

const ENDINGS: Readonly<Record<string, string>> = {
  Pod: "",
  StatefulSet: "-[0-9]+",
  Deployment: `-[a-z0-9]+-${HASH}`,
  DaemonSet: `-${HASH}`,
  ReplicaSet: `-${HASH}`,
  Job: `-${HASH}`,
  CronJob: `-[0-9]+-${HASH}`,
};
const ANY_ENDING = `-([0-9]+|([a-z0-9]+-)?${HASH})`;
/** These have the name itself, however long it is. */
const NEVER_CUT = new Set(["Pod", "StatefulSet"]);

/** Null where nothing is known that makes pods. */
export function releasePodPattern(makers: readonly PodMaker[]): string | null {
  const patterns = makers.map(({ kind, name }) =>
    name.length > LONGEST_UNCUT && !NEVER_CUT.has(kind)
      ? `${escaped(name.slice(0, LONGEST_UNCUT))}[a-z0-9.-]*`
      : `${escaped(name)}${ENDINGS[kind] ?? ANY_ENDING}`,
  );
  return patterns.length > 0 ? [...new Set(patterns)].sort().join("|") : null;
}
