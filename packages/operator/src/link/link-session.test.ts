import { randomUUID } from "node:crypto";
import { CLOSE, type LogLine, type Metrics, UPGRADE_REQUEST } from "@binnacle/contract";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import type { LinkPorts } from "./link.adapter.ts";
import { FACTS, linked, order } from "./link.fixture.ts";
import { MemoryStore } from "./memory-store.fixture.ts";
import { AnswerError, type Answerer } from "./ports.ts";

async function live(changes: Partial<LinkPorts> = {}) {
  const started = await linked(changes);
  return { ...started, side: await started.hub.live() };
}

const LINE: LogLine = {
  component: "web",
  pod: "web-0",
  container: "web",
  time: "2026-01-31T09:30:00.000Z",
  line: "ready",
};
const logs = { name: "logs", namespace: "shop", app: "web", component: "web", tail_lines: 10 } as const;
const answering = (part: Partial<Answerer>): Answerer => ({
  metrics: async () => null,
  observe: () => Promise.reject(new Error("nothing is observed")),
  run: async () => ({ run: null }),
  infrastructure: async () => ({ left: [] }),
  exec: () => Promise.reject(new Error("no commands are run")),
  async *logs() {},
  ...part,
});

describe("the hello", () => {
  test.each([true, false])(
    "[OU13] the hello lists the request to upgrade if the operator may do so: %s",
    async (may) => {
      const upgrade: Answerer["upgrade"] = () => Promise.reject(new Error("nobody asks"));
      const { hub } = await linked({ answerer: answering(may ? { upgrade } : {}) });
      const { requests } = await (await hub.live()).received("hello");
      expect([requests?.includes(UPGRADE_REQUEST), requests?.includes("exec")]).toEqual([may, true]);
    },
  );
});

describe("frames from the hub", () => {
  test("[OL19] an apply frame from the hub is acknowledged once it is stored", async () => {
    const { side, store } = await live();
    const frame = order("a");
    side.send(frame);
    expect(await side.received("ack")).toEqual({
      type: "ack",
      ref: frame.id,
      session: side.sessionId,
      key: "project/a",
      generation: 1,
    });
    expect(store.entries.get("project/a")).toMatchObject({ generation: 1, hash: frame.hash });
    const { kind, key, resource_id } = frame;
    side.send({ type: "remove", id: randomUUID(), kind, key, resource_id, generation: 2 });
    expect(await side.received("ack", 2)).toMatchObject({ generation: 2 });
    expect(store.entries.size).toBe(0);
  });

  test("[OL19] an apply or remove frame is refused with a reason that may be shown", async () => {
    const store = new MemoryStore();
    vi.spyOn(store, "apply").mockResolvedValueOnce({ code: "invalid", message: "<b>no</b>" });
    vi.spyOn(store, "remove").mockRejectedValueOnce(new Error("hush"));
    const { side, log } = await live({ store });
    const { kind, key, resource_id, ...frame } = order("a");
    side.send({ ...frame, kind, key, resource_id });
    expect(await side.received("nack")).toMatchObject({ ref: frame.id, code: "invalid", message: "‹b>no‹/b>" });
    side.send({ type: "remove", id: randomUUID(), kind, key, resource_id, generation: 2 });
    expect(await side.received("nack", 2)).toMatchObject({
      code: "unable",
      message: "The cluster could not store it.",
    });
    expect(log.warn).toHaveBeenCalledOnce();
  });

  test("[OL19] a frame beyond what the operator can queue is refused for now", async () => {
    const store = new MemoryStore();
    const gate = Promise.withResolvers<null>();
    vi.spyOn(store, "apply").mockReturnValue(gate.promise);
    const { side } = await live({ store });
    for (let i = 0; i < 257; i += 1) side.send(order(`p${i}`));
    expect(await side.received("nack")).toMatchObject({ key: "project/p256", code: "unable" });
    gate.resolve(null);
    await side.received("ack", 256);
  });

  test("[OL20] [FA5] frames that come twice and in any order leave the highest generation", async () => {
    const { side, store } = await live();
    const generations = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 12 });
    let run = 0;
    await fc.assert(
      fc.asyncProperty(generations, async (given) => {
        const name = `p${run++}`;
        const before = side.frames.length;
        for (const generation of given) side.send(order(name, generation));
        await vi.waitFor(() => expect(side.frames.length - before).toBe(given.length));
        expect(store.entries.get(`project/${name}`)?.generation).toBe(Math.max(...given));
        expect(side.all("nack").every(({ code }) => code === "stale")).toBe(true);
      }),
      { numRuns: 30 },
    );
  });

  test("[OL21] a frame that is not understood is refused for good, and the session goes on", async () => {
    const { side } = await live();
    const frame = { ...order("a"), session: side.sessionId };
    side.raw({ ...frame, body: { spec: { name: "a" }, secret: {} } });
    expect(await side.received("nack")).toMatchObject({ ref: frame.id, code: "invalid" });
    side.send(order("b"));
    await side.received("ack");
  });

  test("[CH9] the credentials of chart repositories are passed on from the welcome and whenever they change", async () => {
    const { hub, commands, log } = await linked();
    const credential = { url: "oci://registry.example.com", username: "robot", password: "s3cret-of-the-test" };
    const side = await hub.live(1, { chart_repositories: [credential] });
    await vi.waitFor(() => expect(commands.chartRepositories).toHaveBeenLastCalledWith([credential]));
    side.send({ type: "chart_repositories", chart_repositories: [] });
    await vi.waitFor(() => expect(commands.chartRepositories).toHaveBeenLastCalledWith([]));
    const said = [log.debug, log.info, log.warn, log.error].map(({ mock }) => mock.calls);
    expect(JSON.stringify(said)).not.toContain(credential.password);
  });

  test("[OL23] the revision at the end of a sync and the settings are remembered", async () => {
    const onSyncEnd = vi.fn();
    const { side, store, commands, link } = await live({ onSyncEnd });
    side.send({ type: "sync_end", revision: 12 });
    side.send({ type: "settings", settings: { drift_policy: "report" } });
    await vi.waitFor(() => expect(commands.settings).toHaveBeenLastCalledWith({ drift_policy: "report" }));
    await link.stop();
    expect(onSyncEnd).toHaveBeenCalledOnce();
    expect(store.kept).toEqual({ revision: 12, settings: { drift_policy: "report" } });
  });

  test.each([
    ["no JSON", "<html>hush</html>", /not a JSON/],
    ["an unknown type", { type: "hush" }, /does not know/],
    ["a wrong form", { type: "sync_end", revision: "hush" }, /malformed/],
    ["another session", { type: "sync_end", revision: 1, session: randomUUID() }, /another session/],
  ])("[OL22] a frame from the hub that is %s ends the session", async (_, frame, problem) => {
    const { side, hub, log } = await live();
    side.raw(typeof frame === "string" ? frame : { session: side.sessionId, ...frame });
    await vi.waitFor(() => expect(side.closed).toMatchObject({ code: CLOSE.protocolError }));
    expect(log.error).toHaveBeenCalledOnce();
    expect(log.error.mock.calls[0]?.[0]).toMatchObject({ problem: expect.stringMatching(problem) });
    expect(JSON.stringify(log.error.mock.calls)).not.toContain("hush");
    await hub.live(2);
  });

  test("[OL22] a frame before the welcome, and a second welcome, end the session", async () => {
    const { hub } = await linked();
    const early = await hub.side();
    early.send(order("a"));
    await vi.waitFor(() => expect(early.closed?.code).toBe(CLOSE.protocolError));
    const twice = await hub.live(2);
    await twice.welcome();
    await vi.waitFor(() => expect(twice.closed?.code).toBe(CLOSE.protocolError));
    const other = await hub.side(3);
    await other.welcome({ ref: randomUUID() });
    await vi.waitFor(() => expect(other.closed?.code).toBe(CLOSE.protocolError));
  });
});

describe("requests of the hub", () => {
  test("[OL24] a resync sends every report again and reconciles everything", async () => {
    const { side, commands, outbox } = await live();
    const subject = { key: "project/a", resource_id: randomUUID(), generation: 1 };
    outbox.report("project", subject, { state: "ready", message: null });
    const { id } = await side.received("status");
    side.send({ type: "noted", refs: [id] });
    const asked = randomUUID();
    side.send({ type: "command", id: asked, command: { name: "resync" } });
    expect(await side.received("status", 2)).toMatchObject({ ...subject });
    expect(await side.received("response")).toMatchObject({ ref: asked, answer: { done: true } });
    expect(commands.resync).toHaveBeenCalledOnce();
  });

  test("[OL25] a request for metrics is answered, or with the reason why not", async () => {
    const metrics = vi.fn<Answerer["metrics"]>();
    const found: Omit<Metrics, "range"> = { step: "15s", series: [] };
    metrics
      .mockResolvedValueOnce(found)
      .mockResolvedValueOnce(null)
      .mockRejectedValueOnce(new AnswerError("unavailable", "Prometheus does not answer."))
      .mockRejectedValueOnce(new Error("hush"))
      .mockResolvedValueOnce({
        step: "15s",
        series: [{ name: "x".repeat(3e6), unit: "cores", labels: {}, points: [] }],
      });
    const { side } = await live({ answerer: answering({ metrics }) });
    const answers = [];
    for (let nth = 1; nth <= 5; nth += 1) {
      const request = { name: "metrics", app: null, range_seconds: 60 } as const;
      side.send({ type: "request", id: randomUUID(), request });
      answers.push((await side.received("response", nth)).answer);
    }
    expect(answers).toEqual([
      { metrics: found },
      { metrics: null },
      { error: { code: "unavailable", message: "Prometheus does not answer." } },
      { error: { code: "failed", message: "The operator failed to answer." } },
      { error: { code: "failed", message: "The answer is too large." } },
    ]);
  });

  test("[AP90] [OL25] a request for objects or events is answered, or with the reason why not", async () => {
    const empty = { truncated: false, observed_at: "2026-01-31T09:30:00.000Z" };
    const observe = vi.fn<Answerer["observe"]>();
    observe
      .mockResolvedValueOnce({ resources: { objects: [], ...empty } })
      .mockResolvedValueOnce({ events: { events: [], ...empty } })
      .mockRejectedValueOnce(new AnswerError("unavailable", "The cluster's API server does not answer."));
    const { side } = await live({ answerer: answering({ observe }) });
    const answers = [];
    for (const name of ["resources", "events", "resources"] as const) {
      side.send({ type: "request", id: randomUUID(), request: { name, namespace: "shop", app: "web" } });
      answers.push((await side.received("response", answers.length + 1)).answer);
    }
    expect(answers).toEqual([
      { resources: { objects: [], ...empty } },
      { events: { events: [], ...empty } },
      { error: { code: "unavailable", message: "The cluster's API server does not answer." } },
    ]);
    expect(observe.mock.calls.map(([{ name }]) => name)).toEqual(["resources", "events", "resources"]);
  });

  test("[RQ15] [RQ17] a request before machines are taken away is answered with what is left, or with the reason why not", async () => {
    const left = [{ kind: "Pod", namespace: "shop", name: "web-0", reason: "It is being stopped." }];
    const infrastructure = vi.fn<Answerer["infrastructure"]>();
    infrastructure
      .mockResolvedValueOnce({ left })
      .mockRejectedValueOnce(new AnswerError("failed", "Draining the nodes: forbidden"));
    const { side } = await live({ answerer: answering({ infrastructure }) });
    const drain = { name: "drain_nodes" as const, nodes: ["agent-1"], timeout_seconds: 5 };
    const remove = { name: "remove_cloud_objects", timeout_seconds: 5 } as const;
    side.send({ type: "request", id: randomUUID(), request: drain });
    expect((await side.received("response", 1)).answer).toEqual({ left });
    side.send({ type: "request", id: randomUUID(), request: remove });
    expect((await side.received("response", 2)).answer).toEqual({
      error: { code: "failed", message: "Draining the nodes: forbidden" },
    });
    expect(infrastructure.mock.calls).toEqual([[drain], [remove]]);
  });

  test("[OL35] logs are sent as far as the credit goes, and then end", async () => {
    const long = { ...LINE, line: "x".repeat(10_000) };
    const lines = async function* () {
      for (let i = 0; i < 20; i += 1) yield long;
    };
    const { side } = await live({ answerer: answering({ logs: lines }) });
    const id = randomUUID();
    side.send({
      type: "stream_open",
      id,
      stream: { ...logs, since_seconds: null, follow: false },
      credit_bytes: 65_536,
    });
    const received = () => side.all("stream_data").flatMap((frame) => frame.lines).length;
    await vi.waitFor(() => expect(received()).toBe(7));
    side.send({ type: "stream_credit", ref: id, credit_bytes: 1_000_000 });
    expect(await side.received("stream_end")).toMatchObject({ ref: id, error: null });
    expect(received()).toBe(20);
  });

  test("[OL37] logs stop when nobody reads them any more, or when the session ends", async () => {
    const signals: AbortSignal[] = [];
    const follow: Answerer["logs"] = async function* (_, signal) {
      signals.push(signal);
      yield LINE;
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    };
    const { side } = await live({ answerer: answering({ logs: follow }) });
    const [first, second] = [randomUUID(), randomUUID()];
    for (const id of [first, second, second]) {
      const stream = { ...logs, since_seconds: null, follow: true };
      side.send({ type: "stream_open", id, stream, credit_bytes: 65_536 });
    }
    await side.received("stream_data", 2);
    expect(signals).toHaveLength(2);
    side.send({ type: "stream_cancel", ref: first });
    await vi.waitFor(() => expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]));
    side.socket.terminate();
    await vi.waitFor(() => expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]));
  });

  test("[OL17] a renewed token is stored, acknowledged and used for the next connection", async () => {
    const { side, hub, tokens } = await live();
    const id = randomUUID();
    const token = "renewed-token";
    tokens.store.mockImplementationOnce(async (renewed) => void tokens.current.mockResolvedValue(renewed));
    side.send({ type: "renew_token", id, token, expires_at: "2027-01-31T09:30:00.000Z" });
    expect(await side.received("token_stored")).toMatchObject({ ref: id });
    expect(tokens.store).toHaveBeenCalledWith(token);
    side.socket.terminate();
    expect((await hub.side(2)).token).toBe(token);
  });

  test("[OL17] a token that could not be stored is not acknowledged", async () => {
    const { side, tokens, log } = await live();
    tokens.store.mockRejectedValueOnce(new Error("forbidden"));
    side.send({ type: "renew_token", id: randomUUID(), token: "hush", expires_at: "2027-01-31T09:30:00.000Z" });
    await vi.waitFor(() => expect(log.error).toHaveBeenCalledOnce());
    expect(JSON.stringify(log.error.mock.calls)).not.toContain("hush");
    expect(side.all("token_stored")).toEqual([]);
  });
});

describe("frames to the hub", () => {
  const subject = { key: "project/a", resource_id: randomUUID(), generation: 3 };

  test("[OL26] heartbeats are sent regularly, with facts where they have changed, and with a ping", async () => {
    let nodes = 1;
    const { hub } = await linked({ facts: () => ({ ...FACTS, node_count: nodes }) });
    const side = await hub.live(1, { heartbeat_seconds: 0.02 });
    expect(await side.received("heartbeat")).toEqual({ type: "heartbeat", session: side.sessionId });
    nodes = 2;
    await vi.waitFor(() => expect(side.all("heartbeat").some(({ facts }) => facts?.node_count === 2)).toBe(true));
    const count = side.all("heartbeat").length;
    await side.received("heartbeat", count + 2);
    expect(side.all("heartbeat").filter(({ facts }) => facts)).toHaveLength(1);
    expect(side.pings).toBeGreaterThan(0);
  });

  test("[OL30] a report is sent when it is made, and again in the next session until the hub has recorded it", async () => {
    const { side, hub, outbox } = await live();
    outbox.report("project", subject, { state: "ready", message: null });
    expect(await side.received("status")).toMatchObject({ ...subject, report: { state: "ready" } });
    side.socket.terminate();
    const second = await hub.live(2);
    const { id } = await second.received("status");
    second.send({ type: "noted", refs: [id] });
    second.send(order("b"));
    await second.received("ack");
    second.socket.terminate();
    const third = await hub.live(3);
    third.send(order("c"));
    await third.received("ack");
    expect(third.all("status")).toEqual([]);
  });

  test("[OL30] a report that is made while the hub is away is sent when the hub is back", async () => {
    const { hub, outbox } = await linked();
    outbox.report("project", subject, { state: "ready", message: null });
    await (await hub.live()).received("status");
  });

  test("[OL28] a report that the hub would not accept is not sent, and other reports are", async () => {
    const { side, outbox, log } = await live();
    const broken = { state: "odd", message: null } as never;
    outbox.report("project", { ...subject, key: "project/bad" }, broken);
    outbox.report("project", subject, { state: "ready", message: null });
    expect(await side.received("status")).toMatchObject({ key: "project/a" });
    expect(log.error).toHaveBeenCalledWith(expect.objectContaining({ key: "project/bad" }), expect.any(String));
  });
});
