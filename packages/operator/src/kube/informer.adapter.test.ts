import { afterEach, describe, expect, test, vi } from "vitest";
import { type InformerOptions, startInformer } from "./informer.adapter.ts";
import type { KubeClient, KubeObject, ListOptions, ResourceType, WatchEvent, WatchOptions } from "./kube-client.ts";
import { KubeError } from "./kube-error.ts";

const THINGS: ResourceType = { group: "x.dev", version: "v1", plural: "things", kind: "Thing", namespaced: false };

const thing = (name: string, resourceVersion: string): KubeObject => ({
  apiVersion: "x.dev/v1",
  kind: "Thing",
  metadata: { name, resourceVersion, uid: name },
});
const expired = () => new KubeError({ status: 410, reason: "Expired", message: "too old" });
const refused = () => new KubeError({ status: 0, reason: "Unreachable", message: "nobody there" });

/** What the informer asked and was told; a test answers each question in turn. */
function fakeCluster() {
  const lists: (PromiseWithResolvers<{ resourceVersion: string; items: readonly never[] }> & {
    readonly options: ListOptions;
  })[] = [];
  const watches: (WatchOptions & {
    readonly push: (event: WatchEvent) => void;
    readonly end: (error?: Error) => void;
  })[] = [];
  const client: Pick<KubeClient, "list" | "watch"> = {
    list: async (_, options) => {
      const answer = Promise.withResolvers<{ resourceVersion: string; items: readonly never[] }>();
      lists.push({ ...answer, options: options as unknown as ListOptions });
      const { resourceVersion, items } = await answer.promise;
      return { resourceVersion, items: items.map((item) => options?.trim?.(item) ?? item) };
    },
    watch: (_, options) => {
      const stream = new TransformStream<WatchEvent<never>>();
      const writer = stream.writable.getWriter();
      const end = (error?: Error) => void (error ? writer.abort(error) : writer.close()).catch(() => undefined);
      options.signal.addEventListener("abort", () => end());
      watches.push({ ...options, end, push: (event) => void writer.write(event as WatchEvent<never>) });
      return stream.readable;
    },
  };
  const question = <T>(all: readonly T[], number: number) =>
    vi.waitFor(() => all[number] ?? Promise.reject(new Error("Nothing was asked.")), 5_000);
  return {
    client,
    lists,
    watches,
    answerList: async (number: number, resourceVersion: string, ...items: KubeObject[]) =>
      (await question(lists, number)).resolve({ resourceVersion, items: items as never[] }),
    refuseList: async (number: number, error: Error) => (await question(lists, number)).reject(error),
    watch: (number: number) => question(watches, number),
  };
}

const stops: (() => Promise<void>)[] = [];
afterEach(() => Promise.all(stops.splice(0).map((stop) => stop())));

function following(cluster: ReturnType<typeof fakeCluster>, options: Partial<InformerOptions<KubeObject>> = {}) {
  const calls: string[] = [];
  const log = { warn: vi.fn(), info: vi.fn() };
  const onChange = (key: string, object: KubeObject | null) =>
    void calls.push(`${key} ${object?.metadata.resourceVersion ?? "gone"}`);
  const informer = startInformer({
    client: cluster.client,
    type: THINGS,
    onChange,
    log,
    firstRetryMs: 1,
    random: () => 0,
    ...options,
  });
  stops.push(() => informer.stop());
  return { informer, calls, log };
}

describe("an informer", () => {
  test("[KU20] an informer delivers existing objects, then changes, and resumes where it stopped", async () => {
    const cluster = fakeCluster();
    const { informer, calls } = following(cluster, { random: Math.random });
    await cluster.answerList(0, "5", thing("a", "3"), thing("b", "4"));
    await informer.synced;
    expect(calls).toEqual(["a 3", "b 4"]);
    const first = await cluster.watch(0);
    expect(first.resourceVersion).toBe("5");
    first.push({ type: "MODIFIED", object: thing("a", "6") });
    first.push({ type: "DELETED", object: thing("b", "7") });
    first.push({ type: "BOOKMARK", resourceVersion: "20" });
    first.end();
    expect((await cluster.watch(1)).resourceVersion).toBe("20");
    await vi.waitFor(() => expect(calls).toEqual(["a 3", "b 4", "a 6", "b gone"]));
    expect(informer.list()).toEqual([thing("a", "6")]);
    expect(cluster.lists).toHaveLength(1);
  });

  test("[KU20] an informer of a kind without objects is synced at once", async () => {
    const cluster = fakeCluster();
    const { informer } = following(cluster);
    await cluster.answerList(0, "1");
    await informer.synced;
    expect(informer.list()).toEqual([]);
  });

  test("[KU21] an informer calls a failed handler again with the newest state, and keeps the object only then", async () => {
    const cluster = fakeCluster();
    let isFailing = true;
    const taken: (string | undefined)[] = [];
    const { informer, log } = following(cluster, {
      onChange: async (_, object) => {
        if (isFailing) throw new Error("not now");
        taken.push(object?.metadata.resourceVersion);
      },
    });
    await cluster.answerList(0, "5", thing("a", "3"));
    await informer.synced;
    expect(informer.get("a")).toBeUndefined();
    await vi.waitFor(() => expect(log.warn).toHaveBeenCalled());
    (await cluster.watch(0)).push({ type: "MODIFIED", object: thing("a", "6") });
    isFailing = false;
    await vi.waitFor(() => expect(informer.get("a")).toEqual(thing("a", "6")));
    expect(taken.at(-1)).toBe("6");
  });

  test.each([
    [
      "says so in the stream",
      (watch: { push: (event: WatchEvent) => void }) => watch.push({ type: "ERROR", error: expired() }),
    ],
    ["refuses the watch", (watch: { end: (error: Error) => void }) => watch.end(expired())],
  ])("[KU22] an informer lists anew when the server has forgotten its version and %s", async (_, forget) => {
    const cluster = fakeCluster();
    const { informer, calls } = following(cluster);
    await cluster.answerList(0, "5", thing("a", "3"), thing("b", "4"));
    forget(await cluster.watch(0));
    await cluster.answerList(1, "90", thing("a", "3"), thing("c", "80"));
    expect((await cluster.watch(1)).resourceVersion).toBe("90");
    await vi.waitFor(() => expect(calls).toEqual(["a 3", "b 4", "c 80", "b gone"]));
    expect(informer.missed).toBe(0);
  });

  test("[KU23] an informer tries again while the server is away, and logs it once", async () => {
    const cluster = fakeCluster();
    const { informer, log } = following(cluster);
    await cluster.refuseList(0, refused());
    await cluster.refuseList(1, refused());
    await cluster.answerList(2, "5", thing("a", "3"));
    await informer.synced;
    (await cluster.watch(0)).end(refused());
    (await cluster.watch(1)).push({ type: "MODIFIED", object: thing("a", "6") });
    await vi.waitFor(() => expect(informer.get("a")).toEqual(thing("a", "6")));
    expect(log.warn.mock.calls.map(([, message]) => message)).toEqual(
      Array(2).fill("a watch has failed; it is retried"),
    );
    expect(log.info).toHaveBeenCalledTimes(2);
  });

  test("[KU24] an informer lists from time to time, takes in what the watch did not show and counts it", async () => {
    const cluster = fakeCluster();
    const { informer, calls } = following(cluster, { relistMs: 50 });
    await cluster.answerList(0, "5", thing("a", "3"), thing("b", "4"));
    (await cluster.watch(0)).push({ type: "BOOKMARK", resourceVersion: "20" });
    await cluster.answerList(1, "22", thing("a", "10"), thing("late", "21"));
    await vi.waitFor(() => expect(calls).toEqual(["a 3", "b 4", "a 10", "late 21", "b gone"]));
    expect(informer.missed).toBe(2);
  });

  test("[KU24] a later list keeps the object that is known where its version is the same", async () => {
    const cluster = fakeCluster();
    const trim = vi.fn((object: KubeObject) => ({ ...object }));
    const { informer } = following(cluster, { relistMs: 50, trim });
    await cluster.answerList(0, "5", thing("a", "3"), thing("b", "4"));
    await informer.synced;
    const [a, b] = [informer.get("a"), informer.get("b")];
    await cluster.answerList(1, "9", thing("a", "3"), thing("b", "8"));
    await vi.waitFor(() => expect(informer.get("b")?.metadata.resourceVersion).toBe("8"));
    expect(informer.get("a")).toBe(a);
    expect(informer.get("b")).not.toBe(b);
    expect(trim).toHaveBeenCalledTimes(3);
  });

  test("[KU27] [KU28] an informer lists and watches the metadata alone, and lists from memory, where that is enough", async () => {
    const cluster = fakeCluster();
    following(cluster, { isMetadataOnly: true, mayBeStale: true });
    await cluster.answerList(0, "5");
    expect(cluster.lists[0]?.options).toMatchObject({ isMetadataOnly: true, mayBeStale: true });
    expect(await cluster.watch(0)).toMatchObject({ isMetadataOnly: true, resourceVersion: "5" });
  });

  test("[KU25] an informer that is stopped ends its watch and waits for its handlers", async () => {
    const cluster = fakeCluster();
    const handling = Promise.withResolvers<void>();
    const { informer } = following(cluster, { onChange: () => handling.promise });
    await cluster.answerList(0, "5", thing("a", "3"));
    const watch = await cluster.watch(0);
    const onStopped = vi.fn();
    const stopped = informer.stop().then(onStopped);
    await vi.waitFor(() => expect(watch.signal.aborted).toBe(true));
    expect(onStopped).not.toHaveBeenCalled();
    handling.resolve();
    await stopped;
    expect(cluster.watches).toHaveLength(1);
  });

  test("[KU21] an informer keeps only the fields of an object that it is told to keep", async () => {
    const cluster = fakeCluster();
    const trim = ({ apiVersion, kind, metadata }: KubeObject) => ({ apiVersion, kind, metadata });
    const { informer } = following(cluster, { trim });
    await cluster.answerList(0, "5", { ...thing("a", "3"), spec: { large: true } });
    await vi.waitFor(() => expect(informer.get("a")).toEqual(thing("a", "3")));
  });
});
