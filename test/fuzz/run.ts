import { randomBytes } from "node:crypto";
import { dataFolder, type ServerProcess, startServer } from "../world/server-process.ts";
import { BEYOND_SCHEMA } from "./beyond-schema.ts";
import type { Vitals } from "./delay-hook.ts";
import { type ApiDocument, type Json, readDocument } from "./document.ts";
import { judge } from "./judge.ts";
import { randomOf } from "./random.ts";
import { type Request, requestMaker } from "./requests.ts";
import { senderTo } from "./send.ts";
import { FuzzWorld, serveCharts } from "./world.ts";

export interface FuzzOptions {
  readonly requests: number;
  readonly seconds: number;
  readonly seed: number;
  /** Only these operations; all where there are none. */
  readonly only: readonly string[];
}

export interface Finding {
  readonly operation: string;
  readonly what: string;
  count: number;
  /** The first time that it was found. */
  readonly request: Request;
  readonly status: number;
  readonly text: string;
}

export interface FuzzReport {
  readonly requests: number;
  readonly seconds: number;
  readonly statuses: ReadonlyMap<number, number>;
  /** Operations that were answered with a success at least once. */
  readonly succeeded: ReadonlySet<string>;
  readonly findings: readonly Finding[];
  readonly vitals: Vitals;
  /** Of what is left after collections of garbage, from the first quarter of the run to its end. */
  readonly grownBytes: number;
  /** All that were asked. */
  readonly operations: readonly string[];
}

const CONNECTIONS = 8;
const REQUESTS_PER_WORLD = 500;
const CHECKPOINTS = 8;
const HOOK = new URL("./delay-hook.ts", import.meta.url).href;

/** A server of its own, asked until the requests or the seconds are used up. */
export async function fuzz(options: FuzzOptions, progress: (line: string) => void): Promise<FuzzReport> {
  const data = await dataFolder();
  const charts = await serveCharts();
  const signingKey = randomBytes(48).toString("base64");
  const server = await startServer(
    {
      BINNACLE_DATA_DIR: data.path,
      BINNACLE_SECRET_KEY: signingKey,
      BINNACLE_LOG_LEVEL: "error",
      BINNACLE_IMAGE_REGISTRY: "registry.example.com",
      BINNACLE_CHART_HOSTS: new URL(charts.url).host,
      // Each request has an address of its own, so that throttles hold nobody back but those they are meant for.
      BINNACLE_TRUSTED_PROXIES: "127.0.0.1",
    },
    { nodeArguments: ["--expose-gc", "--max-semi-space-size=8", "--import", HOOK] },
  );
  try {
    const document = readDocument((await (await fetch(`${server.url}/openapi.json`)).json()) as Json);
    const world = new FuzzWorld(server.url, { signingKey, chartRepository: charts.url });
    await world.renew();
    try {
      return await ask(server, document, world, options, progress);
    } finally {
      await world.close();
    }
  } finally {
    server.signal("SIGTERM");
    await server.exited;
    charts.stop();
    await data.remove();
  }
}

async function ask(
  server: ServerProcess,
  document: ApiDocument,
  world: FuzzWorld,
  options: FuzzOptions,
  progress: (line: string) => void,
): Promise<FuzzReport> {
  const { requests, seconds, seed, only } = options;
  const operations = document.operations.filter(({ id }) => only.length === 0 || only.includes(id));
  const make = requestMaker(document, world, seed);
  const sender = senderTo(server.url, CONNECTIONS);
  const statuses = new Map<number, number>();
  const succeeded = new Set<string>();
  const findings = new Map<string, Finding>();
  const heaps: number[] = [];
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1000;
  let next = 0;
  let answered = 0;

  const note = (request: Request, what: string, status: number, text: string) => {
    const key = `${request.operation.id} ${what}`;
    const known = findings.get(key);
    if (known) known.count++;
    else findings.set(key, { operation: request.operation.id, what, count: 1, request, status, text });
  };

  async function one(index: number): Promise<void> {
    const operation = randomOf(seed + index).pick(operations);
    const request = make(index, operation);
    if (world.isSpared(operation.method, request.target)) return;
    const answer = await sender.send(request);
    answered++;
    if (answer instanceof Error) return note(request, `no answer: ${answer.message}`, 0, "");
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    for (const what of judge(document, BEYOND_SCHEMA, request, answer)) note(request, what, answer.status, answer.text);
    // What was removed for good has no other success.
    if (answer.status < 300 || answer.status === 410) succeeded.add(operation.id);
    if (answer.status >= 300) return;
    if (answer.text) world.learn(operation, JSON.parse(answer.text));
  }

  async function keepAsking(until: number): Promise<void> {
    while (next < until && performance.now() < endsAt) await one(next++);
  }

  await server.ask("vitals");
  server.tell("start");
  for (let until = 0; until < requests && performance.now() < endsAt; ) {
    until = Math.min(requests, until + REQUESTS_PER_WORLD);
    await Promise.all(Array.from({ length: CONNECTIONS }, () => keepAsking(until)));
    if (until < requests) await world.renew();
    if (Math.floor((until / requests) * CHECKPOINTS) > heaps.length) {
      const { heapBytes, p999Ms } = (await server.ask("vitals")) as Vitals;
      heaps.push(heapBytes);
      const rate = Math.round((answered * 1000) / (performance.now() - startedAt));
      progress(`${answered} requests, ${rate}/s, ${findings.size} findings, delay p99.9 ${p999Ms.toFixed(0)} ms`);
    }
  }
  const vitals = (await server.ask("vitals")) as Vitals;
  heaps.push(vitals.heapBytes);
  sender.close();
  const settled = heaps[Math.floor(heaps.length / 4)] ?? vitals.heapBytes;
  return {
    requests: answered,
    seconds: (performance.now() - startedAt) / 1000,
    statuses,
    succeeded,
    findings: [...findings.values()],
    vitals,
    grownBytes: vitals.heapBytes - settled,
    operations: operations.map(({ id }) => id),
  };
}
