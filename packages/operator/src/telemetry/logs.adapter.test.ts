import { LABELS } from "@binnacle/contract";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ownLabels } from "../desired/ownership.ts";
import { realClock } from "../kube/real-clock.adapter.ts";
import { CLUSTER, logsOf, type PodsApi, reading, startPodsApi } from "./pods-api.fixture.ts";

let api: PodsApi;
beforeEach(async () => {
  api = await startPodsApi();
});
afterEach(() => api.stop());

const at = (second: number, text: string, nanos = 0) =>
  `2026-01-31T09:30:${String(second).padStart(2, "0")}.${String(nanos).padStart(9, "0")}Z ${text}`;
const soon = { timeout: 10_000, interval: 10 };
const seen = (stream: ReturnType<typeof reading>, ...lines: readonly string[]) =>
  vi.waitFor(() => expect(stream.lines()).toEqual(lines), soon);

/** Lines of a container that is late come last, and in the time of the other tests a slow machine is late. */
const patient = () => logsOf(api, realClock);

describe("a stream that does not follow", () => {
  test("[TE2] a log stream tells of each line where and when it was written", async () => {
    api.run("web-1", { containers: ["web", "proxy"] });
    api.write("web-1/web", at(1, "\u001b[31mred\u001b[0m\t<b>", 123_456_789), at(3, ""), at(4, "x".repeat(20_000)));
    api.write("web-1/proxy", "2026-01-31T10:30:02.5+01:00 from elsewhere");
    const stream = reading(api, { follow: false }, patient());
    await stream.done;
    const where = { component: "web", pod: "web-1", container: "web" };
    expect(stream.items).toEqual([
      { dropped: 0 },
      { ...where, time: "2026-01-31T09:30:01.123Z", line: "\u001b[31mred\u001b[0m\t<b>" },
      { ...where, container: "proxy", time: "2026-01-31T09:30:02.500Z", line: "from elsewhere" },
      { ...where, time: "2026-01-31T09:30:03.000Z", line: "" },
      { ...where, time: "2026-01-31T09:30:04.000Z", line: `${"x".repeat(16 * 1024 - 1)}…` },
    ]);
  });

  test("[TE3] a log stream shows the last lines of each container in the order of time", async () => {
    api.run("web-1");
    api.run("web-2");
    api.write("web-1/web", at(1, "a1"), at(3, "a3"), at(5, "a5"));
    api.write("web-2/web", at(2, "b2"), at(4, "b4"));
    const stream = reading(api, { follow: false, tail_lines: 2 }, patient());
    await stream.done;
    expect(stream.lines()).toEqual(["b2", "a3", "b4", "a5"]);
    const asked = api.asked.filter(({ path }) => path.endsWith("/log"));
    expect(asked.map(({ query }) => query)).toEqual(
      asked.map(() => expect.objectContaining({ container: "web", tailLines: "2", timestamps: "true" })),
    );
  });

  test("[TE3] a log stream shows no line older than asked for", async () => {
    api.run("web-1");
    const now = Date.now();
    const agoOf = (seconds: number) => new Date(now - seconds * 1_000).toISOString();
    api.write("web-1/web", `${agoOf(300)} old`, `${agoOf(10)} new`);
    const stream = reading(api, { follow: false, since_seconds: 60 });
    await stream.done;
    expect(stream.lines()).toEqual(["new"]);
  });

  test("[TE3] a log stream does not wait long for a node that does not answer", async () => {
    api.run("web-1");
    api.run("web-2");
    api.write("web-1/web", at(1, "here"));
    api.write("web-2/web", at(2, "there"));
    api.refuse("web-2/web", "silence");
    const stream = reading(api);
    await seen(stream, "here");
    api.write("web-1/web", at(3, "on"));
    await seen(stream, "here", "on");
  });

  test("[AP97] the log stream of a run shows the pods of the run alone, also where the component is gone", async () => {
    const run = "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11";
    const stream = reading(api, { follow: false, component: "gone", run });
    await stream.done;
    const [listed] = api.asked.filter(({ path }) => path.endsWith("/pods"));
    const selector = listed?.query["labelSelector"] ?? "";
    expect(selector).toContain(`binnacle.dev/run=${run}`);
    expect(selector).toContain(CLUSTER);
    expect(selector).not.toContain("binnacle.dev/component");
  });

  test("[TE4] a log stream that does not follow ends without lines where there are none", async () => {
    const none = reading(api, { follow: false });
    await none.done;
    expect(none.items).toEqual([{ dropped: 0 }]);
    api.run("web-1", { isWaiting: true });
    const waiting = reading(api, { follow: false });
    await waiting.done;
    expect(waiting.items).toEqual([{ dropped: 0 }]);
  });

  test("[TE4] a log stream goes on where the connection broke, shows what is available, and fails when that is nothing", async () => {
    api.run("web-1");
    api.run("web-2");
    api.write("web-1/web", at(1, "here"));
    const broken = [500, { kind: "Status", code: 500, message: "no such node" }] as const;
    api.refuse("web-2/web", broken);
    const partly = reading(api, { follow: false });
    await partly.done;
    expect(partly.lines()).toEqual(["here"]);
    api.refuse("web-1/web", broken);
    await expect(reading(api, { follow: false }).done).rejects.toMatchObject({ code: "unavailable" });
    api.refuse("pods", [403, { kind: "Status", code: 403, message: "secret words" }]);
    await expect(reading(api).done).rejects.toMatchObject({
      code: "failed",
      message: "The operator could not list the pods of the component.",
    });
  });

  test("[TE13] the log of the previous run shows only containers that have ended before, and is not followed", async () => {
    api.run("web-1");
    api.run("web-2");
    api.write("web-1/web before", at(1, "crashed"), at(2, "for good"));
    api.write("web-1/web", at(3, "again"));
    api.write("web-2/web", at(3, "never ended"));
    api.restart("web-1");
    const stream = reading(api, { previous: true });
    await stream.done;
    expect(stream.lines()).toEqual(["crashed", "for good"]);
    const last = reading(api, { previous: true, tail_lines: 1 });
    await last.done;
    expect(last.lines()).toEqual(["for good"]);
  });

  test("[TE8] a log stream is refused where the cluster holds no such app or component", async () => {
    for (const changes of [{ app: "other" }, { component: "db" }, { app: "shop,x=y" }, { component: "a b" }]) {
      await expect(reading(api, changes).done).rejects.toMatchObject({ code: "not_found" });
    }
    expect(api.asked).toHaveLength(2);
    const labels = `binnacle.dev/cluster=${CLUSTER},binnacle.dev/app=other,binnacle.dev/component=web`;
    expect(api.asked[0]?.query["labelSelector"]).toBe(`app.kubernetes.io/managed-by=binnacle,${labels}`);
  });
});

describe("a stream that follows", () => {
  test("[TE1] a log stream that follows says that it has begun, and waits for a pod", async () => {
    const stream = reading(api);
    await vi.waitFor(() => expect(stream.items).toEqual([{ dropped: 0 }]), soon);
    await vi.waitFor(() => expect(api.watcherCount()).toBe(1), soon);
    api.run("web-1", { isWaiting: true });
    api.write("web-1/web", at(1, "first"));
    api.begin("web-1", 1);
    await seen(stream, "first");
  });

  test("[TE5] a log stream that follows shows each line once, however often the connection breaks", async () => {
    api.run("web-1");
    api.write("web-1/web", at(1, "one"), at(2, "two"), at(2, "two"));
    const stream = reading(api);
    await vi.waitFor(() => expect(api.followerCount()).toBe(1), soon);
    for (let pass = 0; pass < 3; pass += 1) {
      api.cut();
      api.write("web-1/web", at(2, "two", pass), at(2, `missed ${pass}`, pass));
      await vi.waitFor(() => expect(api.followerCount()).toBe(1), soon);
    }
    api.write("web-1/web", at(3, "end"));
    const rounds = [0, 1, 2].flatMap((pass) => ["two", `missed ${pass}`]);
    await seen(stream, "one", "two", "two", ...rounds, "end");
    const last = api.asked.filter(({ path }) => path.endsWith("/log")).at(-1);
    expect(last?.query).toMatchObject({ sinceTime: "2026-01-31T09:30:02Z", follow: "true" });
  });

  test("[TE5] a log stream follows a container through its restart, and does not ask again for one that has ended", async () => {
    api.run("web-1");
    api.write("web-1/web", at(1, "before"));
    const stream = reading(api);
    await vi.waitFor(() => expect(api.followerCount()).toBe(1), soon);
    api.write("web-1/web", at(2, "last words"));
    api.finish("web-1", 1);
    await seen(stream, "before", "last words");
    api.write("web-1/web", at(5, "after"));
    api.begin("web-1", 2);
    await seen(stream, "before", "last words", "after");
  });

  test("[TE5] a log stream without old lines shows only new ones, also after an early break", async () => {
    api.run("web-1");
    api.write("web-1/web", at(1, "old"));
    const stream = reading(api, { tail_lines: 0 });
    await vi.waitFor(() => expect(api.followerCount()).toBe(1), soon);
    api.cut();
    await vi.waitFor(() => expect(api.asked.filter(({ path }) => path.endsWith("/log"))).toHaveLength(2), soon);
    const now = new Date(Date.now() + 1_000).toISOString();
    api.write("web-1/web", `${now} new`);
    await seen(stream, "new");
  });

  test("[TE6] a log stream includes new pods from their first line, and drops pods that are deleted", async () => {
    api.run("web-1");
    api.write("web-1/web", at(1, "a"));
    const stream = reading(api, { tail_lines: 1 });
    await vi.waitFor(() => expect(api.followerCount()).toBe(1), soon);
    await vi.waitFor(() => expect(api.watcherCount()).toBe(1), soon);
    api.write("web-2/web", at(2, "b"), at(3, "c"));
    api.run("web-2");
    await seen(stream, "a", "b", "c");
    api.remove("web-1");
    await vi.waitFor(() => expect(api.followerCount()).toBe(1), soon);
    api.write("web-2/web", at(4, "d"));
    await seen(stream, "a", "b", "c", "d");
  });

  test("[TE6] a log stream gives up pods that were deleted before they could be followed", async () => {
    const names = Array.from({ length: 20 }, (_, index) => `gone-${index}`);
    for (const name of names) {
      api.run(name, { createdAt: "2026-01-02T00:00:00Z" });
      api.refuse(`${name}/web`, "silence");
    }
    api.run("web-old");
    api.write("web-old/web", at(1, "still here"));
    const stream = reading(api);
    await vi.waitFor(() => expect(api.asked.length).toBeGreaterThan(20), soon);
    for (const name of names) api.remove(name);
    await seen(stream, "still here");
  });

  test("[TE7] a log stream follows the twenty newest pods, also when a newer one comes", async () => {
    const name = (index: number) => `web-${String(index).padStart(2, "0")}`;
    for (let index = 0; index < 25; index += 1) {
      api.run(name(index), { createdAt: `2026-01-01T00:00:${String(index).padStart(2, "0")}Z` });
      api.write(`${name(index)}/web`, at(index, name(index)));
    }
    const stream = reading(api);
    await vi.waitFor(() => expect(api.followerCount()).toBe(20), soon);
    const newest = Array.from({ length: 20 }, (_, index) => name(index + 5));
    await vi.waitFor(() => expect(stream.lines().toSorted()).toEqual(newest), soon);
    await vi.waitFor(() => expect(api.watcherCount()).toBe(1), soon);
    api.run("web-new", { createdAt: "2026-01-02T00:00:00Z" });
    api.write("web-new/web", at(40, "newest"));
    await vi.waitFor(() => expect(stream.lines().at(-1)).toBe("newest"), soon);
    await vi.waitFor(() => expect(api.followerCount()).toBe(20), soon);
    api.write(`${name(5)}/web`, at(41, "not followed"));
    api.write(`${name(6)}/web`, at(42, "followed"));
    await vi.waitFor(() => expect(stream.lines().at(-1)).toBe("followed"), soon);
    expect(stream.lines()).not.toContain("not followed");
  });

  const RUN = "0190e5e0-0000-7000-8000-0000000000f1";
  const ofRun = { labels: { ...ownLabels(CLUSTER), [LABELS.app]: "shop", [LABELS.run]: RUN } };

  test("[TE63] the log stream of a run waits for its pod, and ends with the last line when the pod has finished", async () => {
    const stream = reading(api, { run: RUN });
    await vi.waitFor(() => expect(api.watcherCount()).toBe(1), soon);
    api.run("run-1", { ...ofRun, isWaiting: true });
    api.write("run-1/web", at(1, "first"));
    api.begin("run-1", 1);
    await seen(stream, "first");
    api.write("run-1/web", at(2, "last"));
    api.finish("run-1", 1, "Failed");
    await stream.done;
    expect(stream.lines()).toEqual(["first", "last"]);
    const later = reading(api, { run: RUN });
    await later.done;
    expect(later.lines()).toEqual(["first", "last"]);
  });

  test("[TE63] the log stream of a run ends with all lines even where the connection that follows the log stays open", async () => {
    api.run("run-1", ofRun);
    const stream = reading(api, { run: RUN });
    await vi.waitFor(() => expect([api.followerCount(), api.watcherCount()]).toEqual([1, 1]), soon);
    api.write("run-1/web", at(1, "first"), at(2, "last"));
    api.finish("run-1", 1, "Succeeded", false);
    await stream.done;
    expect(stream.lines()).toEqual(["first", "last"]);
  });

  test("[TE63] the log stream of a run ends when its pod is gone, and when the log of its finished pod is gone", async () => {
    api.run("run-1", ofRun);
    api.write("run-1/web", at(1, "first"));
    const stream = reading(api, { run: RUN });
    await vi.waitFor(() => expect([api.followerCount(), api.watcherCount()]).toEqual([1, 1]), soon);
    api.finish("run-1", 1, "Succeeded");
    await stream.done;
    api.refuse("run-1/web", [404, { kind: "Status", code: 404, message: "the node is gone" }]);
    await reading(api, { run: RUN }).done;

    api.run("run-1", ofRun);
    api.refuse("run-1/web", null);
    const deleted = reading(api, { run: RUN });
    await vi.waitFor(() => expect([api.followerCount(), api.watcherCount()]).toEqual([1, 1]), soon);
    api.remove("run-1");
    await deleted.done;
    expect(deleted.lines()).toEqual(["first"]);
  });

  test("[TE9] a log stream is refused when all connections for logs are taken, which leaves room for watches", async () => {
    const containers = Array.from({ length: 8 }, (_, index) => `c${index}`);
    for (let index = 0; index < 20; index += 1) api.run(`web-${index}`, { containers });
    const logs = logsOf(api);
    const first = reading(api, {}, logs);
    await vi.waitFor(() => expect(api.followerCount()).toBe(160), soon);
    const message = "Too many log streams of this cluster are open.";
    await expect(reading(api, { follow: false }, logs).done).rejects.toMatchObject({ code: "unavailable", message });
    const waiting = reading(api, {}, logs);
    first.stop.abort();
    api.write("web-1/c1", at(1, "free again"));
    await seen(waiting, "free again");
  });

  test("[TE10] a log stream leaves no connection once nobody reads it", async () => {
    api.run("web-1");
    api.run("web-2");
    const stream = reading(api, {}, logsOf(api, realClock));
    await vi.waitFor(() => expect([api.followerCount(), api.watcherCount()]).toEqual([2, 1]), soon);
    stream.stop.abort();
    await stream.done;
    await vi.waitFor(() => expect([api.followerCount(), api.watcherCount()]).toEqual([0, 0]), soon);
  });
});
