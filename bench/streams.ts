import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import {
  creditOf,
  EXEC_LIMITS,
  EXEC_SUBPROTOCOL,
  HUB_PATH,
  type HubFrame,
  LINK_SUBPROTOCOL,
  LINK_VERSION,
  NEGOTIATED_REQUESTS,
} from "../packages/contract/src/index.ts";
import { newId } from "../packages/server/src/id.adapter.ts";
import { startRedis } from "./hub-stage.ts";
import { type Process, residentMb } from "./process.ts";
import { type Stage, withStage } from "./stage.ts";
import { limitMissed, printTable } from "./table.ts";

/**
 * What the output of an operator takes of the server's memory while its reader does not read: of an operator that keeps to its
 * credit, and of one that does not. In one process, and with the hub in a process of its own behind Redis.
 */

const TO_SEND_BYTES = 200e6;
const MOST_GROWTH_MB = 20;
/** An operator that has sent nothing for so long waits for its reader. */
const STALLED_MS = 3_000;
const FACTS = {
  kubernetes_version: "v1.37.1",
  node_count: 1,
  capacity: { cpu_cores: 4, memory_bytes: 8e9, pods: 110 },
};

interface Case {
  readonly name: string;
  readonly stream: "exec" | "logs";
  readonly frame: object;
  /** What the frame takes of the credit. */
  readonly cost: number;
  readonly isConforming: boolean;
  readonly isRead?: boolean;
  /** Only for comparison: frames of one byte leave garbage by which the heap grows for a while, whether their reader reads or not. */
  readonly isUnlimited?: true;
  readonly toSendBytes?: number;
}

const output = (bytes: number) => ({
  stream: "exec" as const,
  frame: { type: "stream_output", channel: "stdout", data: Buffer.alloc(bytes, "x").toString("base64") },
  cost: bytes,
});
const LINES = Array.from({ length: 100 }, () => ({
  component: "web",
  pod: "web-0",
  container: "web",
  time: "2026-01-31T09:30:00.000Z",
  line: "x".repeat(200),
}));
const LOGS = {
  stream: "logs",
  frame: { type: "stream_data", lines: LINES, dropped: 0 },
  cost: creditOf(LINES),
} as const;

const CASES: readonly Case[] = [
  { name: "exec, no regard to credit, not read", ...output(EXEC_LIMITS.frameBytes), isConforming: false },
  { name: "exec, within its credit, not read", ...output(EXEC_LIMITS.frameBytes), isConforming: true },
  { name: "exec, within its credit, byte by byte, not read", ...output(1), isConforming: true, isUnlimited: true },
  { name: "logs, no regard to credit, not read", ...LOGS, isConforming: false },
  { name: "logs, within their credit, not read", ...LOGS, isConforming: true },
  {
    name: "exec, within its credit, read",
    ...output(EXEC_LIMITS.frameBytes),
    isConforming: true,
    // The reader answers no ping, so it has 30 seconds.
    isRead: true,
    isUnlimited: true,
    toSendBytes: 20e6,
  },
  {
    name: "exec, within its credit, byte by byte, read",
    ...output(1),
    isConforming: true,
    isRead: true,
    isUnlimited: true,
    toSendBytes: 1e6,
  },
];
/** Has everything loaded and compiled, and the heap as large as such work makes it, before memory is measured. */
const WARM_UP = CASES.map((one) => ({
  ...one,
  isConforming: true,
  isRead: true,
  toSendBytes: Math.max(300_000, 300 * one.cost),
}));

/** Speaks the protocol as far as a stream needs it. */
function startOperator(url: string, token: string, given: Case) {
  const headers = { authorization: `Bearer ${token}` };
  const socket = new WebSocket(url + HUB_PATH, { protocols: LINK_SUBPROTOCOL, headers });
  const state = { sentBytes: 0, closeCode: null as number | null, isLive: false };
  let [session, ref, creditBytes, isSending] = ["", "", 0, false];
  const say = (frame: object) => socket.send(JSON.stringify({ session, ...frame }));

  async function send(): Promise<void> {
    if (isSending) return;
    isSending = true;
    const text = JSON.stringify({ session, ref, ...given.frame });
    const most = given.toSendBytes ?? TO_SEND_BYTES;
    while (socket.readyState === WebSocket.OPEN && state.sentBytes < most) {
      const isHeldBack = socket.bufferedAmount > 256 * 1024 || (given.isConforming && creditBytes < given.cost);
      if (isHeldBack) await setTimeout(1);
      else {
        creditBytes -= given.cost;
        state.sentBytes += given.cost;
        socket.send(text);
      }
    }
  }

  socket.addEventListener("open", () => {
    const digest = createHash("sha256").digest("hex");
    const known = { operator_version: "bench", facts: FACTS, requests: NEGOTIATED_REQUESTS };
    say({ type: "hello", session: undefined, id: newId(), versions: [LINK_VERSION], revision: null, digest, ...known });
  });
  socket.addEventListener("message", ({ data }) => {
    const frame = JSON.parse(data as string) as HubFrame;
    if (frame.type === "welcome") {
      session = frame.session;
      state.isLive = true;
      if (frame.resume === "inventory") say({ type: "inventory", entries: [], more: false });
    } else if (frame.type === "apply") {
      say({ type: "ack", ref: frame.id, key: frame.key, generation: frame.generation });
    } else if (frame.type === "stream_open") {
      ref = frame.id;
      creditBytes = frame.credit_bytes;
      if (given.stream === "logs") void send();
      else say({ type: "stream_target", ref, pod: "web-0", container: "web", credit_bytes: 1 });
    } else if (frame.type === "stream_credit") {
      creditBytes += frame.credit_bytes;
      void send();
    }
  });
  socket.addEventListener("close", ({ code }) => {
    state.closeCode = code;
  });
  return { state, stop: () => socket.close() };
}

const HANDSHAKE =
  "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n" +
  `sec-websocket-key: ${Buffer.alloc(16).toString("base64")}\r\nsec-websocket-protocol: ${EXEC_SUBPROTOCOL}\r\n`;

/** A reader that reads nothing unless told to. */
async function openReader({ binnacle, headers }: Stage, given: Case, projectId: string): Promise<Socket> {
  const socket = connect(binnacle.port, "127.0.0.1");
  socket.on("error", () => undefined);
  const [path, more] = given.stream === "exec" ? ["components/web/exec", HANDSHAKE] : ["logs", ""];
  const target = `/api/v1/apps/streams/web/${path}?project_id=${projectId}`;
  const { authorization = "" } = headers;
  socket.write(`GET ${target} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: ${authorization}\r\n${more}\r\n`);
  await once(socket, "readable");
  if (given.isRead) socket.resume();
  return socket;
}

interface Layout {
  readonly stage: Stage;
  readonly hub: Process;
  /** Of the cluster's operator. */
  readonly token: string;
  readonly projectId: string;
}
interface Seen {
  readonly growthMb: number;
  readonly sentBytes: number;
  readonly closeCode: number | null;
}

async function measure({ stage, hub, token, projectId }: Layout, given: Case): Promise<Seen> {
  const servers = [...new Set([stage.binnacle, hub])];
  const { state, stop } = startOperator(`ws://127.0.0.1:${hub.port}`, token, given);
  while (!state.isLive) await setTimeout(10);
  const before = servers.map(residentMb);
  const reader = await openReader(stage, given, projectId);
  let growthMb = 0;
  let movedAtMs = performance.now();
  for (let sentBytes = -1; performance.now() - movedAtMs < STALLED_MS; ) {
    if (state.sentBytes !== sentBytes) movedAtMs = performance.now();
    sentBytes = state.sentBytes;
    growthMb = Math.max(growthMb, ...servers.map((server, at) => residentMb(server) - (before[at] ?? 0)));
    await setTimeout(20);
  }
  reader.destroy();
  stop();
  return { growthMb, ...state };
}

async function measureAll(name: string, stage: Stage, hub: Process): Promise<void> {
  const cluster = await stage.send("POST", `/orgs/${stage.orgId}/clusters`, { name: "streams" });
  const project = await stage.send("POST", "/projects", { name: "streams", cluster_id: cluster["id"] });
  const components = [{ name: "web", workload_spec: { image: "nginx:1.29" } }];
  await stage.send("POST", "/apps", { name: "web", project_id: project["id"], components });
  const shape = { stage, hub, token: cluster["connection_token"] ?? "", projectId: project["id"] ?? "" };
  for (const given of WARM_UP) await measure(shape, given);
  const rows: string[][] = [];
  for (const given of CASES) {
    const { growthMb, sentBytes, closeCode } = await measure(shape, given);
    // An operator without regard to its credit must lose its session, and no other one may.
    const isEndedRightly = given.isConforming ? closeCode === null : closeCode === 4400;
    const isSentRightly = !given.isRead || sentBytes >= (given.toSendBytes ?? TO_SEND_BYTES);
    const isTooMuch = !given.isUnlimited && growthMb > MOST_GROWTH_MB;
    if (isTooMuch || !isEndedRightly || !isSentRightly) limitMissed(`${name}: ${given.name}`);
    const ended = closeCode === null ? "goes on" : `ended with ${closeCode}`;
    const aim = given.isUnlimited ? "" : `≤ ${MOST_GROWTH_MB} MB`;
    rows.push([given.name, aim, `${growthMb.toFixed(1)} MB`, `${(sentBytes / 1e6).toFixed(1)} MB`, ended]);
  }
  printTable([name, "aim", "grown by", "taken", "session"], rows);
}

await withStage((stage) => measureAll("one process", stage, stage.binnacle), "api,hub");

const folder = await mkdtemp(join(tmpdir(), "binnacle-redis-"));
const redis = await startRedis(folder);
await withStage(
  async (stage) => {
    const hub = await stage.replica({ BINNACLE_ROLES: "hub", BINNACLE_HUB_PORT: "0" });
    await measureAll("a hub of its own", stage, hub);
  },
  "api",
  { REDIS_URL: redis.url },
);
await redis.stop();
await rm(folder, { recursive: true });
