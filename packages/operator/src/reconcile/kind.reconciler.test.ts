import type { DesiredKind, LinkSettings } from "@binnacle/contract";
import { expect, test, vi } from "vitest";
import type { StoredResource } from "../desired/desired-state.ts";
import { applyProject } from "../desired/frames.fixture.ts";
import type { KubeClient, KubeObject } from "../kube/kube-client.ts";
import { KubeError } from "../kube/kube-error.ts";
import { PROJECTS } from "../kube/resource-types.ts";
import { reconcilerFor } from "./kind.reconciler.ts";
import type { DispatchedKind, KindReconciler, Pass } from "./kind.ts";

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
  const done: Pass<"project"> = { report: { state: "ready", message: null }, requeueAfterMs: null };
  const kind: DispatchedKind<"project"> = {
    kind: "project",
    holder: PROJECTS,
    nameIn: (namespace) => namespace,
    companionPrefix: null,
    emptySecret: {},
    reconciler: () => described,
  };
  const described = {
    firstRetryMs: 500,
    readsStatus: false,
    watches: [],
    apply: vi.fn(async () => done),
    remove: vi.fn(async (): Promise<Pass<"project">> => ({ report: { state: "gone" }, requeueAfterMs: null })),
    rejected: vi.fn((_, { message }: KubeError) => ({ state: "apply_failed", message }) as const),
    forget: vi.fn(),
    ...own,
  };
  const holder: KubeObject = { apiVersion: "v1", kind: "Project", metadata: { name: "a" } };
  const reconciler = reconcilerFor(kind, {
    kube: {} as KubeClient,
    view: {
      get: (_kind: DesiredKind, key: string) => (resources.get(key) ?? null) as never,
      list: () => [...resources.values()] as never,
      holder: (_kind, key) => (resources.has(key) ? holder : null),
      onChange(_kind, listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    sink,
    clock: {
      now: () => 0,
      after(ms, run) {
        timers.push({ ms, run });
        return () => undefined;
      },
    },
    log: { info: () => undefined, warn: () => undefined },
    clusterId: "c",
  });
  const applied = () => described.apply as ReturnType<typeof vi.fn<KindReconciler<"project">["apply"]>>;
  return { reconciler, described, applied, resources, listeners, timers, sink };
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
