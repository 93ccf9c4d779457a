import type { DesiredKind, LinkSettings } from "@binnacle/contract";
import { isOurs } from "../desired/ownership.ts";
import { addressOf } from "../desired/stored-kind.ts";
import { type Informer, startInformer } from "../kube/informer.adapter.ts";
import type { KubeObject } from "../kube/kube-client.ts";
import { isPermanent, KubeError } from "../kube/kube-error.ts";
import { createWorkQueue, type WorkQueue } from "../kube/work-queue.ts";
import {
  createFinder,
  type DispatchedKind,
  type Found,
  type Pass,
  type ReconcilerPorts,
  type Watch,
  type Work,
} from "./kind.ts";

const LONGEST_RETRY_MS = 60_000;

/** Reconciles the resources of one kind and reports their status. */
export interface Reconciler {
  start(): void;
  /** Reconciles one resource once. Returns when to do so again; null for never. */
  reconcile(key: string): Promise<number | null>;
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
  const { kube, view, sink, clock, log, clusterId, traces } = ports;
  const finder = createFinder(view, kind.kind);
  const endings: (() => void)[] = [];
  let informers: readonly { readonly watch: Watch; readonly informer: Informer<KubeObject> }[] = [];
  let queue: WorkQueue | null = null;

  const work: Work = {
    enqueue: (key, afterMs = 0) => queue?.add(key, { afterMs }),
    enqueueIn(namespace) {
      for (const { key, spec } of view.list(kind.kind)) if (spec.namespace === namespace) queue?.add(key);
    },
    cached: (type) => informers.find(({ watch }) => watch.type === type)?.informer.list() ?? [],
  };
  const own = kind.reconciler(ports, work);

  async function find(key: string): Promise<Found<K> | null> {
    if (!own.readsStatus) return finder.find(key);
    const resource = view.get(kind.kind, key);
    const address = addressOf(kind, key);
    const holder = resource && address && (await kube.get(kind.holder, address.name, address.namespace));
    return resource && holder && isOurs(holder, clusterId) ? { resource, holder } : null;
  }

  async function reconcile(key: string): Promise<number | null> {
    const found = await find(key);
    if (!found) {
      own.forget?.(key);
      return null;
    }
    const span = traces?.reconciling(kind.kind, found.resource) ?? null;
    try {
      const pass = await (found.resource.isDeleting ? own.remove(found) : own.apply(found));
      span?.end();
      report(found, pass);
      return pass.requeueAfterMs;
    } catch (error) {
      span?.end("The resource could not be reconciled.");
      const rejected = error instanceof KubeError && isPermanent(error) ? own.rejected(found, error) : null;
      if (rejected) report(found, { report: rejected, requeueAfterMs: null });
      throw error;
    }
  }

  function report({ resource }: Found<K>, pass: Pass<K>): void {
    if (!pass.report) return;
    const isGone = "state" in pass.report && pass.report.state === "gone";
    if (isGone) {
      finder.forget(resource.key);
      own.forget?.(resource.key);
    }
    sink.report(kind.kind, { ...resource, generation: pass.generation ?? resource.generation }, pass.report);
  }

  async function run(key: string): Promise<void> {
    const requeueAfterMs = await reconcile(key);
    if (requeueAfterMs !== null) queue?.add(key, { afterMs: requeueAfterMs });
  }

  function resync(): void {
    for (const { key } of view.list(kind.kind)) queue?.add(key);
  }

  function follow(watch: Watch): Informer<KubeObject> {
    const { type, labelSelector, trim, afterMs = 0 } = watch;
    const informer: Informer<KubeObject> = startInformer({
      client: kube,
      type,
      labelSelector,
      ...(trim ? { trim } : {}),
      log,
      onChange(name, object) {
        const key = watch.keyOf(name, object, informer.get(name));
        if (key !== null) queue?.add(key, { afterMs });
      },
    });
    return informer;
  }

  return {
    start() {
      queue = createWorkQueue({
        run,
        clock,
        ...(own.concurrency ? { concurrency: own.concurrency } : {}),
        firstRetryMs: own.firstRetryMs,
        longestRetryMs: LONGEST_RETRY_MS,
        onError: (key, err, retryMs) => log.warn({ err, key, retryMs }, "a resource could not be reconciled"),
      });
      endings.push(
        view.onChange(kind.kind, (key) => queue?.add(key)),
        ...(own.subscribe?.() ?? []),
      );
      informers = own.watches.map((watch) => ({ watch, informer: follow(watch) }));
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
