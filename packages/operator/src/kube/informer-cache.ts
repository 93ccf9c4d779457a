import type { KubeObject } from "./kube-client.ts";

/** The pending change of a key: the present object, or null when it is gone. */
export type Pending<T> = { readonly object: T | null };

/** Differences between a full list and the cache. */
export interface Differences<T> {
  readonly changed: readonly T[];
  readonly gone: readonly string[];
}

export const keyOf = ({ metadata: { namespace, name } }: KubeObject): string =>
  namespace ? `${namespace}/${name}` : name;

/**
 * Stores objects whose handler succeeded, and separately the changes since then. A handler that fails gets its change
 * again, with the newest state.
 */
export class InformerCache<T extends KubeObject> {
  readonly #handled = new Map<string, T>();
  readonly #pending = new Map<string, Pending<T>>();

  get(key: string): T | undefined {
    return this.#handled.get(key);
  }

  list(): readonly T[] {
    return [...this.#handled.values()];
  }

  pending(key: string): Pending<T> | undefined {
    return this.#pending.get(key);
  }

  changed(object: T): string {
    const key = keyOf(object);
    this.#pending.set(key, { object });
    return key;
  }

  sawGone(object: T): string {
    const key = keyOf(object);
    this.#pending.set(key, { object: null });
    return key;
  }

  /** Takes in a whole list and tells what it shows that was not seen before. */
  sawAll(objects: readonly T[]): Differences<T> {
    const listed = new Set(objects.map(keyOf));
    const changed = objects.filter((object) => this.same(object) === undefined);
    const gone = this.#keysNotGone().filter((key) => !listed.has(key));
    for (const object of changed) this.changed(object);
    for (const key of gone) this.#pending.set(key, { object: null });
    return { changed, gone };
  }

  /** The latest state that was seen of an object, if it has this version. */
  same(object: T): T | undefined {
    const key = keyOf(object);
    const pending = this.#pending.get(key);
    const latest = (pending ? pending.object : this.#handled.get(key)) ?? undefined;
    const { resourceVersion, uid } = object.metadata;
    const isSame = latest?.metadata.resourceVersion === resourceVersion && latest?.metadata.uid === uid;
    return isSame ? latest : undefined;
  }

  /** The handler succeeded with this; something newer may be pending already. */
  handled(key: string, done: Pending<T>): void {
    if (done.object) this.#handled.set(key, done.object);
    else this.#handled.delete(key);
    if (this.#pending.get(key) === done) this.#pending.delete(key);
  }

  #keysNotGone(): string[] {
    const keys = new Set([...this.#handled.keys(), ...this.#pending.keys()]);
    return [...keys].filter((key) => this.#pending.get(key)?.object !== null);
  }
}

/**
 * How many of the differences a watch should have shown that claims to have shown everything up to a version. What has
 * changed since is not a miss; of what is gone the list cannot say since when.
 */
export function missedBy(seenUpTo: string, { changed, gone }: Differences<KubeObject>): number {
  return gone.length + changed.filter(({ metadata }) => isUpTo(seenUpTo, metadata.resourceVersion)).length;
}

/** Versions that are not numbers cannot be compared. */
function isUpTo(limit: string, version = ""): boolean {
  return /^\d+$/.test(limit) && /^\d+$/.test(version) && BigInt(version) <= BigInt(limit);
}

const RELIST_MS = 3_600_000;

/** A quarter sooner or later than an hour: informers that start together do not list together ever after. */
export const relistAfterMs = (random: number): number => Math.round(RELIST_MS * (0.75 + random / 2));

/** How long to wait before the next try: nothing at first, then anything up to a limit that doubles. */
export function reconnectMs(failures: number, random: number): number {
  return failures === 0 ? 0 : random * Math.min(500 * 2 ** Math.min(failures - 1, 10), 30_000);
}
