import { creditOf, LINK_LIMITS, type LogLine } from "@binnacle/contract";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { newId } from "../id.adapter.ts";
import { scriptedSession } from "./live-session.fixture.ts";
import { operatorRequests } from "./operator-requests.runner.ts";
import { type DroppedLines, noOperatorConnected } from "./operator-requests.ts";
import { sendRequest } from "./request-frames.ts";
import type { RequestRouter } from "./request-router.runner.ts";

const SERIES = { step: "60s", series: [] };
const LOGS = {
  namespace: "shop",
  app: "web",
  component: "web",
  tailLines: 5,
  sinceSeconds: null,
  follow: true,
  previous: false,
};
const line = (text: string): LogLine => ({ component: "web", pod: "p", container: "web", time: "t", line: text });

let operator: ReturnType<typeof scriptedSession>;
let clusterId: string;
let router: RequestRouter;
beforeEach(() => {
  operator = scriptedSession();
  clusterId = operator.session.fence.clusterId;
  router = {
    isConnected: async () => true,
    send: async (_clusterId, request, onReply) => sendRequest(operator.session, request, newId(), onReply),
    stop: () => undefined,
  };
});

const asked = () => vi.waitFor(() => operator.asked());
const series = () => operatorRequests(router).metrics({ clusterId, app: null, rangeSeconds: 60 });

async function openLogs(signal = new AbortController().signal) {
  const opening = operatorRequests(router).logs({ clusterId, ...LOGS }, signal);
  await asked();
  operator.answer({ type: "stream_data", lines: [], dropped: 0 });
  return (await opening)[Symbol.asyncIterator]() as AsyncIterator<LogLine | DroppedLines, undefined>;
}

describe("a request", () => {
  test("[RQ1] a request is answered with the operator's response", async () => {
    const answer = series();
    expect(await asked()).toMatchObject({
      type: "request",
      request: { name: "metrics", app: null, range_seconds: 60 },
    });
    operator.answer({ type: "response", answer: { metrics: SERIES } });
    expect(await answer).toEqual(SERIES);
    expect(operator.open).toBe(0);
  });

  test("[AP90] [RQ3] a request for objects is answered with them, and is cancelled after the time that its caller has", async () => {
    const request = { name: "resources", namespace: "shop", app: "web" } as const;
    const answer = operatorRequests(router).observe(clusterId, request);
    expect(await asked()).toMatchObject({ type: "request", request });
    const resources = { objects: [], truncated: false, observed_at: "2026-01-31T09:30:00.000Z" };
    operator.answer({ type: "response", answer: { resources } });
    expect(await answer).toEqual(resources);
    await expect(operatorRequests(router).observe(clusterId, request, 1)).rejects.toMatchObject({ kind: "timed_out" });
    const other = operatorRequests(router).observe(clusterId, request);
    await vi.waitFor(() => expect(operator.open).toBe(1));
    operator.answer({ type: "response", answer: { metrics: null } });
    await expect(other).rejects.toMatchObject({ kind: "bad_gateway" });
    expect(operator.open).toBe(0);
  });

  test("[AP90] a request that the operator is too old for is refused and never sent", async () => {
    operator = scriptedSession(clusterId, ["resources"]);
    const request = { name: "events", namespace: "shop", app: "web" } as const;
    await expect(operatorRequests(router).observe(clusterId, request)).rejects.toMatchObject({
      kind: "bad_gateway",
      message: "The cluster's operator is too old to answer this. Upgrade its Helm chart and try again.",
    });
    expect([operator.sent, operator.open]).toEqual([[], 0]);
  });

  test("[RQ3] a request that is not answered in time is timed_out", async () => {
    const late = operatorRequests(router, 1).metrics({ clusterId, app: null, rangeSeconds: 60 });
    await expect(late).rejects.toMatchObject({ kind: "timed_out" });
    expect(operator.open).toBe(0);
  });

  test.each([
    ["not_found", "bad_gateway"],
    ["failed", "bad_gateway"],
    ["unavailable", "unavailable"],
  ])("[RQ4] a request that the operator answers with %s fails with the kind %s", async (code, kind) => {
    const answer = series();
    await asked();
    operator.answer({ type: "response", answer: { error: { code, message: "Not today." } } });
    await expect(answer).rejects.toMatchObject({ kind, message: "Not today." });
  });

  test("[RQ4] a request whose session is lost fails at once as unavailable", async () => {
    const answer = series();
    await asked();
    operator.lose();
    await expect(answer).rejects.toMatchObject({ kind: "unavailable" });
  });

  test("[RQ4] a request that is answered with an answer of another kind fails as bad_gateway", async () => {
    const answer = series();
    await asked();
    operator.answer({ type: "response", answer: { done: true } });
    await expect(answer).rejects.toMatchObject({ kind: "bad_gateway" });
  });

  test("[RQ11] the command resync is sent to the operator and is done with its answer", async () => {
    const done = operatorRequests(router).resync(clusterId);
    expect(await asked()).toMatchObject({ type: "command", command: { name: "resync" } });
    operator.answer({ type: "response", answer: { done: true } });
    await done;
  });
});

describe("logs", () => {
  test("[RQ5] log lines are credited as they are read, and lost lines are reported in their place", async () => {
    const lines = await openLogs();
    expect(operator.asked()).toMatchObject({ type: "stream_open", credit_bytes: LINK_LIMITS.streamCreditBytes });
    const batch = [line("one"), line("two")];
    operator.answer({ type: "stream_data", lines: batch, dropped: 4 });
    expect(await lines.next()).toEqual({ done: false, value: { dropped: 4 } });
    expect(await lines.next()).toMatchObject({ value: { line: "one" } });
    expect(operator.sent.at(-1)?.type).toBe("stream_open");
    expect(await lines.next()).toMatchObject({ value: { line: "two" } });
    const end = lines.next();
    const credit = { type: "stream_credit", credit_bytes: creditOf(batch) };
    await vi.waitFor(() => expect(operator.sent.at(-1)).toMatchObject(credit));
    operator.answer({ type: "stream_end", error: null });
    expect(await end).toMatchObject({ done: true });
  });

  const send = (...texts: string[]) => operator.answer({ type: "stream_data", lines: texts.map(line), dropped: 0 });

  test("[RQ40] log lines that exceed the credit of their stream are refused until the reader has taken some", async () => {
    const lines = await openLogs();
    const half = "x".repeat(30 * 1024);
    expect([send(half), send(half)]).toEqual([true, true]);
    expect([send(half, half), send(half, half)]).toEqual([false, false]);
    expect([await lines.next(), await lines.next()]).toMatchObject([{ value: { line: half } }, { value: {} }]);
    expect(send(half, "")).toBe(true);
    expect(await lines.next()).toMatchObject({ value: { line: half } });
    operator.answer({ type: "stream_end", error: null });
    expect([await lines.next(), await lines.next()]).toMatchObject([{ value: { line: "" } }, { done: true }]);
  });

  test("[RQ40] [OL35] log lines may exceed their credit by one line of the operator's longest length, and by no longer one", async () => {
    await openLogs();
    expect(send("x".repeat(LINK_LIMITS.logLineBytes))).toBe(false);
    expect(send("\u0001".repeat(16 * 1024))).toBe(true);
    expect(send("")).toBe(false);
  });

  test("[RQ41] numbers of lost log lines are added up while the reader takes none", async () => {
    const lines = await openLogs();
    for (let count = 0; count < 1_000; count += 1) operator.answer({ type: "stream_data", lines: [], dropped: 1 });
    send("one");
    expect(await lines.next()).toEqual({ done: false, value: { dropped: 1_000 } });
    expect(await lines.next()).toMatchObject({ value: { line: "one" } });
  });

  test("[RQ6] a log stream whose reader leaves is cancelled at the operator", async () => {
    const leaving = new AbortController();
    const lines = await openLogs(leaving.signal);
    leaving.abort();
    expect(await lines.next()).toMatchObject({ done: true });
    expect(operator.sent.at(-1)).toMatchObject({ type: "stream_cancel", ref: operator.asked().id });
    expect(operator.open).toBe(0);
  });

  test("[RQ7] a log stream fails for its reader when the operator is lost", async () => {
    const lines = await openLogs();
    operator.answer({ type: "stream_data", lines: [line("one")], dropped: 0 });
    operator.lose();
    expect(await lines.next()).toMatchObject({ value: { line: "one" } });
    await expect(lines.next()).rejects.toMatchObject({ kind: "unavailable" });
  });

  test("[RQ4] a log stream that the operator refuses before the first line fails with its message", async () => {
    const opening = operatorRequests(router).logs({ clusterId, ...LOGS }, new AbortController().signal);
    await asked();
    operator.answer({ type: "stream_end", error: "The app is not on the cluster." });
    await expect(opening).rejects.toMatchObject({ kind: "bad_gateway", message: "The app is not on the cluster." });
  });

  test("[RQ3] a log stream that does not begin in time is timed_out and cancelled", async () => {
    const late = operatorRequests(router, 1).logs({ clusterId, ...LOGS }, new AbortController().signal);
    await expect(late).rejects.toMatchObject({ kind: "timed_out" });
    expect(operator.sent.at(-1)).toMatchObject({ type: "stream_cancel" });
  });
});

describe("a command in a container", () => {
  const EXEC = { namespace: "shop", app: "web", component: "web", pod: null, container: null, command: ["sh"] };
  const opening = () => operatorRequests(router).exec({ clusterId, ...EXEC, tty: true, size: { cols: 80, rows: 24 } });

  test.each([
    ["not_found", "not_found"],
    ["not_running", "conflict"],
    ["too_many", "rate_limited"],
    ["unavailable", "unavailable"],
    ["failed", "bad_gateway"],
  ])("[EX6] a command in a container that the operator refuses with %s fails with the kind %s", async (code, kind) => {
    const opened = opening();
    await asked();
    operator.answer({ type: "stream_end", error: "Not today.", code });
    await expect(opened).rejects.toMatchObject({ kind, message: "Not today." });
  });

  test("[EX14] a command in a container gets its first credit when it starts, and not before", async () => {
    const opened = opening();
    await asked();
    operator.answer({ type: "stream_target", pod: "web-0", container: "web", credit_bytes: 9 });
    const process = await opened;
    expect(operator.sent).toHaveLength(1);
    const ended = vi.fn();
    process.start({ output: vi.fn(), taken: vi.fn(), ended });
    const credit_bytes = LINK_LIMITS.streamCreditBytes;
    expect(operator.sent.at(-1)).toMatchObject({ type: "stream_credit", credit_bytes });
    operator.lose();
    expect(ended.mock.calls).toEqual([[{ failed: "lost", message: expect.any(String) }]]);
  });

  test("[RQ40] a command in a container may send as much output as it was credited, and none before it starts", async () => {
    const opened = opening();
    await asked();
    operator.answer({ type: "stream_target", pod: "web-0", container: "web", credit_bytes: 9 });
    const process = await opened;
    const output = vi.fn();
    const send = (bytes: number) =>
      operator.answer({ type: "stream_output", channel: "stdout", data: Buffer.alloc(bytes).toString("base64") });
    expect(send(1)).toBe(false);
    process.start({ output, taken: vi.fn(), ended: vi.fn() });
    expect([send(32 * 1024), send(32 * 1024), send(1)]).toEqual([true, true, false]);
    process.credit(2);
    // An empty frame would otherwise take memory without taking credit.
    expect([send(1), send(0), send(0)]).toEqual([true, true, false]);
    expect(output).toHaveBeenCalledTimes(4);
    process.cancel();
    expect(send(1)).toBeUndefined();
  });

  test("[EX8] a command in a container whose operator is lost before the start ends when it starts", async () => {
    const opened = opening();
    await asked();
    operator.answer({ type: "stream_target", pod: "web-0", container: "web", credit_bytes: 9 });
    const process = await opened;
    operator.lose();
    const ended = vi.fn();
    process.start({ output: vi.fn(), taken: vi.fn(), ended });
    expect(ended).toHaveBeenCalledTimes(1);
  });
});

describe("clearing a cluster", () => {
  const POD = { kind: "Pod", namespace: "shop", name: "web-0", reason: "A PodDisruptionBudget keeps it." };
  const signal = new AbortController().signal;
  const drain = (withinMs = 60_000, given = signal) =>
    operatorRequests(router, 10_000, { withinMs, everyMs: 1 }).drainNodes(clusterId, ["agent-1"], given);
  /** Answers the next request. */
  const answer = async (left: object[]) => {
    await vi.waitFor(() => expect(operator.open).toBe(1));
    operator.answer({ type: "response", answer: { left } } as never);
    await vi.waitFor(() => expect(operator.open).toBe(0));
  };

  test("[RQ19] draining nodes and removing cloud objects is repeated until nothing is left", async () => {
    const draining = drain();
    expect(await asked()).toMatchObject({ type: "request", request: { name: "drain_nodes", nodes: ["agent-1"] } });
    await answer([POD]);
    await answer([POD]);
    await answer([]);
    await draining;
    const removing = operatorRequests(router).removeCloudObjects(clusterId, signal);
    await answer([]);
    await removing;
    expect(operator.sent.at(-1)).toMatchObject({ request: { name: "remove_cloud_objects" } });
  });

  test("[RQ19] draining nodes fails with what is left when the time has passed", async () => {
    const draining = drain(0);
    const failed = expect(draining).rejects.toMatchObject({
      kind: "timed_out",
      message: "The nodes were not drained in time: Pod shop/web-0 (A PodDisruptionBudget keeps it.).",
    });
    await answer([POD]);
    await failed;
  });

  test("[RQ19] draining nodes waits for an operator that was connected before, and fails without one at the beginning", async () => {
    let isAway = true;
    const send = router.send;
    router = {
      ...router,
      send: (...args) => (isAway ? Promise.reject(noOperatorConnected()) : send(...args)),
    };
    await expect(drain()).rejects.toMatchObject({ kind: "unavailable" });
    isAway = false;
    const draining = drain();
    await vi.waitFor(() => expect(operator.open).toBe(1));
    isAway = true;
    operator.answer({ type: "response", answer: { left: [POD] } });
    await vi.waitFor(() => expect(operator.open).toBe(0));
    isAway = false;
    await answer([]);
    await draining;
  });

  test("[RQ19] draining nodes fails with what is left when the time of its caller has passed", async () => {
    const late = new AbortController();
    const draining = drain(60_000, late.signal);
    const failed = expect(draining).rejects.toMatchObject({
      kind: "timed_out",
      message: expect.stringContaining("Pod shop/web-0"),
    });
    await vi.waitFor(() => expect(operator.open).toBe(1));
    late.abort(new DOMException("Too late.", "TimeoutError"));
    operator.answer({ type: "response", answer: { left: [POD] } });
    await failed;
  });

  test("[RQ19] draining nodes ends when its signal is aborted", async () => {
    const leaving = new AbortController();
    const draining = drain(60_000, leaving.signal);
    const failed = expect(draining).rejects.toThrow("The worker stops.");
    await vi.waitFor(() => expect(operator.open).toBe(1));
    leaving.abort(new Error("The worker stops."));
    operator.answer({ type: "response", answer: { left: [POD] } });
    await failed;
  });

  test("[RQ44] many disks are asked for in parts, and an operator that is too old is a failure", async () => {
    const ids = Array.from({ length: 150 }, (_, index) => `vol-${index}`);
    const describing = operatorRequests(router).describeDisks(clusterId, ids);
    const row = (disk: string) => ({ disk, claim: null, deletable: true });
    const reply = async (disks: readonly string[]) => {
      await vi.waitFor(() => expect(operator.open).toBe(1));
      expect(operator.sent.at(-1)).toMatchObject({ request: { name: "describe_disks", disks } });
      operator.answer({ type: "response", answer: { disks: [row(disks[0] ?? "")] } });
      await vi.waitFor(() => expect(operator.open).toBe(0));
    };
    await reply(ids.slice(0, 100));
    await reply(ids.slice(100));
    expect(await describing).toEqual([row("vol-0"), row("vol-100")]);
  });

  test("[RQ45] the local volumes of nodes are named and counted", async () => {
    const reading = operatorRequests(router).localVolumes(clusterId, ["agent-1"]);
    expect(await asked()).toMatchObject({ request: { name: "local_volumes", nodes: ["agent-1"] } });
    const volume = { node: "agent-1", name: "pvc-1", claim: "shop/data" };
    operator.answer({ type: "response", answer: { local_volumes: [volume], total: 101 } });
    expect(await reading).toEqual({ named: [volume], total: 101 });
  });
});
