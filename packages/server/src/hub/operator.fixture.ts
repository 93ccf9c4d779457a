import { createHash } from "node:crypto";
import {
  canonicalJson,
  HUB_PATH,
  type HubFrame,
  type HubFrames,
  type InventoryEntry,
  inventoryText,
  LINK_SUBPROTOCOL,
  LINK_VERSION,
  NEGOTIATED_REQUESTS,
  type ObservationRequest,
  type RunRequest,
  type RunStatusRequest,
} from "@binnacle/contract";
import { vi } from "vitest";
import { type ClientOptions, WebSocket } from "ws";
import { createAgentTokens } from "../clusters/agent-token.adapter.ts";
import { newId } from "../id.adapter.ts";
import { SOON } from "../jobs/jobs.fixture.ts";

export const FACTS = {
  kubernetes_version: "v1.34.1",
  node_count: 3,
  capacity: { cpu_cores: 12, memory_bytes: 48_000_000_000, pods: 330 },
};

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
export const digestOf = (entries: readonly InventoryEntry[]) => sha256(inventoryText(entries));
export const hashOf = (body: unknown) => sha256(canonicalJson(body));

type FrameOf<T extends HubFrame["type"]> = HubFrames[T];

/** The least that speaks the protocol: what it does with a frame is the test's decision. */
export class TestOperator {
  readonly socket: WebSocket;
  readonly heard: HubFrame[] = [];
  heardBytes = 0;
  session = "";
  closed: { readonly code: number; readonly reason: string } | null = null;
  /** Named in the hello; left out as by an operator that knows none. */
  requests: readonly string[] | undefined = undefined;
  /** Called with each frame, before it is kept. */
  onFrame: (frame: HubFrame) => void = () => undefined;

  constructor(url: string, token: string | null, options: ClientOptions = {}, protocols = [LINK_SUBPROTOCOL]) {
    const address = url.replace(/^http/, "ws") + HUB_PATH;
    const headers = token === null ? {} : { authorization: `Bearer ${token}` };
    this.socket = new WebSocket(address, protocols, { headers, perMessageDeflate: false, ...options });
    this.socket.on("message", (data: Buffer) => {
      this.heardBytes += data.length;
      const frame = JSON.parse(data.toString()) as HubFrame;
      if (frame.type === "welcome") this.session = frame.session;
      this.onFrame(frame);
      this.heard.push(frame);
    });
    this.socket.on("close", (code, reason) => {
      this.closed = { code, reason: reason.toString() };
    });
    this.socket.on("error", () => undefined);
  }

  async opened(): Promise<this> {
    await vi.waitUntil(() => this.socket.readyState !== WebSocket.CONNECTING, SOON);
    return this;
  }

  raw(text: string): void {
    this.socket.send(text);
  }

  say(frame: object): void {
    this.raw(JSON.stringify({ session: this.session, ...frame }));
  }

  hello(fields: object = {}): void {
    const digest = digestOf([]);
    const versions = [LINK_VERSION];
    const { requests } = this;
    const said = { versions, operator_version: "0.1.0", facts: FACTS, revision: null, digest, requests };
    this.raw(JSON.stringify({ type: "hello", id: newId(), ...said, ...fields }));
  }

  /** Connects with what it holds; the welcome. */
  async greet(held: readonly InventoryEntry[] = [], revision: number | null = null): Promise<FrameOf<"welcome">> {
    await this.opened();
    this.hello({ digest: digestOf(held), revision });
    const welcome = await this.next("welcome");
    if (welcome.resume === "inventory") this.say({ type: "inventory", entries: held, more: false });
    return welcome;
  }

  all<T extends HubFrame["type"]>(type: T): FrameOf<T>[] {
    return this.heard.filter((frame): frame is FrameOf<T> => frame.type === type);
  }

  /** The first that satisfies, heard already or not. */
  async next<T extends HubFrame["type"]>(
    type: T,
    isIt: (frame: FrameOf<T>) => boolean = () => true,
  ): Promise<FrameOf<T>> {
    const found = await vi.waitUntil(() => this.all(type).find(isIt) ?? this.closed, SOON);
    if ("code" in found) throw new Error(`closed with ${found.code} ${found.reason} before ${type}`);
    return found;
  }

  async closeCode(): Promise<number> {
    return (await vi.waitUntil(() => this.closed, SOON)).code;
  }

  /** Stores whatever comes, as a good operator does. */
  storesAll(): this {
    this.onFrame = (frame) => {
      if (frame.type === "apply" || frame.type === "remove") this.ack(frame);
    };
    return this;
  }

  /** Stores whatever comes, and answers what is read in its cluster. */
  observes(answer: (request: ObservationRequest | RunRequest | RunStatusRequest) => object): this {
    this.requests = NEGOTIATED_REQUESTS;
    this.onFrame = (frame) => {
      if (frame.type === "apply" || frame.type === "remove") this.ack(frame);
      if (frame.type !== "request") return;
      const { request } = frame;
      if (request.name === "metrics" || request.name === "upgrade_operator" || request.name === "detach") return;
      if (request.name === "drain_nodes" || request.name === "remove_cloud_objects") return;
      if (request.name === "describe_disks" || request.name === "local_volumes") return;
      this.say({ type: "response", ref: frame.id, answer: answer(request) });
    };
    return this;
  }

  ack({ id, key, generation }: Pick<FrameOf<"apply">, "id" | "key" | "generation">): void {
    this.say({ type: "ack", ref: id, key, generation });
  }

  nack({ id, key, generation }: FrameOf<"apply" | "remove">, code: string, message = "No."): void {
    this.say({ type: "nack", ref: id, key, generation, code, message });
  }

  async leave(): Promise<void> {
    this.socket.close(1000);
    await this.closeCode();
  }
}

export const entryOf = ({ key, resource_id, generation, hash }: FrameOf<"apply">): InventoryEntry => ({
  key,
  resource_id,
  generation,
  hash,
});

/** An operator of a cluster, with a token as the server of this signing key would give it. It has not greeted yet. */
export async function operatorFor(
  { url, clock }: { readonly url: string; readonly clock: { now(): Date } },
  signingKey: string,
  clusterId: string,
): Promise<TestOperator> {
  const { token } = await (await createAgentTokens(signingKey, clock.now)).mint(clusterId, 1);
  return new TestOperator(url, token);
}
