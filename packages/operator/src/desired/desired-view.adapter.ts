import { canonicalJson, DESIRED_KINDS, type DesiredKind } from "@binnacle/contract";
import { type Informer, type InformerLog, startInformer } from "../kube/informer.adapter.ts";
import type { KubeClient, KubeObject, ResourceType } from "../kube/kube-client.ts";
import { DESIRED_SECRETS, SECRETS } from "../kube/resource-types.ts";
import type { Clock } from "../kube/work-queue.ts";
import { storedIn } from "./custom-resource.ts";
import type { DesiredView, Inventory, StoredResource } from "./desired-state.ts";
import { ownSelector } from "./ownership.ts";
import {
  type Address,
  addressOfCompanion,
  addressOfHolder,
  companionName,
  keyAt,
  type StoredKind,
} from "./stored-kind.ts";

export interface DesiredViewPorts {
  readonly kube: Pick<KubeClient, "list" | "watch">;
  readonly kinds: readonly StoredKind[];
  readonly clusterId: string;
  readonly clock: Clock;
  readonly log: InformerLog;
  /** Told of a resource that somebody else has changed: only the hub knows what it was. */
  readonly onDamaged?: (key: string) => void;
}

export interface RunningView extends DesiredView, Inventory {
  /** Resolves when everything that was there at the start is seen. */
  readonly synced: Promise<void>;
  stop(): Promise<void>;
}

/** Then the hub is asked to send a resource again; where that does not help, after twice the time, and so on. */
const DAMAGED_AFTER_MS = 10_000;
const LONGEST_DAMAGED_MS = 600_000;

type Listener = (key: string) => void;

/** Watches the objects that hold desired state, and no others. */
export function startDesiredView(ports: DesiredViewPorts): RunningView {
  const { kinds } = ports;
  const holders = new Map<string, KubeObject>();
  const companions = new Map<string, KubeObject>();
  const stored = new Map<string, StoredResource | null>();
  const signatures = new Map<string, string>();
  const damages = createDamageReports(ports, (key) => stored.get(key) === null);
  const listeners = new Map<DesiredKind, Set<Listener>>(DESIRED_KINDS.map((kind) => [kind, new Set<Listener>()]));

  function refresh(address: Address): void {
    const key = keyAt(address);
    const before = signatures.get(key);
    const holder = holders.get(key);
    if (!holder) {
      stored.delete(key);
      damages.forget(key);
    } else {
      const companion = companions.get(`${address.namespace}/${companionName(address)}`) ?? null;
      stored.set(key, storedIn(address, holder, companion));
    }
    if (holder) signatures.set(key, `${signatureOf(holder)} ${stored.get(key) !== null}`);
    else signatures.delete(key);
    if (stored.get(key) === null) damages.reportLater(key);
    if (signatures.get(key) === before) return;
    for (const listener of listeners.get(address.kind.kind) ?? []) listener(key);
  }

  function onHolder(type: ResourceType, name: string, object: KubeObject | null): void {
    const address = addressOfHolder(kinds, type, placeOf(name));
    if (!address) return;
    const key = keyAt(address);
    if (object) holders.set(key, object);
    else holders.delete(key);
    refresh(address);
  }

  function onSecret(name: string, object: KubeObject | null): void {
    onHolder(SECRETS, name, object);
    const address = addressOfCompanion(kinds, placeOf(name));
    if (!address) return;
    if (object) companions.set(name, object);
    else companions.delete(name);
    if (holders.has(keyAt(address))) refresh(address);
  }

  const informers: readonly Informer<KubeObject>[] = [
    follow(ports, SECRETS, onSecret, DESIRED_SECRETS),
    ...kinds
      .map(({ holder }) => holder)
      .filter((type) => type !== SECRETS)
      .map((type) => follow(ports, type, (name, object) => onHolder(type, name, object))),
  ];
  const synced = Promise.all(informers.map((informer) => informer.synced)).then(() => undefined);

  return {
    get: (_kind, key) => (stored.get(key) as never) ?? null,
    list: (kind) => [...stored.values()].filter((resource) => resource?.kind === kind) as never,
    holder: (_kind, key) => holders.get(key) ?? null,
    inventory: () =>
      [...stored.values()].flatMap((resource) => {
        if (!resource || resource.isDeleting) return [];
        const { key, resource_id, generation, hash } = resource;
        return [{ key, resource_id, generation, hash }];
      }),
    onChange(kind, listener) {
      listeners.get(kind)?.add(listener);
      return () => listeners.get(kind)?.delete(listener);
    },
    synced,
    async stop() {
      damages.stop();
      await Promise.all(informers.map((informer) => informer.stop()));
    },
  };
}

function createDamageReports(
  { clock, log, onDamaged }: Pick<DesiredViewPorts, "clock" | "log" | "onDamaged">,
  isDamaged: (key: string) => boolean,
) {
  const timers = new Map<string, () => void>();
  /** When resources were last reported as damaged, and how long that had taken. */
  const reported = new Map<string, { readonly atMs: number; readonly afterMs: number }>();

  /**
   * Its companion, which is followed apart from it, may be seen a moment later. A webhook that changes the resource each time it is
   * stored must not make a new session with the hub every ten seconds.
   */
  function reportLater(key: string): void {
    if (timers.has(key)) return;
    const last = reported.get(key);
    const isAgain = last !== undefined && clock.now() - last.atMs < 2 * LONGEST_DAMAGED_MS;
    const afterMs = isAgain ? Math.min(2 * last.afterMs, LONGEST_DAMAGED_MS) : DAMAGED_AFTER_MS;
    const report = () => {
      timers.delete(key);
      if (!isDamaged(key)) return;
      reported.set(key, { atMs: clock.now(), afterMs });
      log.warn({ key }, "a stored resource was changed by somebody else and is ignored until the hub sends it again");
      onDamaged?.(key);
    };
    timers.set(key, clock.after(afterMs, report));
  }

  return {
    reportLater,
    forget: (key: string) => void reported.delete(key),
    stop() {
      for (const cancel of timers.values()) cancel();
    },
  };
}

const follow = (
  { kube, clusterId, log }: DesiredViewPorts,
  type: ResourceType,
  onChange: (name: string, object: KubeObject | null) => void,
  fieldSelector?: string,
): Informer<KubeObject> =>
  startInformer({
    client: kube,
    type,
    labelSelector: ownSelector(clusterId),
    ...(fieldSelector ? { fieldSelector } : {}),
    trim: withoutManagers,
    log,
    onChange,
  });

/** All that makes a difference to a reconciler; a status, which they write themselves, does not. */
function signatureOf({ metadata }: KubeObject): string {
  const { uid, deletionTimestamp, finalizers, annotations, labels } = metadata;
  return canonicalJson([uid, deletionTimestamp, finalizers, annotations, labels]);
}

/** An informer names objects so. */
function placeOf(name: string): { readonly name: string; readonly namespace?: string } {
  const [first = "", second] = name.split("/");
  return second === undefined ? { name: first } : { namespace: first, name: second };
}

/** managedFields take more memory than the fields themselves, and are not needed here. */
function withoutManagers(object: KubeObject): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
