import { canonicalJson, DESIRED_KINDS, type DesiredKind } from "@binnacle/contract";
import { type Informer, type InformerLog, startInformer } from "../kube/informer.adapter.ts";
import type { KubeClient, KubeObject, ResourceType } from "../kube/kube-client.ts";
import { DESIRED_SECRETS, SECRETS } from "../kube/resource-types.ts";
import type { Clock } from "../kube/work-queue.ts";
import { storedIn } from "./custom-resource.ts";
import type { DesiredView, StoredResource } from "./desired-state.ts";
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

export interface RunningView extends DesiredView {
  /** Resolves when everything that was there at the start is seen. */
  readonly synced: Promise<void>;
  stop(): Promise<void>;
}

const DAMAGED_AFTER_MS = 10_000;

type Listener = (key: string) => void;

/** Watches the objects that hold desired state, and no others. */
export function startDesiredView(ports: DesiredViewPorts): RunningView {
  const { kube, kinds, clusterId, clock, log, onDamaged } = ports;
  const holders = new Map<string, KubeObject>();
  const companions = new Map<string, KubeObject>();
  const stored = new Map<string, StoredResource | null>();
  const signatures = new Map<string, string>();
  const timers = new Map<string, () => void>();
  const listeners = new Map<DesiredKind, Set<Listener>>(DESIRED_KINDS.map((kind) => [kind, new Set<Listener>()]));

  function refresh(address: Address): void {
    const key = keyAt(address);
    const before = signatures.get(key);
    const holder = holders.get(key);
    if (!holder) stored.delete(key);
    else {
      const companion = companions.get(`${address.namespace}/${companionName(address)}`) ?? null;
      stored.set(key, storedIn(address, holder, companion));
    }
    if (holder) signatures.set(key, `${signatureOf(holder)} ${stored.get(key) !== null}`);
    else signatures.delete(key);
    if (stored.get(key) === null) reportLater(key);
    if (signatures.get(key) === before) return;
    for (const listener of listeners.get(address.kind.kind) ?? []) listener(key);
  }

  /** Its companion, which is followed apart from it, may be seen a moment later. */
  function reportLater(key: string): void {
    if (timers.has(key)) return;
    const look = () => {
      timers.delete(key);
      if (stored.get(key) !== null) return;
      log.warn({ key }, "a stored resource was changed by somebody else and is ignored until the hub sends it again");
      onDamaged?.(key);
    };
    timers.set(key, clock.after(DAMAGED_AFTER_MS, look));
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

  const follow = (
    type: ResourceType,
    onChange: (name: string, object: KubeObject | null) => void,
    fieldSelector?: string,
  ) =>
    startInformer({
      client: kube,
      type,
      labelSelector: ownSelector(clusterId),
      ...(fieldSelector ? { fieldSelector } : {}),
      trim: withoutManagers,
      log,
      onChange,
    });
  const informers: readonly Informer<KubeObject>[] = [
    follow(SECRETS, onSecret, DESIRED_SECRETS),
    ...kinds
      .map(({ holder }) => holder)
      .filter((type) => type !== SECRETS)
      .map((type) => follow(type, (name, object) => onHolder(type, name, object))),
  ];
  const synced = Promise.all(informers.map((informer) => informer.synced)).then(() => undefined);

  return {
    get: (_kind, key) => (stored.get(key) as never) ?? null,
    list: (kind) => [...stored.values()].filter((resource) => resource?.kind === kind) as never,
    holder: (_kind, key) => holders.get(key) ?? null,
    onChange(kind, listener) {
      listeners.get(kind)?.add(listener);
      return () => listeners.get(kind)?.delete(listener);
    },
    synced,
    async stop() {
      for (const cancel of timers.values()) cancel();
      await Promise.all(informers.map((informer) => informer.stop()));
    },
  };
}

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
