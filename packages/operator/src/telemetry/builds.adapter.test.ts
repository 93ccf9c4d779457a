import type { ServerResponse } from "node:http";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type FakeApi, startFakeApi } from "../kube/fake-api.fixture.ts";
import type { KubeObject } from "../kube/kube-client.ts";
import type { BuildEvent } from "../link/ports.ts";
import { startBuilds } from "./builds.adapter.ts";

const STARTED_MS = Date.parse("2026-01-31T10:00:00Z");
const soon = { timeout: 5_000, interval: 10 };

let api: FakeApi;
let installed: Set<string>;
let builds: KubeObject[];
let watchers: Set<ServerResponse>;
let sent: BuildEvent[];
let due: (() => void)[];
beforeEach(async () => {
  installed = new Set();
  builds = [];
  watchers = new Set();
  sent = [];
  due = [];
  api = await startFakeApi(({ path, query }, response) => {
    const [, group = "", plural] = /^\/apis\/([^/]+\/[^/]+)(?:\/(\w+))?$/.exec(path) ?? [];
    if (!installed.has(group)) return [404, { kind: "Status", code: 404 }];
    if (!plural) {
      const [name, kind] = group.startsWith("kpack") ? ["builds", "Build"] : ["buildruns", "BuildRun"];
      return [200, { resources: [{ name, kind, namespaced: true }] }];
    }
    if (!query["watch"]) return [200, { metadata: { resourceVersion: "1" }, items: builds }];
    watchers.add(response);
    response.flushHeaders();
    return null;
  });
});
afterEach(() => api.stop());

function start() {
  return startBuilds({
    kube: api.client,
    events: { build: (events) => void sent.push(events) },
    isProjectNamespace: (namespace) => namespace === "shop",
    clock: {
      now: () => 0,
      after(_, callback) {
        due.push(callback);
        return () => undefined;
      },
    },
    nowMs: () => STARTED_MS,
    log: { info: vi.fn(), warn: vi.fn() },
  });
}

const build = (name: string, status: string, at: string, namespace = "shop"): KubeObject => ({
  apiVersion: "kpack.io/v1alpha2",
  kind: "Build",
  metadata: { name, namespace, uid: name, resourceVersion: at, creationTimestamp: "2026-01-30T00:00:00Z" },
  status: { podName: "p", conditions: [{ type: "Succeeded", status, lastTransitionTime: at }] },
});

function change(object: KubeObject): void {
  for (const watcher of watchers) watcher.write(`${JSON.stringify({ type: "MODIFIED", object })}\n`);
}

test("[TE41] at the start only recent changes of builds are sent, and later every change", async () => {
  installed.add("kpack.io/v1alpha2");
  builds = [
    build("old", "True", "2026-01-31T09:00:00Z"),
    build("slow", "Unknown", "2026-01-31T09:00:00Z"),
    build("recent", "False", "2026-01-31T09:58:00Z"),
    build("elsewhere", "False", "2026-01-31T09:58:00Z", "kube-system"),
  ];
  const running = start();
  await running.synced;
  expect(sent.map(({ name, state }) => [name, state])).toEqual([["recent", "failed"]]);
  await vi.waitFor(() => expect(watchers.size).toBe(1), soon);
  change(build("slow", "True", "2026-01-31T10:01:00Z"));
  change(build("slow", "True", "2026-01-31T10:01:00Z"));
  change(build("new", "Unknown", "2026-01-31T10:02:00Z"));
  await vi.waitFor(() => expect(sent.at(-1)?.name).toBe("new"), soon);
  expect(sent.slice(1).map(({ name, state }) => [name, state])).toEqual([
    ["slow", "succeeded"],
    ["new", "running"],
  ]);
  await running.stop();
});

test("[TE42] a builder that is installed later is found, in the newest version that the cluster has", async () => {
  const running = start();
  await running.synced;
  expect(api.asked.map(({ path }) => path)).toEqual([
    "/apis/shipwright.io/v1beta1",
    "/apis/shipwright.io/v1alpha1",
    "/apis/kpack.io/v1alpha2",
  ]);
  installed.add("shipwright.io/v1alpha1");
  builds = [{ ...build("image", "True", "2026-01-31T10:03:00Z"), kind: "BuildRun" }];
  due.shift()?.();
  await vi.waitFor(
    () => expect(sent).toMatchObject([{ source: "shipwright", name: "image", state: "succeeded" }]),
    soon,
  );
  await vi.waitFor(() => expect([due.length, watchers.size]).toEqual([1, 1]), soon);
  const asked = api.asked.length;
  due.shift()?.();
  await vi.waitFor(() => expect(due).toHaveLength(1), soon);
  expect(api.asked.slice(asked).map(({ path }) => path)).toEqual(["/apis/kpack.io/v1alpha2"]);
  await running.stop();
});
