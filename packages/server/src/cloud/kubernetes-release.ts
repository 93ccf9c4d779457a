/** A release of k3s, with the checksums of its program by the machines that run it, as `uname -m` names them. */
export interface KubernetesRelease {
  readonly version: string;
  readonly sha256: Readonly<Record<string, string>>;
  /** The same of the archives of its images, where its machines load them. */
  readonly images?: Readonly<Record<string, string>>;
}

/** What new clusters get. Those that exist keep theirs until they are upgraded: a kubelet must not be newer than its API server. */
export const KUBERNETES: KubernetesRelease = {
  version: "v1.37.1+k3s1",
  sha256: {
    x86_64: "92b94582eb7b34a8cf532e6006842b9ed215a6783cf56a3dd6271fd35243b2c0",
    aarch64: "a1561ca4aef8b99f5588a840d4468ac39c8c1cd92470bbcb9634823fa221741a",
  },
};

/** Of the clusters that release 0.1.0 has made, which have none on record. */
export const FIRST_KUBERNETES: KubernetesRelease = {
  version: "v1.37.1+k3s1",
  sha256: {
    x86_64: "92b94582eb7b34a8cf532e6006842b9ed215a6783cf56a3dd6271fd35243b2c0",
    aarch64: "a1561ca4aef8b99f5588a840d4468ac39c8c1cd92470bbcb9634823fa221741a",
  },
};

/** The releases that Binnacle has the checksums of, the newest first. */
export const SHIPPED_KUBERNETES: readonly KubernetesRelease[] = [KUBERNETES];

const numbersOf = (version: string) => (version.match(/\d+/g) ?? []).slice(0, 5).map(Number);

/** Why Kubernetes must not go from one release to the other: its data is never read by an older one, and no minor release is left out. */
export function upgradeStepProblem(from: string, to: string): string | null {
  // The 3 of k3s is the same in both.
  const [before, after] = [numbersOf(from), numbersOf(to)];
  const place = after.findIndex((number, index) => number !== before[index]);
  if (place === -1) return null;
  if ((after[place] ?? 0) < (before[place] ?? 0))
    return `The cluster has ${from}, and never goes back to an older release.`;
  if (place === 0 || (place === 1 && (after[1] ?? 0) - (before[1] ?? 0) > 1))
    return `The cluster has ${from}, and ${to} is more than one minor release ahead. Upgrade to one in between first.`;
  return null;
}
