import {
  CLOSE,
  type CloseCode,
  type ClusterFacts,
  type HubFrame,
  type InventoryEntry,
  LINK_LIMITS,
  type LinkSettings,
} from "@binnacle/contract";
import type { AgentClaims } from "../clusters/agent-token.ts";
import { retryReason } from "./admission-gate.ts";
import { Delivery } from "./delivery.ts";
import { Inbox } from "./inbox.ts";
import type { Answer, Fence, LiveSession } from "./ports.ts";

/** The socket, as much of it as a session needs. */
export interface Wire {
  readonly bufferedAmount: number;
  send(text: string): void;
  /** Says goodbye; a peer that takes no notice is cut off a little later. */
  close(code: number, reason: string): void;
  cut(): void;
}

/** From `greeting` on a hello is awaited, from `inventory` on all that the cluster holds. */
export type SessionState = "greeting" | "admission" | "inventory" | "live" | "ended";

export interface Renewal {
  readonly frameId: string;
  readonly tokenVersion: number;
  readonly expiresAt: Date;
  readonly askedAtMs: number;
}

/** What is known once the cluster's session was taken. */
export interface Registration {
  readonly fence: Fence;
  readonly sessionId: string;
  readonly orgId: string;
  readonly driftPolicy: LinkSettings["drift_policy"];
  /** Which credentials of chart repositories the operator was told. */
  readonly repositoriesStamp: string;
}

/** Nothing more is dispatched to a socket that holds so much: room is left for what is small and urgent. */
const CLOGGED_BYTES = 1024 * 1024;
/** What a socket may hold at most, whatever it is. */
const MOST_BUFFERED_BYTES = 2 * LINK_LIMITS.frameBytes;

/** Time to get air again. */
const TOO_SLOW = retryReason(0.5);

type Hear = (frame: Answer | null) => void;

/**
 * One connection of an operator. There are thousands in a process and most of them are idle: what only a busy one needs
 * is made when it is needed, and no session has a timer of its own.
 */
export class Session implements LiveSession {
  readonly clusterId: string;
  state: SessionState = "greeting";
  tokenVersion: number;
  tokenExpiresAt: Date;
  /** On the clock of the process, which nobody sets. */
  readonly startedAtMs: number;
  heardAtMs: number;
  cloggedSinceMs: number | null = null;
  /** Of the last heartbeat, until it is on record. */
  heartbeatAt: Date | null = null;
  /** Newer than those on record. */
  facts: ClusterFacts | null = null;
  renewal: Renewal | null = null;
  /** The floor that was raised while the session was being admitted. */
  floor = 0;
  toldRevision = -1;
  /** The database is behind the cluster: what it does not know is not removed, and no revision is given out. */
  isRestored = false;
  revisionOfOperator: number | null = null;
  inventory: InventoryEntry[] | null = null;
  /** The last page of the inventory is here. */
  isComplete = false;
  readonly delivery = new Delivery();
  #registration: Registration | null = null;
  #inbox: Inbox | null = null;
  #listeners: Map<string, Hear> | null = null;
  readonly #wire: Wire;

  readonly #onEnd: (session: Session) => void;

  /** `onEnd` is called once, whoever ends it. */
  constructor(wire: Wire, claims: AgentClaims, nowMs: number, onEnd: (session: Session) => void) {
    this.#wire = wire;
    this.#onEnd = onEnd;
    this.clusterId = claims.clusterId;
    this.tokenVersion = claims.tokenVersion;
    this.tokenExpiresAt = claims.expiresAt;
    this.startedAtMs = nowMs;
    this.heardAtMs = nowMs;
  }

  get registration(): Registration | null {
    return this.#registration;
  }
  get fence(): Fence {
    return this.#registered().fence;
  }
  get sessionId(): string {
    return this.#registered().sessionId;
  }
  get inbox(): Inbox {
    this.#inbox ??= new Inbox();
    return this.#inbox;
  }
  get hasNews(): boolean {
    return this.#inbox !== null && !this.#inbox.isEmpty && this.state !== "ended";
  }
  get isClogged(): boolean {
    return this.#wire.bufferedAmount > CLOGGED_BYTES;
  }

  register(registration: Registration): void {
    this.#registration = registration;
  }

  adopt(settings: Partial<Pick<Registration, "driftPolicy" | "repositoriesStamp">>): void {
    this.#registration = { ...this.#registered(), ...settings };
  }

  send(frame: HubFrame): void {
    this.sendText(JSON.stringify(frame));
  }

  /** One that does not read is let go: what it has missed it is told when it comes back. */
  sendText(text: string): void {
    if (this.state === "ended") return;
    if (this.#wire.bufferedAmount + text.length > MOST_BUFFERED_BYTES) this.end(CLOSE.busy, TOO_SLOW);
    else this.#wire.send(text);
  }

  listen(frameId: string, hear: Hear): () => void {
    this.#listeners ??= new Map();
    this.#listeners.set(frameId, hear);
    return () => void this.#listeners?.delete(frameId);
  }

  /** Passes an answer on to whoever has asked. */
  hear(answer: Answer): void {
    this.#listeners?.get(answer.ref)?.(answer);
  }

  end(code: CloseCode, reason: string): void {
    if (this.state === "ended") return;
    this.#wire.close(code, reason);
    this.ended();
  }

  /** Without a goodbye, which nobody would hear. */
  cut(): void {
    this.#wire.cut();
    this.ended();
  }

  /** Also where the peer has hung up. */
  ended(): void {
    if (this.state === "ended") return;
    this.state = "ended";
    const listeners = this.#listeners;
    this.#listeners = null;
    for (const hear of listeners?.values() ?? []) hear(null);
    this.#onEnd(this);
  }

  #registered(): Registration {
    if (!this.#registration) throw new Error("The session is not registered yet.");
    return this.#registration;
  }
}
