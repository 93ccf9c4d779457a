import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { startWorld } from "@binnacle/world";
import { Pipe } from "@binnacle/world/pipe";
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import { openShop } from "../apps/app.fixture.ts";
import { scriptedSession } from "./live-session.fixture.ts";
import { acceptPeers, createPeerKey, dialPeer, PEER_PATH, type PeerServer } from "./peer.adapter.ts";
import type { OperatorRequest, Reply } from "./request-frames.ts";
import { type RequestRouter, serveRequests, startRequestRouter } from "./request-router.runner.ts";

const KEEP_ALIVE = { everyMs: 20, deadAfterMs: 300 };
const SOON = { timeout: 5_000, interval: 5 };
const LOGS: OperatorRequest = {
  name: "logs",
  namespace: "shop",
  app: "web",
  component: "web",
  tail_lines: 5,
  since_seconds: null,
  follow: true,
};
const EXEC: OperatorRequest = {
  name: "exec",
  namespace: "shop",
  app: "web",
  component: "web",
  pod: null,
  container: null,
  command: ["sh"],
  tty: true,
  size: { cols: 80, rows: 24 },
};
const METRICS: OperatorRequest = { name: "metrics", app: null, range_seconds: 60 };
const NO_TLS = { publicHost: null, certificate: () => null };
const log = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };

let clusterId: string;
let operator: ReturnType<typeof scriptedSession>;
let server: Server;
let peers: PeerServer;
/** Leads from the router to the hub. */
let pipe: Pipe;
let router: RequestRouter;
let replies: Reply[];
/** Whether the hub has the session. */
let held: boolean;

const world = await startWorld();
afterAll(() => world.stop());

const key = () => createPeerKey("the signing key of both processes", world.clock.now);
const hubOf = () => ({ id: operator.session.fence.hubId, url: `http://127.0.0.1:${pipe.port}` });

beforeEach(async () => {
  log.warn.mockClear();
  clusterId = (await openShop(world)).cluster;
  operator = scriptedSession(clusterId);
  server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  pipe = await Pipe.to((server.address() as AddressInfo).port);
  const sessions = { find: (id: string) => (held && id === clusterId ? operator.session : null) };
  const onPeer = serveRequests(sessions);
  peers = acceptPeers(server, { hubId: hubOf().id, key: key(), log, onPeer, keepAlive: KEEP_ALIVE });
  await lease(60_000);
  router = startRequestRouter({
    db: world.database.kysely,
    log,
    local: { find: () => null },
    peerKey: key(),
    trust: NO_TLS,
    keepAlive: KEEP_ALIVE,
  });
  replies = [];
  held = true;
});
afterEach(async () => {
  router.stop();
  peers.close();
  await pipe.close();
  server.close();
});

async function lease(forMs: number): Promise<void> {
  const now = world.clock.now();
  const { id: hub_id, url: hub_url } = hubOf();
  const until = new Date(now.getTime() + forMs);
  await world.database.kysely
    .insertInto("cluster_sessions")
    .values({ cluster_id: clusterId, hub_id, hub_url, epoch: 1, token_version: 1, lease_until: until, started_at: now })
    .execute();
}

const ask = (request: OperatorRequest) => router.send(clusterId, request, (reply) => replies.push(reply));
const sentLast = (type: string) => vi.waitFor(() => expect(operator.sent.at(-1)).toMatchObject({ type }), SOON);
const asked = () => vi.waitFor(() => operator.asked(), SOON);

describe("a request to an operator of another process", () => {
  test("[RQ1] a request to an operator of another process goes to its hub, and its answer comes back", async () => {
    await ask(METRICS);
    expect(await asked()).toMatchObject({ type: "request" });
    operator.answer({ type: "response", answer: { metrics: null } });
    await vi.waitFor(() => expect(replies).toEqual([{ metrics: null }]));
  });

  test("[RQ1] a log stream of another hub takes credit and can be cancelled", async () => {
    const open = await ask(LOGS);
    await asked();
    operator.answer({ type: "stream_data", lines: [], dropped: 1 });
    await vi.waitFor(() => expect(replies).toEqual([{ lines: [], dropped: 1 }]));
    open.credit(100);
    await vi.waitFor(() => expect(operator.sent.at(-1)).toMatchObject({ type: "stream_credit", credit_bytes: 100 }));
    open.cancel();
    await vi.waitFor(() => expect(operator.sent.at(-1)).toMatchObject({ type: "stream_cancel" }));
  });

  test("[EX11] a command at another hub gets its input, and its output, credit and end come back", async () => {
    const open = await ask(EXEC);
    expect(await asked()).toMatchObject({ type: "stream_open", credit_bytes: 0 });
    operator.answer({ type: "stream_target", pod: "web-0", container: "web", credit_bytes: 9 });
    open.credit(2);
    await vi.waitFor(() => expect(operator.sent.at(-1)).toMatchObject({ type: "stream_credit", credit_bytes: 2 }));
    operator.answer({ type: "stream_output", channel: "stdout", data: "aGk=" });
    expect(operator.answer({ type: "stream_output", channel: "stdout", data: "aGk=" })).toBe(false);
    operator.answer({ type: "stream_credit", credit_bytes: 4 });
    open.input({ data: "bHM=" });
    open.input({ end: true });
    await vi.waitFor(() => expect(operator.sent.slice(-2)).toMatchObject([{ data: "bHM=" }, { end: true }]));
    operator.answer({ type: "stream_end", error: null, exit_code: 3 });
    const target = { pod: "web-0", container: "web", credit_bytes: 9 };
    const output = { channel: "stdout", data: "aGk=" };
    const expected = [{ target }, { output }, { taken: 4 }, { end: null, exit_code: 3 }];
    await vi.waitFor(() => expect(replies).toEqual(expected));
  });

  test.each([
    ["[EX11] a command", EXEC],
    ["[RQ43] a log stream", LOGS],
  ])(
    "%s at another hub ends when the connection to it is lost, for its reader and at the operator",
    async (_, request) => {
      await ask(request);
      await asked();
      pipe.cut();
      await vi.waitFor(() => expect(replies).toMatchObject([{ failed: "lost" }]), SOON);
      await sentLast("stream_cancel");
      // The next request connects again.
      await ask(METRICS);
      await sentLast("request");
    },
  );

  test("[EX43] output that arrives together is joined on its way from another hub, and is sent before what comes after it", async () => {
    const open = await ask(EXEC);
    await asked();
    open.credit(1_000);
    await vi.waitFor(() => expect(operator.sent).toHaveLength(2));
    const send = (channel: string) => operator.answer({ type: "stream_output", channel, data: "eA==" });
    for (let count = 0; count < 400; count += 1) send(count % 2 === 0 ? "stdout" : "stderr");
    operator.answer({ type: "stream_end", error: null, exit_code: 0 });
    const data = Buffer.from("x".repeat(200)).toString("base64");
    const outputs = ["stdout", "stderr"].map((channel) => ({ output: { channel, data } }));
    await vi.waitFor(() => expect(replies).toEqual([...outputs, { end: null, exit_code: 0 }]));
  });

  test("[EX6] a command for an operator that is too old is refused at another hub, and nothing is kept open for it", async () => {
    operator = scriptedSession(clusterId, []);
    await ask(EXEC);
    await vi.waitFor(() => expect(replies).toMatchObject([{ failed: "refused" }]));
    expect([operator.sent, operator.open]).toEqual([[], 0]);
  });

  test("[RQ14] an operator is connected while its hub holds a lease that has not run out", async () => {
    expect(await router.isConnected(clusterId)).toBe(true);
    const sessions = world.database.kysely.updateTable("cluster_sessions").where("cluster_id", "=", clusterId);
    await sessions.set({ lease_until: world.clock.now() }).execute();
    expect(await router.isConnected(clusterId)).toBe(false);
  });

  test("[RQ2] a request is unavailable while nobody holds the session of its operator", async () => {
    await world.database.kysely.deleteFrom("cluster_sessions").where("cluster_id", "=", clusterId).execute();
    await expect(ask(METRICS)).rejects.toMatchObject({ kind: "unavailable" });
  });

  test("[RQ1544] a request is unavailable while its hub cannot be reached, and the log names the hub's address", async () => {
    await pipe.close();
    await expect(ask(METRICS)).rejects.toMatchObject({ kind: "unavailable" });
    expect(log.warn).toHaveBeenCalledWith(expect.objectContaining({ hub_url: hubOf().url }), expect.any(String));
    await pipe.open();
    await ask(METRICS);
    expect(await asked()).toMatchObject({ type: "request" });
  });

  test("[RQ4] a request is lost when its hub no longer has the session", async () => {
    held = false;
    await ask(METRICS);
    await vi.waitFor(() => expect(replies).toMatchObject([{ failed: "lost" }]), SOON);
  });

  test("[RQ6] a log stream is cancelled at the operator when its sender falls silent, and when it stops", async () => {
    await ask(LOGS);
    await asked();
    pipe.stall();
    await sentLast("stream_cancel");
    pipe.flow();
    await vi.waitFor(() => expect(replies).toMatchObject([{ failed: "lost" }]), SOON);
    await ask(LOGS);
    await sentLast("stream_open");
    router.stop();
    await sentLast("stream_cancel");
  });

  test("[RQ7] a log stream is lost for its reader when the hub falls silent, and when it stops", async () => {
    await ask(LOGS);
    await asked();
    pipe.stall();
    await vi.waitFor(() => expect(replies).toMatchObject([{ failed: "lost" }]), SOON);
    pipe.flow();
    await sentLast("stream_cancel");
    await ask(LOGS);
    await sentLast("stream_open");
    peers.close();
    await vi.waitFor(() => expect(replies).toMatchObject([{ failed: "lost" }, { failed: "lost" }]), SOON);
  });

  test("[RQ6] a log stream goes on for as long as sender and hub are there", async () => {
    const pings = vi.spyOn(WebSocket.prototype, "ping");
    await ask(LOGS);
    await asked();
    await vi.waitFor(() => expect(pings.mock.calls.length).toBeGreaterThan(60), SOON);
    pings.mockRestore();
    expect(replies).toEqual([]);
    operator.answer({ type: "stream_end", error: null });
    await vi.waitFor(() => expect(replies).toEqual([{ end: null }]), SOON);
  });

  test("[RQ1545] a request that is given up leaves nothing open at the hub", async () => {
    const open = await ask(METRICS);
    await asked();
    expect(operator.open).toBe(1);
    open.cancel();
    await vi.waitFor(() => expect(operator.open).toBe(0), SOON);
  });
});

describe("a hub that other processes connect to", () => {
  const handler = { onMessage: () => undefined, onClose: () => undefined };
  const dial = (hub = hubOf(), peerKey = key()) => dialPeer(hub, handler, { key: peerKey, log, trust: NO_TLS });

  test("[RQ1546] a process is refused without the signing key, with a credential for another hub, and with an old one", async () => {
    (await dial()).close();
    const strange = createPeerKey("another signing key", world.clock.now);
    await expect(dial(hubOf(), strange)).rejects.toThrow("401");
    await expect(dial({ ...hubOf(), id: "another hub" })).rejects.toThrow("401");
    const old = createPeerKey(
      "the signing key of both processes",
      () => new Date(world.clock.now().getTime() - 31 * 60_000),
    );
    await expect(dial(hubOf(), old)).rejects.toThrow("401");
    const skewed = createPeerKey(
      "the signing key of both processes",
      () => new Date(world.clock.now().getTime() + 10 * 60_000),
    );
    (await dial(hubOf(), skewed)).close();
    for (const authorization of ["", "Bearer ", "Bearer x", "Bearer 1.", `Bearer ${"9".repeat(199)}`]) {
      const socket = new WebSocket(`${hubOf().url}${PEER_PATH}`, { headers: { authorization } });
      await expect(once(socket, "open")).rejects.toThrow("401");
    }
  });
});
