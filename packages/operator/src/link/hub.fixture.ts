import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import {
  type HubFrame,
  type HubFrames,
  LINK_SUBPROTOCOL,
  LINK_TRIAL_SUBPROTOCOL,
  type OperatorFrame,
  type OperatorFrames,
} from "@binnacle/contract";
import { expect, vi } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";

type WithoutSession<F> = F extends { readonly session: string } ? Omit<F, "session"> : never;

/** One connection, as the hub sees it. */
export class HubSide {
  readonly token: string;
  readonly headers: IncomingMessage["headers"];
  readonly frames: OperatorFrame[] = [];
  readonly sessionId = randomUUID();
  readonly socket: WebSocket;
  closed: { readonly code: number; readonly reason: string } | null = null;
  pings = 0;

  constructor(socket: WebSocket, { headers }: IncomingMessage) {
    this.socket = socket;
    this.headers = headers;
    this.token = headers.authorization?.replace(/^Bearer /, "") ?? "";
    socket.on("message", (data: Buffer) => this.frames.push(JSON.parse(data.toString())));
    socket.on("ping", () => {
      this.pings += 1;
    });
    socket.on("close", (code, reason) => {
      this.closed = { code, reason: String(reason) };
    });
  }

  all<T extends OperatorFrame["type"]>(type: T): OperatorFrames[T][] {
    return this.frames.filter((frame) => frame.type === type) as OperatorFrames[T][];
  }

  /** The frame of the type that comes, or has come, as the nth. */
  async received<T extends OperatorFrame["type"]>(type: T, nth = 1): Promise<OperatorFrames[T]> {
    return vi.waitFor(
      () => {
        const frame = this.all(type)[nth - 1];
        expect(frame, `${type} number ${nth}`).toBeDefined();
        return frame as OperatorFrames[T];
      },
      { interval: 5, timeout: 5_000 },
    );
  }

  async welcome(changes: Partial<HubFrames["welcome"]> = {}): Promise<OperatorFrames["hello"]> {
    const hello = await this.received("hello");
    this.raw({
      type: "welcome",
      ref: hello.id,
      session: this.sessionId,
      version: 1,
      heartbeat_seconds: 30,
      reconnect_spread_seconds: 0,
      resume: "digest",
      settings: { drift_policy: "heal" },
      ...changes,
    });
    return hello;
  }

  send(frame: WithoutSession<HubFrame>): void {
    this.raw({ ...frame, session: this.sessionId });
  }

  raw(frame: unknown): void {
    this.socket.send(typeof frame === "string" ? frame : JSON.stringify(frame));
  }
}

/** A stand-in for the hub: it takes everybody and does what a test tells it to. */
export class Hub {
  readonly sides: HubSide[] = [];
  /** Answers upgrades with this status instead of taking them. */
  refuseWith: number | null = null;
  readonly #server: WebSocketServer;

  private constructor(server: WebSocketServer) {
    this.#server = server;
    server.on("connection", (socket, request) => this.sides.push(new HubSide(socket, request)));
  }

  static async start(): Promise<Hub> {
    const ref: { hub?: Hub } = {};
    const server = new WebSocketServer({
      port: 0,
      host: "127.0.0.1",
      handleProtocols: (offered) =>
        [LINK_SUBPROTOCOL, LINK_TRIAL_SUBPROTOCOL].find((name) => offered.has(name)) ?? false,
      verifyClient: (_: unknown, done: (isTaken: boolean, status?: number) => void) => {
        const status = ref.hub?.refuseWith ?? null;
        done(status === null, status ?? undefined);
      },
    });
    ref.hub = new Hub(server);
    await once(server, "listening");
    return ref.hub;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `ws://127.0.0.1:${this.port}/hub/v1`;
  }

  async side(nth = 1): Promise<HubSide> {
    return vi.waitFor(
      () => {
        const side = this.sides[nth - 1];
        expect(side, `connection number ${nth}`).toBeDefined();
        return side as HubSide;
      },
      { interval: 5, timeout: 5_000 },
    );
  }

  async live(nth = 1, changes: Partial<HubFrames["welcome"]> = {}): Promise<HubSide> {
    const side = await this.side(nth);
    await side.welcome(changes);
    return side;
  }

  async stop(): Promise<void> {
    for (const client of this.#server.clients) client.terminate();
    this.#server.close();
    await once(this.#server, "close");
  }
}
