import { randomUUID } from "node:crypto";
import { realClock } from "../packages/operator/src/kube/real-clock.adapter.ts";
import { type Link, startLink } from "../packages/operator/src/link/link.adapter.ts";
import { MemoryStore } from "../packages/operator/src/link/memory-store.fixture.ts";
import { createEventOutbox, createStatusOutbox } from "../packages/operator/src/link/outbox.ts";
import type { Answerer, Commands, LinkLog } from "../packages/operator/src/link/ports.ts";

/**
 * Many operators in one process: the operator's own link, over a store in memory instead of a cluster. Each reports what it
 * is told as ready. Commands come and answers go over the channel to the process that has started this one.
 */

export interface Identity {
  readonly clusterId: string;
  readonly token: string;
}
export type Ask = { readonly connect: { readonly url: string; readonly identities: readonly Identity[] } } | "state";
export interface State {
  readonly live: number;
  /** The keys that were stored since the last question, and when, in milliseconds of the machine's clock. */
  readonly stored: readonly (readonly [key: string, atMs: number])[];
}

const STARTED_A_SECOND = 500;
const FACTS = {
  kubernetes_version: "v1.37.1",
  node_count: 3,
  capacity: { cpu_cores: 12, memory_bytes: 48e9, pods: 330 },
};
const SILENT: LinkLog = { debug() {}, info() {}, warn() {}, error() {} };
const NOTHING: Answerer = {
  metrics: async () => null,
  observe: () => Promise.reject(new Error("nothing is observed")),
  run: async () => ({ run: null }),
  infrastructure: async () => ({ left: [] }),
  exec: () => Promise.reject(new Error("no commands are run")),
  async *logs() {},
};
const IGNORED: Commands = { resync() {}, settings() {}, chartRepositories() {} };

const links: Link[] = [];
let stored: [string, number][] = [];

process.on("message", (ask: Ask) => {
  if (ask === "state") {
    const state: State = { live: links.filter(({ isLive }) => isLive).length, stored };
    stored = [];
    process.send?.(state);
  } else void connectAll(ask.connect.url, ask.connect.identities);
});
process.on("disconnect", () => process.exit(0));

async function connectAll(url: string, identities: readonly Identity[]): Promise<void> {
  for (const [index, identity] of identities.entries()) {
    links.push(connect(url, identity));
    if (index % 50 === 49) await new Promise((resolve) => setTimeout(resolve, 50_000 / STARTED_A_SECOND));
  }
}

function connect(hubUrl: string, { token }: Identity): Link {
  const outbox = createStatusOutbox(randomUUID);
  const store = new MemoryStore();
  const apply = store.apply.bind(store);
  store.apply = async (frame) => {
    const refusal = await apply(frame);
    stored.push([frame.key, performance.timeOrigin + performance.now()]);
    if (frame.kind === "project") outbox.report("project", frame, { state: "ready", message: null });
    if (frame.kind === "registry_secrets") outbox.report("registry_secrets", frame, { state: "ready", message: null });
    return refusal;
  };
  return startLink({
    hubUrl,
    store,
    outbox,
    events: createEventOutbox(),
    answerer: NOTHING,
    commands: IGNORED,
    tokens: { current: async () => token, store: async () => undefined },
    facts: () => FACTS,
    operatorVersion: "0.1.0",
    clock: realClock,
    random: Math.random,
    newId: randomUUID,
    log: SILENT,
  });
}
