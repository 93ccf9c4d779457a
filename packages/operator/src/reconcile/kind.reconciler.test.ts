import type { DesiredKind, LinkSettings } from "@binnacle/contract";
import { expect, test, vi } from "vitest";
import type { StoredResource } from "../desired/desired-state.ts";
import { applyProject } from "../desired/frames.fixture.ts";
import { ownLabels } from "../desired/ownership.ts";
import type { KubeClient, KubeObject } from "../kube/kube-client.ts";
import { KubeError } from "../kube/kube-error.ts";
import { PROJECTS } from "../kube/resource-types.ts";
import { ALL_RIGHTS } from "../project/project-rights.store.ts";
import { reconcilerFor } from "./kind.reconciler.ts";
import type { DispatchedKind, KindReconciler, Pass, Work } from "./kind.ts";

type Change = (key: string) => void;

/** Two projects in a view, and a kind whose behaviour each test sets. Time passes when a test says so. */
function loop(own: Partial<KindReconciler<"project">> = {}, resource: Partial<StoredResource<"project">> = {}) {
  const { body, ...frame } = applyProject();
  const stored = (key: string) =>
    ({ ...frame, key, ...body, isDeleting: false, ...resource }) as StoredResource<"project">;
  const resources = new Map(["project/a", "project/b"].map((key) => [key, stored(key)]));
  const listeners = new Set<Change>();
  const timers: { readonly ms: number; readonly run: () => void }[] = [];
  const sink = { report: vi.fn() };
  const metrics = { reconciled: vi.fn(), queue: vi.fn(), helm: vi.fn(), watches: vi.fn() };
  const done: Pass<"project"> = { report: { state: "ready", message: null }, requeueAfterMs: null };
  const kind: DispatchedKind<"project"> = {
    kind: "project",
    holder: PROJECTS,
    nameIn: (namespace) => namespace,
    companionPrefix: null,
    emptySecret: {},
    nameTaken: (message) => ({ state: "apply_failed", message }),
    reconciler: (_, work) => Object.assign(described, { work }),
  };
  const described = {
    firstRetryMs: 500,
    readsStatus: false,
    watches: [],
    apply: vi.fn(async () => done),
    observe: vi.fn(async () => done),
    remove: vi.fn(async (): Promise<Pass<"project">> => ({ report: { state: "gone" }, requeueAfterMs: null })),
    rejected: vi.fn((_, { message }: KubeError) => ({ state: "apply_failed", message }) as const),
    forget: vi.fn(),
    work: null as Work | null,
    ...own,
  };
  const holder = (): KubeObject => ({
    apiVersion: "v1",
    kind: "Project",
    metadata: { name: "a", labels: ownLabels("c"), resourceVersion: "1" },
  });
  /** `stored`: what the API server has; the cached one is followed from it. */
  const holders = { cached: holder(), stored: holder() };
  const get = vi.fn(async () => holders.stored);
  const patchStatus = vi.fn(async (...[, , , status]: Parameters<KubeClient["patchStatus"]>): Promise<KubeObject> => {
    const { metadata } = holders.stored;
    const resourceVersion = String(Number(metadata.resourceVersion) + 1);
    const written = { ...holders.stored, metadata: { ...metadata, resourceVersion }, status };
    Object.assign(holders, { stored: written, cached: written });
    return written;
  });
  const create = vi.fn(async (event: KubeObject) => event);
  const reconciler = reconcilerFor(kind, {
    kube: { get, patchStatus, create } as unknown as KubeClient,
    nowMs: () => 0,
    view: {
      get: (_kind: DesiredKind, key: string) => (resources.get(key) ?? null) as never,
      list: () => [...resources.values()] as never,
      holder: (_kind, key) => (resources.has(key) ? holders.cached : null),
      onChange(_kind, listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    sink,
    projectRights: ALL_RIGHTS,
    clock: {
      now: () => 0,
      after(ms, run) {
        timers.push({ ms, run });
        return () => undefined;
      },
    },
    log: { info: () => undefined, warn: () => undefined },
    clusterId: "c",
    metrics,
  });
  const applied = () => described.apply as ReturnType<typeof vi.fn<KindReconciler<"project">["apply"]>>;
  return {
    reconciler,
    described,
    applied,
    resources,
    listeners,
    timers,
    sink,
    metrics,
    holders,
    get,
    patchStatus,
    create,
  };
}

const HEAL: LinkSettings = { drift_policy: "heal" };

test("[OL24] a resync reconciles every resource, and so do settings that a kind depends on", async () => {
  const { reconciler, applied, described } = loop({
    settings: vi.fn().mockReturnValueOnce(true).mockReturnValue(false),
  });
  reconciler.start();
  await vi.waitFor(() => expect(applied()).toHaveBeenCalledTimes(2));
  reconciler.resync();
  await vi.waitFor(() => expect(applied()).toHaveBeenCalledTimes(4));
  reconciler.settings(HEAL);
  await vi.waitFor(() => expect(applied()).toHaveBeenCalledTimes(6));
  reconciler.settings(HEAL);
  await reconciler.stop();
  expect(applied()).toHaveBeenCalledTimes(6);
  expect(described.settings).toHaveBeenCalledTimes(2);
});

test("[OD42] a resource is reconciled when it changes, and no more once the reconciler has stopped", async () => {
  const { reconciler, applied, listeners } = loop();
  reconciler.start();
  await vi.waitFor(() => expect(applied()).toHaveBeenCalledTimes(2));
  for (const listener of listeners) listener("project/b");
  await vi.waitFor(() => expect(applied()).toHaveBeenCalledTimes(3));
  await reconciler.stop();
  expect(listeners.size).toBe(0);
});

test("[OD42] a run reports its result, and the resource is reconciled again when the run asks for it", async () => {
  const report = { state: "apply_failed", message: "not yet" } as const;
  const { reconciler, sink, timers, applied } = loop({ apply: vi.fn(async () => ({ report, requeueAfterMs: 1_234 })) });
  reconciler.start();
  await vi.waitFor(() => expect(timers.map(({ ms }) => ms)).toEqual([1_234, 1_234]));
  expect(sink.report).toHaveBeenCalledWith("project", expect.objectContaining({ key: "project/a" }), report);
  timers[0]?.run();
  await vi.waitFor(() => expect(applied()).toHaveBeenCalledTimes(3));
  await reconciler.stop();
});

test("[OD42] an answer that a retry cannot change is reported and retried; any other failure is only retried", async () => {
  const error = (status: number) => new KubeError({ status, reason: "x", message: `status ${status}` });
  const apply = vi.fn().mockRejectedValueOnce(error(403)).mockRejectedValue(error(503));
  const { reconciler, sink, timers } = loop({ apply });
  reconciler.start();
  await vi.waitFor(() => expect(timers.map(({ ms }) => ms)).toEqual([500, 500]));
  expect(sink.report.mock.calls.map(([, , report]) => report)).toEqual([
    { state: "apply_failed", message: "status 403" },
  ]);
  await reconciler.stop();
});

test("[OD51] a failure that is reported is in the status too, and one that is not leaves the status as it is", async () => {
  const error = (status: number) => new KubeError({ status, reason: "x", message: `status ${status}` });
  const apply = vi.fn().mockRejectedValueOnce(error(503)).mockRejectedValue(error(403));
  const { reconciler, patchStatus, create, sink } = loop({ apply });
  await expect(reconciler.reconcile("project/a")).rejects.toThrow("status 503");
  expect(patchStatus).not.toHaveBeenCalled();
  await expect(reconciler.reconcile("project/a")).rejects.toThrow("status 403");
  expect(patchStatus.mock.lastCall?.[3]).toMatchObject({
    phase: "apply_failed",
    message: "status 403",
    conditions: [{ type: "Ready", status: "False" }, {}, { type: "Stalled", status: "True" }],
  });
  expect(create.mock.calls.map(([event]) => event["reason"])).toEqual(["ApplyFailed"]);
  patchStatus.mockRejectedValue(error(500));
  apply.mockRejectedValue(error(422));
  await expect(reconciler.reconcile("project/a")).rejects.toThrow("status 422");
  expect(sink.report).toHaveBeenCalledTimes(2);
});

test("[OD50] [OD52] a run that finds the same writes no status and no event", async () => {
  const { reconciler, patchStatus, create } = loop();
  for (let run = 0; run < 3; run += 1) await reconciler.reconcile("project/a");
  expect(patchStatus).toHaveBeenCalledTimes(1);
  expect(create).toHaveBeenCalledTimes(1);
});

test("[OD47] [OD52] a status that the view has not seen yet is not written twice, nor is its event", async () => {
  const { reconciler, patchStatus, create, holders, get } = loop();
  const unseen = holders.cached;
  await reconciler.reconcile("project/a");
  holders.cached = unseen;
  await reconciler.reconcile("project/a");
  expect(get).toHaveBeenCalledOnce();
  expect([patchStatus.mock.calls.length, create.mock.calls.length]).toEqual([1, 1]);
});

test("[OD42] a failure that the API server answers three times is reported, and one without an answer never is", async () => {
  const error = (status: number) => new KubeError({ status, reason: "x", message: `status ${status}` });
  const apply = vi.fn().mockRejectedValue(error(500));
  const { reconciler, described, sink } = loop({ apply });
  for (const failedBefore of [0, 1]) await expect(reconciler.reconcile("project/a", failedBefore)).rejects.toThrow();
  expect(sink.report).not.toHaveBeenCalled();
  await expect(reconciler.reconcile("project/a", 2)).rejects.toThrow("status 500");
  expect(described.rejected).toHaveBeenCalledWith(expect.anything(), error(500), "ClusterError");
  expect(sink.report).toHaveBeenCalledTimes(1);
  for (const status of [0, 409, 429]) {
    apply.mockRejectedValue(error(status));
    await expect(reconciler.reconcile("project/a", 9)).rejects.toThrow();
  }
  expect(sink.report).toHaveBeenCalledTimes(1);
});

test("[OP3977] every run is measured, whether it succeeds or fails, and its queue tells what fails", async () => {
  const apply = vi
    .fn()
    .mockRejectedValueOnce(new Error("away"))
    .mockResolvedValue({ report: null, requeueAfterMs: null });
  const { reconciler, metrics } = loop({ apply });
  reconciler.start();
  await vi.waitFor(() => expect(metrics.reconciled).toHaveBeenCalledTimes(2));
  expect(metrics.reconciled.mock.calls).toEqual([
    ["project", 0, true],
    ["project", 0, false],
  ]);
  expect(metrics.queue.mock.lastCall?.[1]()).toEqual({ ready: 0, failing: 1, longestRunMs: 0 });
  await reconciler.stop();
});

test("[OD1343] a run that ends after its custom resource has vanished reports nothing", async () => {
  const { reconciler, sink, applied, resources } = loop();
  applied().mockImplementation(async () => {
    resources.clear();
    return { report: { state: "ready", message: null }, requeueAfterMs: null };
  });
  await reconciler.reconcile("project/a");
  expect(applied()).toHaveBeenCalledOnce();
  expect(sink.report).not.toHaveBeenCalled();
});

test("[OD42] a resource that is being deleted is removed, and forgotten once it is gone", async () => {
  const { reconciler, sink, described, applied, resources } = loop({}, { isDeleting: true });
  expect(await reconciler.reconcile("project/a")).toBeNull();
  expect(applied()).not.toHaveBeenCalled();
  expect(sink.report).toHaveBeenCalledWith("project", expect.anything(), { state: "gone" });
  expect(described.forget).toHaveBeenCalledWith("project/a");
  resources.clear();
  expect(await reconciler.reconcile("project/a")).toBeNull();
  expect(described.remove).toHaveBeenCalledOnce();
});

test("[OD44] a status is read from the API server only where the cached one may lack what was written last", async () => {
  const { reconciler, described, applied, holders, get } = loop({ readsStatus: true });
  const run = () => reconciler.reconcile("project/a");
  await run();
  await run();
  expect(get).toHaveBeenCalledOnce();

  // Our own write is not in the view yet.
  const metadata = { ...holders.stored.metadata, resourceVersion: "9" };
  holders.stored = { ...holders.stored, metadata };
  described.work?.wrote("project/a", holders.stored);
  await run();
  expect(get).toHaveBeenCalledTimes(2);
  holders.cached = holders.stored;
  await run();
  expect(get).toHaveBeenCalledTimes(2);
  expect(applied().mock.lastCall?.[0].holder).toBe(holders.cached);

  // A run that fails may have written, whatever it says.
  applied().mockRejectedValueOnce(new Error("no answer"));
  await expect(run()).rejects.toThrow("no answer");
  await run();
  expect(get).toHaveBeenCalledTimes(3);
});
