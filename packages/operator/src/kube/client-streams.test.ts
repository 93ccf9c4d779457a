import type { ServerResponse } from "node:http";
import { afterEach, describe, expect, test, vi } from "vitest";
import { watch } from "./client-streams.adapter.ts";
import { type FakeApi, startFakeApi } from "./fake-api.fixture.ts";
import { gathered } from "./gathered.fixture.ts";
import type { ResourceType } from "./kube-client.ts";

const PODS: ResourceType = { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true };

let api: FakeApi;
afterEach(() => {
  vi.useRealTimers();
  return api?.stop();
});

async function streaming(begin: (response: ServerResponse) => void) {
  api = await startFakeApi(({ path }, response) => {
    if (path === "/version") return [200, { gitVersion: "v1.2.3" }];
    begin(response);
    return null;
  });
  return api.client;
}

const event = (type: string, object: object) => `${JSON.stringify({ type, object })}\n`;
const pod = (name: string, resourceVersion: string) => ({ kind: "Pod", metadata: { name, resourceVersion } });

function watching(client: FakeApi["client"], options: { inactivityMs?: number; signal?: AbortSignal } = {}) {
  return client.watch(PODS, {
    namespace: "ns",
    resourceVersion: "5",
    signal: new AbortController().signal,
    ...options,
  });
}

/** Longer than any answer takes on a busy machine. */
const LONG_MS = 15_000;

describe("a watch", () => {
  test("[KU14] a watch delivers changes from a version on, with bookmarks, until the server ends it", async () => {
    const text =
      event("ADDED", pod("ä", "6")) +
      event("BOOKMARK", { metadata: { resourceVersion: "9" } }) +
      event("DELETED", pod("ä", "10"));
    const client = await streaming((response) => {
      // Cut within a character, as networks do.
      const bytes = Buffer.from(text);
      const middle = bytes.indexOf(Buffer.from("ä")) + 1;
      response.write(bytes.subarray(0, middle), () => response.end(bytes.subarray(middle)));
    });
    expect(await gathered(watching(client))).toEqual([
      { type: "ADDED", object: pod("ä", "6") },
      { type: "BOOKMARK", resourceVersion: "9" },
      { type: "DELETED", object: pod("ä", "10") },
    ]);
    expect(api.asked[0]).toMatchObject({
      path: "/api/v1/namespaces/ns/pods",
      query: { watch: "true", resourceVersion: "5", allowWatchBookmarks: "true" },
    });
    expect(Number(api.asked[0]?.query["timeoutSeconds"])).toBeGreaterThanOrEqual(300);
  });

  test("[KU27] a watch of metadata asks for nothing else, and delivers objects of their own kind", async () => {
    const partial = (name: string) => ({
      kind: "PartialObjectMetadata",
      apiVersion: "meta.k8s.io/v1",
      metadata: { name },
    });
    const client = await streaming((response) => response.end(event("ADDED", partial("a"))));
    const options = { resourceVersion: "5", signal: new AbortController().signal, isMetadataOnly: true };
    expect(await gathered(client.watch(PODS, options))).toEqual([
      { type: "ADDED", object: { apiVersion: "v1", kind: "Pod", metadata: { name: "a" } } },
    ]);
    expect(api.asked[0]).toMatchObject({
      headers: { accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1" },
      query: { watch: "true", resourceVersion: "5" },
    });
    expect(api.asked[0]?.query).not.toHaveProperty("isMetadataOnly");
  });

  test("[KU14] a watch reports as an event why it cannot go on", async () => {
    const client = await streaming((response) =>
      response.end(event("ERROR", { kind: "Status", code: 410, reason: "Expired", message: "too old" })),
    );
    expect(await gathered(watching(client))).toMatchObject([
      { type: "ERROR", error: { status: 410, reason: "Expired" } },
    ]);
  });

  test.each([
    ["refused", (response: ServerResponse) => response.writeHead(410).end("{}"), { status: 410 }],
    [
      "cut",
      (response: ServerResponse) => response.write(event("ADDED", pod("a", "6")), () => response.destroy()),
      { reason: "Unreachable" },
    ],
    ["garbled", (response: ServerResponse) => response.end("<html>\n"), { reason: "Malformed" }],
    [
      "silent",
      (response: ServerResponse) => response.flushHeaders(),
      { reason: "Inactive", message: "The watch of /api/v1/namespaces/ns/pods was silent for 0.05 s." },
      50,
    ],
    ["never begun", () => undefined, { reason: "Inactive" }, 50],
  ])("[KU14] a watch fails when it is %s", async (_, begin, error, inactivityMs = LONG_MS) => {
    const client = await streaming(begin);
    await expect(gathered(watching(client, { inactivityMs }))).rejects.toMatchObject(error);
  });

  test("[KU14] a watch does not count as silent while its reader takes long", async () => {
    vi.useFakeTimers();
    const chunks = async function* () {
      yield Buffer.from(event("ADDED", pod("a", "6")));
      yield Buffer.from(event("ADDED", pod("b", "7")));
    };
    const options = {
      namespace: "ns",
      resourceVersion: "5",
      signal: new AbortController().signal,
      inactivityMs: 1_000,
    };
    const aborted: boolean[] = [];
    const stream = async ({ signal }: { signal: AbortSignal }) => {
      signal.addEventListener("abort", () => aborted.push(true));
      return chunks();
    };
    for await (const _ of watch({ stream }, PODS, options)) {
      vi.advanceTimersByTime(10_000);
      expect(aborted).toEqual([]);
    }
  });

  test("[KU14] a watch ends when nobody wants it any more, and leaves no connection", async () => {
    const closed = vi.fn();
    const client = await streaming((response) => {
      response.on("close", closed);
      response.write(event("ADDED", pod("a", "6")));
    });
    const stop = new AbortController();
    for await (const _ of watching(client, { signal: stop.signal })) stop.abort();
    for await (const _ of watching(client)) break;
    await vi.waitFor(() => expect(closed).toHaveBeenCalledTimes(2));
  });
});

describe("the lines of a pod", () => {
  test("[KU15] the log lines of a pod come one by one until the log ends", async () => {
    const client = await streaming((response) => response.end("one\n\nthree\nlast"));
    const options = { container: "c", follow: true, tailLines: 3, sinceTime: "2026-01-01T00:00:00Z", timestamps: true };
    expect(await gathered(client.podLogs("ns", "p", options))).toEqual(["one", "", "three", "last"]);
    expect(api.asked[0]).toMatchObject({
      path: "/api/v1/namespaces/ns/pods/p/log",
      query: { container: "c", follow: "true", tailLines: "3", sinceTime: "2026-01-01T00:00:00Z", timestamps: "true" },
    });
  });

  test("[KU15] the log lines of a pod end without the half line when the connection is lost, and the reader may be told", async () => {
    const client = await streaming((response) => response.write("one\nha", () => response.destroy()));
    const onLost = vi.fn();
    expect(await gathered(client.podLogs("ns", "p", { follow: true, onLost }))).toEqual(["one"]);
    expect(onLost).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ reason: "Unreachable" }));
  });

  test("[KU15] the log lines of a pod end when the reader leaves or cancels, before the first line too", async () => {
    const closed = vi.fn();
    const client = await streaming((response) => response.on("close", closed).write("one\n"));
    for await (const line of client.podLogs("ns", "p", { follow: true })) {
      expect(line).toBe("one");
      break;
    }
    const onLost = vi.fn();
    const stop = new AbortController();
    for await (const _ of client.podLogs("ns", "p", { follow: true, signal: stop.signal, onLost })) stop.abort();
    expect(await gathered(client.podLogs("ns", "p", { signal: AbortSignal.abort() }))).toEqual([]);
    await vi.waitFor(() => expect(closed).toHaveBeenCalledTimes(2));
    expect(onLost).not.toHaveBeenCalled();
  });

  test("[KU15] reading the log of a missing pod fails", async () => {
    const client = await streaming((response) =>
      response.writeHead(404).end(JSON.stringify({ kind: "Status", code: 404, reason: "NotFound", message: "no pod" })),
    );
    await expect(gathered(client.podLogs("ns", "p"))).rejects.toMatchObject({ status: 404, message: "no pod" });
  });
});

test("[KU17] any number of streams leaves room for other requests", async () => {
  const client = await streaming((response) => response.flushHeaders());
  const stop = new AbortController();
  const streams = Array.from({ length: 40 }, () => gathered(watching(client, { signal: stop.signal })));
  await vi.waitFor(() => expect(api.asked).toHaveLength(40));
  expect(await client.version()).toEqual({ gitVersion: "v1.2.3" });
  stop.abort();
  await Promise.all(streams);
});
