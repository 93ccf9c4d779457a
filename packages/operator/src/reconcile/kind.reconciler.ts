import type { DesiredKind, Gone, LinkSettings, Reports } from "@binnacle/contract";
import type { DesiredView } from "../desired/desired-state.ts";
import { isOurs } from "../desired/ownership.ts";
import { addressOf } from "../desired/stored-kind.ts";
import { type Informer, startInformer } from "../kube/informer.adapter.ts";
import { keyOf } from "../kube/informer-cache.ts";
import type { KubeObject, ResourceType } from "../kube/kube-client.ts";
import { isPermanent, KubeError } from "../kube/kube-error.ts";
import { splitApiVersion } from "../kube/kube-path.ts";
import { nameplate } from "../kube/object-fields.ts";
import { SECRETS } from "../kube/resource-types.ts";
import { createWorkQueue, type WorkQueue } from "../kube/work-queue.ts";
import { isSuspended } from "../project/suspended.ts";
import {
  createFinder,
  type DispatchedKind,
  type Found,
  type KindReconciler,
  type Pass,
  type ReconcilerPorts,
  type Watch,
  type Work,
} from "./kind.ts";
import type { ReconcileMetrics } from "./metrics.ts";
import { createResourceStatus } from "./resource-status.store.ts";

const LONGEST_RETRY_MS = 60_000;
/** The API server fails once in a while, and then the next run is right. */
const FAILURES_TO_REPORT = 3;

/**
 * Why people are told of a failure; null where only the log is. One that the API server answers again and again may last: mostly a webhook
 * of the cluster is down, and nobody else would say so. An API server that does not answer says nothing about a resource.
 */
function reasonToReport(error: unknown, failedBefore: number): "RefusedByCluster" | "ClusterError" | null {
  if (!(error instanceof KubeError)) return null;
  if (isPermanent(error)) return "RefusedByCluster";
  return error.status >= 500 && failedBefore + 1 >= FAILURES_TO_REPORT ? "ClusterError" : null;
}

/** Reconciles the resources of one kind and reports their status. */
export interface Reconciler {
  start(): void;
  /** Reconciles one resource once. Returns when to do so again; null for never. */
  reconcile(key: string, failedBefore?: number): Promise<number | null>;
  /** Queues every resource. */
  resync(): void;
  settings(settings: LinkSettings): void;
  /** Waits for the runs in progress. */
  stop(): Promise<void>;
}

/** Queue, informers, retries and status reports are the same for every kind. The rest is the kind's own description. */
export function reconcilerFor<K extends DesiredKind, P extends ReconcilerPorts>(
  kind: DispatchedKind<K, P>,
  ports: P,
): Reconciler {
  const { view, sink, traces, projectRights } = ports;
  const finder = createFinder(view, kind.kind);
  const endings: (() => void)[] = [];
  const holders = createHolders(kind, ports);
  let informers: readonly Followed[] = [];
  let queue: WorkQueue | null = null;
  const work = workOn({
    keysIn: (namespace) => view.list(kind.kind).flatMap(({ key, spec }) => (spec.namespace === namespace ? [key] : [])),
    add: (key, afterMs) => queue?.add(key, { afterMs }),
    informers: () => informers,
    wrote: holders.wrote,
  });
  const own = kind.reconciler(ports, work);
  const status = createStatusWriter(kind, ports, { holders, readsStatus: own.readsStatus });

  async function reconcile(key: string, failedBefore = 0): Promise<number | null> {
    const found = own.readsStatus ? await holders.find(key) : finder.find(key);
    if (!found) {
      forget(key);
      return null;
    }
    const span = traces?.reconciling(kind.kind, found.resource) ?? null;
    // Kinds without a namespace make it.
    const place = kind.holder.namespaced ? found.resource.spec.namespace : null;
    try {
      if (place !== null) await projectRights.ready(place);
      const pass = await passOver(own, view, found);
      await status.write(found, pass);
      span?.end();
      report(found, pass);
      pass.onReported?.();
      return pass.requeueAfterMs;
    } catch (error) {
      span?.end("The resource could not be reconciled.");
      // Something may have been written all the same.
      holders.forget(key);
      if (place !== null && error instanceof KubeError && error.status === 403) projectRights.doubt(place);
      const reason = reasonToReport(error, failedBefore);
      const rejected = reason && own.rejected(found, error as KubeError, reason);
      const pass = { report: rejected, requeueAfterMs: null };
      if (rejected) await status.tryWrite(found, pass);
      report(found, pass);
      throw error;
    }
  }

  function forget(key: string): void {
    holders.forget(key);
    status.forget(key);
    own.forget?.(key);
  }

  function report({ resource }: Found<K>, pass: Pass<K>): void {
    if (!pass.report || hasVanished(view, kind.kind, resource)) return;
    if (isGone(pass.report)) {
      finder.forget(resource.key);
      forget(resource.key);
    }
    sink.report(kind.kind, { ...resource, generation: pass.generation ?? resource.generation }, pass.report);
  }

  function resync(): void {
    for (const { key } of view.list(kind.kind)) queue?.add(key);
  }

  return {
    start() {
      queue = openQueue(ports, kind.kind, own, reconcile);
      endings.push(
        view.onChange(kind.kind, (key) => queue?.add(key)),
        ...(own.subscribe?.() ?? []),
      );
      informers = own.watches.map((watch) => ({ watch, informer: follow(ports, watch, work.enqueue) }));
      resync();
    },
    reconcile,
    resync,
    settings(settings) {
      if (own.settings?.(settings)) resync();
    },
    async stop() {
      for (const end of endings.splice(0)) end();
      await Promise.all([...informers.map(({ informer }) => informer.stop()), queue?.stop()]);
    },
  };
}

const isGone = (report: Reports[DesiredKind] | Gone): report is Gone => "state" in report && report.state === "gone";
function passOver<K extends DesiredKind>(own: KindReconciler<K>, view: DesiredView, found: Found<K>): Promise<Pass<K>> {
  if (isSuspended(view, found.resource)) return own.observe(found);
  return found.resource.isDeleting ? own.remove(found) : own.apply(found);
}

interface Followed {
  readonly watch: Watch;
  readonly informer: Informer<KubeObject>;
}

function workOn({
  keysIn,
  add,
  informers,
  wrote,
}: {
  readonly keysIn: (namespace: string) => readonly string[];
  readonly add: (key: string, afterMs: number) => void;
  readonly informers: () => readonly Followed[];
  readonly wrote: Work["wrote"];
}): Work {
  const following = (isIt: (type: ResourceType) => boolean) =>
    informers().find(({ watch }) => isIt(watch.type))?.informer ?? null;
  return {
    enqueue: (key, afterMs = 0) => add(key, afterMs),
    enqueueIn(namespace) {
      for (const key of keysIn(namespace)) add(key, 0);
    },
    cached: (type) => following((one) => one === type)?.list() ?? [],
    seen: (object) => following((type) => isOfType(object, type))?.get(keyOf(object)) ?? null,
    wrote,
  };
}

function openQueue(
  { clock, log, metrics }: ReconcilerPorts,
  kind: DesiredKind,
  { concurrency, firstRetryMs }: Pick<KindReconciler, "concurrency" | "firstRetryMs">,
  reconcile: Reconciler["reconcile"],
): WorkQueue {
  const queue = createWorkQueue({
    async run(key, failedBefore) {
      const requeueAfterMs = await measured(kind, { clock, metrics }, () => reconcile(key, failedBefore));
      if (requeueAfterMs !== null) queue.add(key, { afterMs: requeueAfterMs });
    },
    clock,
    ...(concurrency ? { concurrency } : {}),
    firstRetryMs,
    longestRetryMs: LONGEST_RETRY_MS,
    onError: (key, err, retryMs) => log.warn({ err, key, retryMs }, "a resource could not be reconciled"),
  });
  metrics?.queue(kind, () => queue.depth);
  return queue;
}

/** Counts a run with its duration and whether it failed. */
async function measured<T>(
  kind: DesiredKind,
  { clock, metrics }: { readonly clock: ReconcilerPorts["clock"]; readonly metrics: ReconcileMetrics | undefined },
  run: () => Promise<T>,
): Promise<T> {
  const startMs = clock.now();
  const count = (hasFailed: boolean) => metrics?.reconciled(kind, clock.now() - startMs, hasFailed);
  try {
    const result = await run();
    count(false);
    return result;
  } catch (error) {
    count(true);
    throw error;
  }
}

const isOfType = ({ apiVersion, kind }: KubeObject, type: ResourceType): boolean =>
  type.kind === kind && type.group === splitApiVersion(apiVersion).group;

const versionOf = ({ metadata: { uid, resourceVersion } }: KubeObject): string => `${uid} ${resourceVersion}`;

/** The removal of a resource that vanished during a run has reported it as gone, which nothing older must replace. */
const hasVanished = (
  view: Pick<DesiredView, "holder">,
  kind: DesiredKind,
  { isDeleting, key }: Found["resource"],
): boolean => !isDeleting && !view.holder(kind, key);

/** Writes the result of a run into the status of its custom resource. Secrets that hold a resource have no status. */
function createStatusWriter<K extends DesiredKind, P extends ReconcilerPorts>(
  kind: DispatchedKind<K, P>,
  ports: P,
  { holders, readsStatus }: { readonly holders: ReturnType<typeof createHolders>; readonly readsStatus: boolean },
) {
  const status = createResourceStatus(ports, kind);

  async function write(found: Found<K>, { report, status: fields = {} }: Pass<K>): Promise<void> {
    const { resource, observedGeneration } = found;
    if (kind.holder === SECRETS || report === null || isGone(report)) return;
    if (hasVanished(ports.view, kind.kind, resource)) return;
    const holder = readsStatus ? found.holder : await holders.newest(resource.key, found.holder);
    if (holder === null) return;
    const written = await status.write(resource.key, { holder, observedGeneration, report, fields });
    if (written !== null) holders.wrote(resource.key, written);
  }

  /** The cluster may refuse this as well, and the hub is told in any case. */
  async function tryWrite(found: Found<K>, pass: Pass<K>): Promise<void> {
    await write(found, pass).catch((err: unknown) => {
      ports.log.warn({ err, key: found.resource.key }, "the status of a resource could not be written");
    });
  }
  return { write, tryWrite, forget: status.forget };
}

/** Finds custom resources with a status that is no older than our last write. */
function createHolders<K extends DesiredKind, P extends ReconcilerPorts>(
  kind: DispatchedKind<K, P>,
  { kube, view, clusterId }: ReconcilerPorts,
) {
  /** As they were last read or written. One in the view with another version may lack what was written. */
  const versions = new Map<string, string>();

  async function read(key: string): Promise<Found<K> | null> {
    const resource = view.get(kind.kind, key);
    const observedGeneration = view.holder(kind.kind, key)?.metadata.generation;
    const address = addressOf(kind, key);
    const holder = resource && address && (await kube.get(kind.holder, address.name, address.namespace));
    if (!resource || !holder || !isOurs(holder, clusterId)) return null;
    versions.set(key, versionOf(holder));
    return { resource, holder, observedGeneration };
  }

  return {
    async find(key: string): Promise<Found<K> | null> {
      const resource = view.get(kind.kind, key);
      const holder = view.holder(kind.kind, key);
      const isCurrent = resource && holder && !resource.isDeleting && versions.get(key) === versionOf(holder);
      return isCurrent ? { resource, holder, observedGeneration: holder.metadata.generation } : read(key);
    },
    /** With the status that was written last, also where the view has not seen that yet; null where it is gone. */
    async newest(key: string, seen: KubeObject): Promise<KubeObject | null> {
      const known = versions.get(key);
      const isCurrent = known === undefined || known === versionOf(seen);
      const holder = isCurrent ? seen : await kube.get(kind.holder, seen.metadata.name, seen.metadata.namespace);
      if (holder?.metadata.uid !== seen.metadata.uid || !holder) return null;
      versions.set(key, versionOf(holder));
      return holder;
    },
    wrote: (key: string, holder: KubeObject) => void versions.set(key, versionOf(holder)),
    forget: (key: string) => void versions.delete(key),
  };
}

function follow({ kube, log }: ReconcilerPorts, watch: Watch, enqueue: Work["enqueue"]): Informer<KubeObject> {
  const { type, labelSelector, labels = [], afterMs = 0 } = watch;
  const informer: Informer<KubeObject> = startInformer({
    client: kube,
    type,
    labelSelector,
    trim: (object) => nameplate(object, { labels }),
    isMetadataOnly: true,
    // It only says what to look at.
    mayBeStale: true,
    log,
    onChange(name, object) {
      const key = watch.keyOf(name, object, informer.get(name));
      if (key !== null) enqueue(key, afterMs);
    },
  });
  return informer;
}
