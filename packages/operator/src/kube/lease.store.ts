import { API_GROUP } from "@binnacle/contract";
import { ownLabels } from "../desired/ownership.ts";
import type { KubeClient, KubeObject, ResourceType } from "./kube-client.ts";
import { KubeError } from "./kube-error.ts";
import {
  isFree,
  isSurelyHeld,
  LEASE_S,
  type Moment,
  microTime,
  msBetween,
  type SeenLease,
  seenLease,
} from "./lease.ts";
import { specOf } from "./object-fields.ts";
import type { Clock } from "./work-queue.ts";

export const LEASES: ResourceType = {
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
  /** Whoever has the same name never works at the same time. */
  readonly holder: string;
  /** Of the names of the Leases. */
  readonly prefix?: string;
  readonly leaseSeconds?: number;
  /** How long the work goes on while the Lease cannot be renewed and nobody else has taken it. Half of its time, unless set. */
  readonly loseAfterMs?: number;
  readonly clock: Clock;
  readonly nowMs: () => number;
}

/** What only one may work on at a time. */
interface Held {
  readonly namespace: string;
  readonly name: string;
}

/** What the work may keep beside the Lease for whoever holds it next, also where this process is killed. */
export interface LeaseNote {
  /** What the holder before has left; null for nothing. */
  readonly text: string | null;
  write(text: string | null): Promise<void>;
  /** False from the moment when another process could soon have the Lease, also where this one was frozen and does not know it yet. */
  isHeld(): boolean;
}

type LeaseWork = (signal: AbortSignal, note: LeaseNote) => Promise<void>;

const NOTE = `${API_GROUP}/note`;
const isStatus = (error: unknown, status: number) => error instanceof KubeError && error.status === status;
const ignored = (): void => undefined;
const noteIn = ({ metadata }: KubeObject): string | null => metadata.annotations?.[NOTE] ?? null;

/** Every request that changes a Lease, with the rights of its namespace. */
function leaseWrites({ kubeIn, holder, prefix = "", leaseSeconds = LEASE_S, nowMs }: LeasePorts) {
  const spec = () => ({
    holderIdentity: holder,
    leaseDurationSeconds: leaseSeconds,
    renewTime: microTime(nowMs()),
  });

  /** Refused when it has changed since it was read. */
  function renewed({ metadata }: KubeObject, change: { metadata?: object; spec?: object } = {}): Promise<KubeObject> {
    const { name, namespace, uid, resourceVersion } = metadata;
    const patch = { metadata: { uid, resourceVersion, ...change.metadata }, spec: { ...spec(), ...change.spec } };
    return kubeIn(namespace ?? "").patch(LEASES, name, namespace, patch, { kind: "merge" });
  }

  /** After a conflict: an answer that got lost may have renewed it already. Null where it is another's. */
  async function ownAgain({ metadata }: KubeObject): Promise<KubeObject | null> {
    const { name, namespace = "", uid } = metadata;
    const found = await kubeIn(namespace).get(LEASES, name, namespace);
    return found !== null && found.metadata.uid === uid && specOf(found)["holderIdentity"] === holder ? found : null;
  }

  /** If this fails, the lease expires by itself. */
  async function letGo(lease: KubeObject): Promise<void> {
    const { name, namespace, uid, resourceVersion } = lease.metadata;
    const preconditions = { ...(uid ? { uid } : {}), ...(resourceVersion ? { resourceVersion } : {}) };
    const released =
      noteIn(lease) === null
        ? kubeIn(namespace ?? "").delete(LEASES, name, namespace, { preconditions })
        : renewed(lease, { spec: { holderIdentity: "" } });
    await released.then(ignored, ignored);
  }

  /** Takes the note of work that is never to be done again. What is left of it hinders nobody. */
  async function drop({ namespace, name }: Held): Promise<void> {
    await kubeIn(namespace).delete(LEASES, `${prefix}${name}`, namespace).then(ignored, ignored);
  }

  return { spec, renewed, ownAgain, letGo, drop };
}

/** Work that two processes never do at once. */
export function createLeases(ports: LeasePorts) {
  const { kubeIn, clusterId, holder, prefix = "", leaseSeconds = LEASE_S, clock } = ports;
  const { loseAfterMs = leaseSeconds * 500 } = ports;
  const present = (): Moment => ({ clockMs: clock.now(), wallMs: ports.nowMs() });
  const { spec, renewed, ownAgain, letGo, drop } = leaseWrites(ports);
  const seen = new Map<string, SeenLease>();

  /** Null while somebody else has it. */
  async function acquire(id: Held): Promise<KubeObject | null> {
    const name = `${prefix}${id.name}`;
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
    return isFree(lease, now, clock.now(), holder) ? taken(renewed(lease)) : null;
  }

  const taken = (attempt: Promise<KubeObject>): Promise<KubeObject | null> =>
    attempt.catch((error: unknown) => {
      if (isStatus(error, 409)) return null;
      throw error;
    });

  /**
   * Runs the work while holding the Lease; false where another process holds it. The work is aborted when the Lease is
   * lost, before another process may take it. A Lease with a note is released, one without is deleted.
   */
  async function under(id: Held, signal: AbortSignal, work: LeaseWork): Promise<boolean> {
    let renewedAt = present();
    const acquired = await acquire(id);
    if (!acquired) return false;
    let lease = acquired;
    let cancelNext = () => {};
    let renewing: Promise<void> = Promise.resolve();
    const lost = new AbortController();
    const renewLater = () => {
      cancelNext = clock.after(leaseSeconds * 250, () => {
        renewing = renew().finally(renewLater);
      });
    };
    const renew = async () => {
      const startedAt = present();
      try {
        lease = await renewed(lease).catch(async (error: unknown) => {
          const own = isStatus(error, 409) ? await ownAgain(lease) : null;
          if (own) return renewed(own);
          throw error;
        });
        renewedAt = startedAt;
      } catch (error) {
        const isTaken = isStatus(error, 409) || isStatus(error, 404);
        if (isTaken || clock.now() - renewedAt.clockMs > loseAfterMs) lost.abort();
      }
    };
    const write = (text: string | null) => {
      const writing = renewing.then(async () => {
        lease = await renewed(lease, { metadata: { annotations: { [NOTE]: text } } });
      });
      renewing = writing.catch(() => undefined);
      return writing;
    };
    const isHeld = () => !lost.signal.aborted && isSurelyHeld(msBetween(renewedAt, present()), leaseSeconds);
    renewLater();
    try {
      await work(AbortSignal.any([signal, lost.signal]), { text: noteIn(acquired), write, isHeld });
    } finally {
      cancelNext();
      await renewing;
      cancelNext();
      await letGo(lease);
    }
    return true;
  }

  return { under, drop };
}
export type Leases = ReturnType<typeof createLeases>;
