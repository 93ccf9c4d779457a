import { chmod, mkdtemp, rm } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { startEmbeddedPostgres } from "../packages/server/src/database/embedded/embedded.adapter.ts";
import { cpuSecondsOf, type Process, residentMb, startNode } from "./process.ts";
import { printTable } from "./table.ts";

/**
 * The event stream under load: every client hears every event, and every event is a change made through the API, so the
 * way from the request over the commit and the bus to the last client is the real one. Latency is counted from the moment
 * the change is asked for.
 */

const CLIENTS = Number(process.env["BENCH_CLIENTS"] ?? 2_000);
const STALLED = 20;
/** As many as a user may have open. */
const STREAMS_PER_USER = 100;
const EVENTS_PER_SECOND = 100;
const SECONDS = Number(process.env["BENCH_SECONDS"] ?? 20);
/** Changes of one organization wait for each other; of several they do not. */
const ORGS = 8;
const TAIL_MS = 3_000;
const FLOOD_EVENTS = 2_000;
const FLOOD_AT_ONCE = 16;

/** The event tells by itself when it was asked for: the mark stands once in each, with milliseconds after it. */
const MARK = Buffer.from("at=");
const MARK_DIGITS = 13;

/** Counts the events of all clients by their latency in milliseconds. The last entry counts all that took longer. */
const latencies = new Uint32Array(60_000);

const folder = await mkdtemp(join(tmpdir(), "binnacle-bench-"));
await chmod(folder, 0o755);
const embedded = await startEmbeddedPostgres({ dataDir: folder, log: () => undefined });
const { host, port, user, database } = embedded.connection;
let server: Process | null = null;
try {
  server = await startNode("packages/server/src/main.ts", {
    DATABASE_URL: `postgres:///${database}?host=${encodeURIComponent(host)}&port=${port}&user=${user}`,
    BINNACLE_DATA_DIR: folder,
    BINNACLE_PORT: "0",
    BINNACLE_ROLES: "api",
  });
  await run(server);
} finally {
  await server?.stop();
  await embedded.stop();
  await rm(folder, { recursive: true, force: true });
}

async function run(binnacle: Process): Promise<void> {
  const base = `http://127.0.0.1:${binnacle.port}/api/v1`;
  const token = await signIn(base, "admin", "binnacle");
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const orgs = await Promise.all(
    Array.from({ length: ORGS }, async (_, index) => {
      const body = JSON.stringify({ name: `Bench ${index}` });
      const answer = await fetch(`${base}/orgs`, { method: "POST", headers, body });
      return ((await answer.json()) as { id: string }).id;
    }),
  );
  const readers = await readersOf(base, headers, orgs, Math.ceil(CLIENTS / STREAMS_PER_USER));
  const idleMb = residentMb(binnacle);

  const clients: Client[] = [];
  for (const reader of readers) {
    const batch = Array.from({ length: Math.min(STREAMS_PER_USER, CLIENTS - clients.length) }, () =>
      subscribe(binnacle.port, reader),
    );
    clients.push(...(await Promise.all(batch)));
  }
  const stalled = await Promise.all(Array.from({ length: STALLED }, () => stall(binnacle.port, token)));

  const cpuBefore = await cpuSecondsOf(binnacle);
  let largestMb = 0;
  const watching = setInterval(() => {
    largestMb = Math.max(largestMb, residentMb(binnacle));
  }, 250);
  const changes = await publish(base, headers, orgs);
  await pause(TAIL_MS);
  clearInterval(watching);
  const cpuShare = ((await cpuSecondsOf(binnacle)) - cpuBefore) / SECONDS;

  const delivered = latencies.reduce((sum, count) => sum + count, 0);
  const [p50Ms, p99Ms] = [quantileMs(0.5, delivered), quantileMs(0.99, delivered)];
  const lost = clients.filter(({ isLost }) => isLost()).length;

  const beside = clients.slice(0, STALLED);
  for (const { socket } of clients.slice(STALLED)) socket.destroy();
  const cut = await floodStalled(base, headers, orgs[0] ?? "", stalled);
  const stayed = beside.filter(({ isLost }) => !isLost()).length;
  printTable(
    ["figure", "aim", "seen"],
    [
      ["clients", "2,000", CLIENTS.toLocaleString("en")],
      ["events per second", "100", (changes.made / SECONDS).toFixed(1)],
      ["changes refused or failed", "0", String(changes.failed)],
      ["delivered", "≥ 99.9 %", `${((100 * delivered) / (changes.made * CLIENTS)).toFixed(3)} %`],
      ["p50, from the request of the change", "", `${p50Ms} ms`],
      ["p99, from the request of the change", "≤ 500 ms", `${p99Ms} ms`],
      ["largest resident memory", "≤ 250 MB", `${largestMb.toFixed(0)} MB`],
      ["resident memory without clients", "", `${idleMb.toFixed(0)} MB`],
      ["clients lost", "0", String(lost)],
      [`cut of ${STALLED} clients that never read`, `${STALLED}`, String(cut)],
      [`left of ${STALLED} clients that read beside them`, `${STALLED}`, String(stayed)],
      ["server CPU, of one core", "", `${(cpuShare * 100).toFixed(0)} %`],
      ["load of the machine, last minute", "", loadavg()[0]?.toFixed(2) ?? ""],
    ],
  );
  for (const { socket } of [...clients, ...stalled]) socket.destroy();
}

/** At a steady pace, whether or not the answers keep up; as a busy installation would. */
async function publish(base: string, headers: Record<string, string>, orgs: readonly string[]) {
  const answers: Promise<Response>[] = [];
  const startedAt = performance.now();
  for (let sequence = 0; sequence < EVENTS_PER_SECOND * SECONDS; sequence++) {
    const dueMs = startedAt + (sequence * 1000) / EVENTS_PER_SECOND - performance.now();
    if (dueMs > 1) await pause(dueMs);
    const index = sequence % ORGS;
    const description = `at=${Date.now()};`;
    const body = JSON.stringify({ name: `Bench ${index}`, description });
    answers.push(fetch(`${base}/orgs/${orgs[index]}`, { method: "PUT", headers, body }));
  }
  const made = (await Promise.all(answers)).filter(({ ok }) => ok).length;
  return { made, failed: answers.length - made };
}

function quantileMs(q: number, total: number): number {
  let below = 0;
  return latencies.findIndex((count) => {
    below += count;
    return below >= q * total;
  });
}

interface Client {
  readonly socket: Socket;
  isLost(): boolean;
}

function requestOf(token: string): string {
  return `GET /api/v1/events/stream HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${token}\r\n\r\n`;
}

async function subscribe(port_: number, token: string): Promise<Client> {
  const socket = connect(port_, "127.0.0.1");
  let rest: Buffer = Buffer.alloc(0);
  let isLost = false;
  socket.on("close", () => {
    isLost = true;
  });
  socket.on("error", () => undefined);
  socket.write(requestOf(token));
  await new Promise<void>((resolve) => socket.once("data", () => resolve()));
  socket.on("data", (chunk: Buffer) => {
    const text = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    const now = Date.now();
    let from = 0;
    for (let at = text.indexOf(MARK); at >= 0; at = text.indexOf(MARK, from)) {
      const end = at + MARK.length + MARK_DIGITS;
      if (end > text.length) break;
      const place = Math.min(now - numberIn(text, at + MARK.length, end), latencies.length - 1);
      latencies[place] = (latencies[place] ?? 0) + 1;
      from = end;
    }
    // The end of a chunk may hold the beginning of a mark.
    rest = text.subarray(Math.max(from, text.length - MARK.length - MARK_DIGITS));
  });
  return { socket, isLost: () => isLost };
}

function numberIn(text: Buffer, from: number, to: number): number {
  let value = 0;
  for (let at = from; at < to; at++) value = value * 10 + (text[at] ?? 0) - 48;
  return value;
}

interface StalledClient {
  readonly socket: Socket;
  isCut(): boolean;
}

/** Never reads. That its line was cut it learns when it reads at last. */
async function stall(port_: number, token: string): Promise<StalledClient> {
  const socket = connect(port_, "127.0.0.1");
  let isCut = false;
  socket.on("error", () => undefined);
  socket.on("close", () => {
    isCut = true;
  });
  socket.write(requestOf(token));
  await new Promise<void>((resolve) => socket.once("readable", resolve));
  return { socket, isCut: () => isCut };
}

/**
 * The network buffers for a client that does not read would take a minute to fill at the pace above. Here they are filled
 * at once, with larger events and fewer clients: clients that do not read must be disconnected, and the others must stay.
 */
async function floodStalled(
  base: string,
  headers: Record<string, string>,
  org: string,
  stalled: readonly StalledClient[],
): Promise<number> {
  const description = "x".repeat(2_000);
  for (let sent = 0; sent < FLOOD_EVENTS; sent += FLOOD_AT_ONCE) {
    const changes = Array.from({ length: FLOOD_AT_ONCE }, async () => {
      const body = JSON.stringify({ name: "Bench 0", description });
      await (await fetch(`${base}/orgs/${org}`, { method: "PUT", headers, body })).arrayBuffer();
    });
    await Promise.all(changes);
  }
  await pause(500);
  for (const { socket } of stalled) socket.resume();
  await pause(1_000);
  return stalled.filter(({ isCut }) => isCut()).length;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Users who hear of every organization as its administrators do, signed in. */
async function readersOf(
  base: string,
  headers: Record<string, string>,
  orgs: readonly string[],
  count: number,
): Promise<string[]> {
  const tokens: string[] = [];
  const password = "a reader of events";
  for (let index = 0; index < count; index++) {
    const username = `reader${index}`;
    const user = JSON.stringify({ name: "Reader", username, email: `${username}@example.com`, password });
    await fetch(`${base}/user`, { method: "POST", headers, body: user });
    const member = JSON.stringify({ username, role: "admin" });
    await Promise.all(
      orgs.map((org) => fetch(`${base}/orgs/${org}/members`, { method: "POST", headers, body: member })),
    );
    tokens.push(await signIn(base, username, password));
  }
  return tokens;
}

async function signIn(base: string, username: string, password: string): Promise<string> {
  const form = new URLSearchParams({ username, password });
  const answer = await fetch(`${base}/login`, { method: "POST", body: form });
  return ((await answer.json()) as { access_token: string }).access_token;
}
