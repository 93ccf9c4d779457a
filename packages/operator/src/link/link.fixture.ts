import { createHash, randomUUID } from "node:crypto";
import { type ClusterFacts, canonicalJson, type HubFrames } from "@binnacle/contract";
import { onTestFinished, vi } from "vitest";
import { realClock } from "../kube/real-clock.adapter.ts";
import { Hub } from "./hub.fixture.ts";
import { type LinkPorts, startLink } from "./link.adapter.ts";
import { MemoryStore } from "./memory-store.fixture.ts";
import { createEventOutbox, createStatusOutbox } from "./outbox.ts";
import type { Answerer, Commands, TokenStore } from "./ports.ts";

export const FACTS: ClusterFacts = {
  kubernetes_version: "v1.37.1",
  node_count: 1,
  capacity: { cpu_cores: 4, memory_bytes: 8e9, pods: 110 },
};

const NOTHING: Answerer = {
  metrics: async () => null,
  observe: () => Promise.reject(new Error("nothing is observed")),
  run: async () => ({ run: null }),
  infrastructure: async () => ({ left: [] }),
  exec: () => Promise.reject(new Error("no commands are run")),
  async *logs() {},
};

/** A link to a stand-in hub, with everything around it in memory. Both end with the test. */
export async function linked(changes: Partial<LinkPorts> = {}) {
  const hub = await Hub.start();
  const started = linkTo(hub.url, changes);
  onTestFinished(async () => {
    await started.link.stop();
    await hub.stop();
  });
  return { hub, ...started };
}

export function linkTo(hubUrl: string, changes: Partial<LinkPorts> = {}) {
  const store = new MemoryStore();
  const outbox = createStatusOutbox(randomUUID);
  const events = createEventOutbox();
  const log = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
  const commands = {
    resync: vi.fn(),
    settings: vi.fn<Commands["settings"]>(),
    chartRepositories: vi.fn<Commands["chartRepositories"]>(),
  };
  const tokens = {
    current: vi.fn<TokenStore["current"]>(async () => "first-token"),
    store: vi.fn<TokenStore["store"]>(async () => undefined),
  };
  const ports: LinkPorts = {
    hubUrl,
    store,
    outbox,
    events,
    answerer: NOTHING,
    commands,
    tokens,
    facts: () => FACTS,
    operatorVersion: "0.1.0",
    clock: realClock,
    random: () => 0.01,
    newId: randomUUID,
    log,
    ...changes,
  };
  return { link: startLink(ports), store, outbox, events, log, commands, tokens };
}

/** An order for a project, as the hub gives it. */
export function order(name: string, generation = 1): Omit<Extract<HubFrames["apply"], { kind: "project" }>, "session"> {
  const body = { spec: { org_id: randomUUID(), name, namespace: name }, secret: {} };
  const hash = createHash("sha256").update(canonicalJson(body)).digest("hex");
  const key = `project/${name}`;
  return { type: "apply", id: randomUUID(), kind: "project", key, resource_id: randomUUID(), generation, hash, body };
}
