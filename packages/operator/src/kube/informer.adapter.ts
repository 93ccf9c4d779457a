import { setTimeout as pause } from "node:timers/promises";
import { InformerCache, keyOf, missedBy, reconnectMs, relistAfterMs } from "./informer-cache.ts";
import type { KubeClient, KubeObject, ResourceType, WatchEvent } from "./kube-client.ts";
import { KubeError } from "./kube-error.ts";
import { realClock } from "./real-clock.adapter.ts";
import { createWorkQueue, type WorkQueue } from "./work-queue.ts";

/** A watch that lived so long worked; one that ends sooner, however politely, is not begun again at once. */
const HEALTHY_WATCH_MS = 5_000;

export interface InformerLog {
  warn(fields: object, message: string): void;
  info(fields: object, message: string): void;
}

export interface InformerOptions<T extends KubeObject> {
  readonly client: Pick<KubeClient, "list" | "watch">;
  readonly type: ResourceType;
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Null means gone. Called again, later and with the newest state, when it fails. */
  readonly onChange: (key: string, object: T | null) => Promise<void> | void;
  /** Reduces an object to the fields that are needed, which saves memory in large clusters. */
  readonly trim?: (object: T) => T;
  /** Only the metadata of objects is read, which is a small part of most. */
  readonly isMetadataOnly?: boolean;
  /**
   * Lists come from the memory of the API server and may be a moment behind, also behind what was seen before; the watch that follows
   * makes up for it. For readers to whom an old state does no harm. Without it, API servers before 1.31 read every object of the kind
   * from etcd, whatever the selector.
   */
  readonly mayBeStale?: boolean;
  readonly log: InformerLog;
  readonly concurrency?: number;
  readonly firstRetryMs?: number;
  readonly relistMs?: number;
  readonly inactivityMs?: number;
  /** Spreads the tries of many operators after an outage. */
  readonly random?: () => number;
}

export interface Informer<T extends KubeObject> {
  /** Only objects that `onChange` has taken. */
  get(key: string): T | undefined;
  list(): readonly T[];
  /** Resolves when `onChange` was called for every object that was there at the start, or when it is stopped. */
  readonly synced: Promise<void>;
  /** Changes that only a full list showed, though the watch seemed to work. */
  readonly missed: number;
  stop(): Promise<void>;
}

/** Keeps up with all objects of a kind, whatever happens to the connection or the server. */
export function startInformer<T extends KubeObject>(options: InformerOptions<T>): Informer<T> {
  const { type, onChange, log, concurrency, firstRetryMs } = options;
  const cache = new InformerCache<T>();
  const stopping = new AbortController();
  const synced = Promise.withResolvers<void>();
  let untried: Set<string> | null = null;

  const queue: WorkQueue = createWorkQueue({
    clock: realClock,
    ...given({ concurrency, firstRetryMs }),
    async run(key) {
      const pending = cache.pending(key);
      try {
        if (!pending) return;
        await onChange(key, pending.object);
        cache.handled(key, pending);
      } finally {
        untried?.delete(key);
        if (untried?.size === 0) synced.resolve();
      }
    },
    onError: (key, err, retryMs) => log.warn({ err, key, retryMs }, `a change of a ${type.kind} could not be handled`),
  });

  function listed(keys: readonly string[]): void {
    untried ??= new Set(keys);
    if (untried.size === 0) synced.resolve();
    for (const key of keys) queue.add(key);
  }

  const follower = createFollower({ ...options, cache, listed, changed: (key) => queue.add(key) });
  const running = follower.run(stopping.signal);
  return {
    get: (key) => cache.get(key),
    list: () => cache.list(),
    synced: synced.promise,
    get missed() {
      return follower.missed();
    },
    async stop() {
      stopping.abort();
      await running;
      await queue.stop();
      synced.resolve();
    },
  };
}

interface FollowerOptions<T extends KubeObject> extends InformerOptions<T> {
  readonly cache: InformerCache<T>;
  /** Called after each list with the keys of what has changed. */
  readonly listed: (keys: readonly string[]) => void;
  readonly changed: (key: string) => void;
}

/** Lists and watches the objects of a kind into the cache. */
function createFollower<T extends KubeObject>(options: FollowerOptions<T>) {
  const { client, type, cache, listed, changed, log, relistMs, random = Math.random } = options;
  const { namespace, labelSelector, fieldSelector, inactivityMs, isMetadataOnly, mayBeStale } = options;
  const { trim = (object: T) => object } = options;
  const selection = given({ namespace, labelSelector, fieldSelector, isMetadataOnly });
  let resourceVersion: string | null = null;
  let missed = 0;
  let isDown = false;

  /** Compares with what a watch has shown, where one worked until now. */
  async function relist(seenUpTo: string | null, signal: AbortSignal): Promise<void> {
    const list = await client.list<T>(type, {
      ...selection,
      ...given({ mayBeStale }),
      // What has not changed is not kept twice while the list is read.
      trim: (object) => cache.same(object) ?? trim(object),
      signal,
    });
    const differences = cache.sawAll(list.items);
    resourceVersion = list.resourceVersion;
    const missing = seenUpTo === null ? 0 : missedBy(seenUpTo, differences);
    missed += missing;
    if (missing > 0) log.warn({ kind: type.kind, missed: missing }, "a list shows changes that the watch has missed");
    listed([...differences.changed.map(keyOf), ...differences.gone]);
  }

  async function follow(from: string, signal: AbortSignal): Promise<void> {
    const events = client.watch<T>(type, { ...selection, ...given({ inactivityMs }), resourceVersion: from, signal });
    for await (const event of events) take(event);
  }

  function take(event: WatchEvent<T>): void {
    if (event.type === "ERROR") throw event.error;
    works();
    if (event.type === "BOOKMARK") {
      resourceVersion = event.resourceVersion;
      return;
    }
    resourceVersion = event.object.metadata.resourceVersion ?? resourceVersion;
    const object = trim(event.object);
    changed(event.type === "DELETED" ? cache.sawGone(object) : cache.changed(object));
  }

  function works(): void {
    if (isDown) log.info({ kind: type.kind }, "a watch works again");
    isDown = false;
  }

  /** Says it once per outage. */
  function fails(err: unknown): void {
    // The server no longer knows the version to go on from: only a list can tell what has changed.
    if (err instanceof KubeError && err.status === 410) resourceVersion = null;
    else if (!isDown) log.warn({ err, kind: type.kind }, "a watch has failed; it is retried");
    isDown = true;
  }

  async function run(stopping: AbortSignal): Promise<void> {
    let failures = 0;
    let isRelistDue = AbortSignal.abort();
    while (!stopping.aborted) {
      const beganAt = performance.now();
      let isPlannedEnd = false;
      try {
        if (resourceVersion === null || isRelistDue.aborted) {
          await relist(isDown ? null : resourceVersion, stopping);
          isRelistDue = AbortSignal.timeout(relistMs ?? relistAfterMs(random()));
          works();
        }
        await follow(resourceVersion ?? "", AbortSignal.any([stopping, isRelistDue]));
        isPlannedEnd = isRelistDue.aborted;
      } catch (error) {
        if (!stopping.aborted) fails(error);
      }
      failures = isPlannedEnd || performance.now() - beganAt >= HEALTHY_WATCH_MS ? 0 : failures + 1;
      await pause(reconnectMs(failures, random()), null, { signal: stopping }).catch(() => undefined);
    }
  }

  return { run, missed: () => missed };
}

/** Without the fields that are not there. */
function given<F extends object>(fields: F): { readonly [N in keyof F]?: Exclude<F[N], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
