import { ownLabels } from "../desired/ownership.ts";
import type { KubeClient, KubeObject, ResourceType } from "../kube/kube-client.ts";
import { KubeError } from "../kube/kube-error.ts";
import type { Clock } from "../kube/work-queue.ts";
import { isFree, LEASE_S, microTime, RENEW_MS, type SeenLease, seenLease } from "./lease.ts";
import type { ReleaseId } from "./revision.ts";

const LEASES: ResourceType = {
  group: "coordination.k8s.io",
  version: "v1",
  plural: "leases",
  kind: "Lease",
  namespaced: true,
};

export interface LeasePorts {
  /** With the rights of whoever works in the namespace. */
  readonly kubeIn: (namespace: string) => Pick<KubeClient, "get" | "create" | "patch" | "delete">;
  readonly clusterId: string;
  /** Of this process; another one of the same operator is somebody else. */
  readonly holder: string;
  readonly clock: Clock;
  readonly nowMs: () => number;
}

const leaseName = ({ name }: Pick<ReleaseId, "name">): string => `binnacle-helm-${name}`;

/** Two operators never run Helm on one release at once. */
export function createLeases({ kubeIn, clusterId, holder, clock, nowMs }: LeasePorts) {
  const seen = new Map<string, SeenLease>();

  /** Null while somebody else has it. */
  async function acquire(id: ReleaseId): Promise<KubeObject | null> {
    const name = leaseName(id);
    const key = `${id.namespace}/${name}`;
    const kube = kubeIn(id.namespace);
    const lease = await kube.get(LEASES, name, id.namespace);
    if (!lease) {
      seen.delete(key);
      const metadata = { name, namespace: id.namespace, labels: ownLabels(clusterId) };
      return taken(kube.create({ apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata, spec: spec() }));
    }
    const now = seenLease(seen.get(key), lease, clock.now());
    seen.set(key, now);
    return isFree(lease, now, clock.now()) ? taken(renewed(lease)) : null;
  }

  const spec = () => ({
    holderIdentity: holder,
    leaseDurationSeconds: LEASE_S,
    renewTime: microTime(nowMs()),
  });

  /** Refused when it has changed since it was read. */
  function renewed({ metadata: { name, namespace, uid, resourceVersion } }: KubeObject): Promise<KubeObject> {
    const patch = { metadata: { uid, resourceVersion }, spec: spec() };
    return kubeIn(namespace ?? "").patch(LEASES, name, namespace, patch, { kind: "merge" });
  }

  const taken = (attempt: Promise<KubeObject>): Promise<KubeObject | null> =>
    attempt.catch((error: unknown) => {
      if (error instanceof KubeError && error.status === 409) return null;
      throw error;
    });

  /**
   * Runs the work while holding the Lease; false where another process holds it. The work is aborted when the Lease is
   * lost, before another process may take it.
   */
  async function under(id: ReleaseId, signal: AbortSignal, work: (signal: AbortSignal) => Promise<void>) {
    const acquired = await acquire(id);
    if (!acquired) return false;
    let lease = acquired;
    let cancelNext = () => {};
    let renewedAtMs = clock.now();
    let renewing: Promise<void> = Promise.resolve();
    const lost = new AbortController();
    const renewLater = () => {
      cancelNext = clock.after(RENEW_MS, () => {
        renewing = renew().finally(renewLater);
      });
    };
    const renew = async () => {
      const startedMs = clock.now();
      try {
        lease = await renewed(lease);
        renewedAtMs = startedMs;
      } catch (error) {
        const isTaken = error instanceof KubeError && (error.status === 409 || error.status === 404);
        if (isTaken || clock.now() - renewedAtMs > (LEASE_S * 1_000) / 2) lost.abort();
      }
    };
    renewLater();
    try {
      await work(AbortSignal.any([signal, lost.signal]));
    } finally {
      cancelNext();
      await renewing;
      cancelNext();
      await letGo(lease);
    }
    return true;
  }

  /** It runs out by itself, should this fail. */
  async function letGo({ metadata: { name, namespace, uid, resourceVersion } }: KubeObject): Promise<void> {
    const preconditions = { ...(uid ? { uid } : {}), ...(resourceVersion ? { resourceVersion } : {}) };
    await kubeIn(namespace ?? "")
      .delete(LEASES, name, namespace, { preconditions })
      .catch(() => undefined);
  }

  return { under };
}
export type Leases = ReturnType<typeof createLeases>;
