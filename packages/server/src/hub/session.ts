import {
  CLOSE,
  type CloseCode,
  type ClusterFacts,
  type HubFrame,
  type InventoryEntry,
  LINK_LIMITS,
  type LinkSettings,
} from "@binnacle/contract";
import { Delivery } from "./delivery.ts";
import { retryReason } from "./pacing.ts";
import type { AgentClaims, Answer, Fence, LiveSession, OnAnswer } from "./ports.ts";
import { ReportQueue } from "./report-queue.ts";

/** The part of a socket that a session needs. */
export interface Wire {
  readonly bufferedAmount: number;
  send(text: string): void;
  /** Sends a close frame. A peer that does not answer it is cut off a little later. */
  close(code: number, reason: string): void;
  cut(): void;
}

/**
 * A session waits in `greeting` for a hello, is checked against the database in `admission`, waits in `inventory` for
 * everything that the cluster holds, and is `live` once changes can be delivered.
 */
export type SessionState = "greeting" | "admission" | "inventory" | "live" | "ended";

interface Renewal {
  readonly frameId: string;
  readonly tokenVersion: number;
  readonly expiresAt: Date;
  readonly offeredAtMs: number;
}

/** The facts of a session that has been admitted. */
export interface Registration {
  readonly fence: Fence;
  readonly sessionId: string;
  readonly orgId: string;
  /** As it was at the admission, for the log. */
  readonly clusterName: string;
  /** Names of the requests, beyond `metrics`, that the operator can answer. */
  readonly requests: readonly string[];
  readonly driftPolicy: LinkSettings["drift_policy"];
  /** Identifies the credentials of chart repositories that the operator was sent last. */
  /** Null for an abandoned cluster, whose operator is given no credentials. */
  readonly repositoriesStamp: string | null;
}

/** Nothing more is dispatched to a socket that buffers this much, so that small and urgent frames still have room. */
const CONGESTED_BYTES = 1024 * 1024;
/** The most that a socket may buffer. */
const MOST_BUFFERED_BYTES = 2 * LINK_LIMITS.frameBytes;
/** No cluster holds more than this. */
const MOST_INVENTORY_ENTRIES = 100_000;
/** An operator that does not confirm a new token is offered another one after this time. */
const OFFER_AGAIN_AFTER_MS = 60 * 60_000;

const TOO_SLOW = retryReason(0.5);

/**
 * One connection of an operator, and the only owner of its state. A process holds thousands of sessions and most are
 * idle: what only a busy one needs is created when it is needed, and no session has a timer of its own.
 */
export class Session implements LiveSession {
  readonly clusterId: string;
  /** Read from the monotonic clock of the process, as all times that end in `Ms`. */
  readonly startedAtMs: number;
  /** The operator only asks whether it would be admitted. */
  readonly isTrial: boolean;
  readonly delivery = new Delivery();
  readonly #wire: Wire;
  readonly #onEnd: (session: Session) => void;
  #state: SessionState = "greeting";
  #receivedAtMs: number;
  #congestedSinceMs: number | null = null;
  #tokenVersion: number;
  #tokenExpiresAt: Date;
  #tokenFloor = 0;
  #renewal: Renewal | null = null;
  #registration: Registration | null = null;
  #heartbeatAt: Date | null = null;
  #facts: ClusterFacts | null = null;
  #operatorRevision: number | null = null;
  #inventory: InventoryEntry[] | null = null;
  #isInventoryComplete = false;
  #isAheadOfDatabase = false;
  #syncedRevision = -1;
  #reports: ReportQueue | null = null;
  #listeners: Map<string, OnAnswer> | null = null;

  /** `onEnd` is called once, whoever ends the session. */
  constructor(wire: Wire, claims: AgentClaims, nowMs: number, onEnd: (session: Session) => void, isTrial = false) {
    this.isTrial = isTrial;
    this.#wire = wire;
    this.#onEnd = onEnd;
    this.clusterId = claims.clusterId;
    this.#tokenVersion = claims.tokenVersion;
    this.#tokenExpiresAt = claims.expiresAt;
    this.startedAtMs = nowMs;
    this.#receivedAtMs = nowMs;
  }

  get state(): SessionState {
    return this.#state;
  }
  /** The operator has its welcome: it can be sent requests, settings and, once live, changes. */
  get isWelcomed(): boolean {
    return this.#state === "live" || this.#state === "inventory";
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
  get requests(): readonly string[] {
    return this.#registered().requests;
  }

  received(nowMs: number): void {
    this.#receivedAtMs = nowMs;
  }
  get receivedAtMs(): number {
    return this.#receivedAtMs;
  }

  /** Returns whether the socket is congested, and notes since when. */
  checkCongestion(nowMs: number): boolean {
    const isCongested = this.#wire.bufferedAmount > CONGESTED_BYTES;
    this.#congestedSinceMs = isCongested ? (this.#congestedSinceMs ?? nowMs) : null;
    return isCongested;
  }
  get congestedSinceMs(): number | null {
    return this.#congestedSinceMs;
  }

  // Admission ends with a live session, after an inventory where the digests differ.

  beginAdmission(): void {
    if (this.#state === "greeting") this.#state = "admission";
  }
  register(registration: Registration): void {
    this.#registration = registration;
  }
  /** The floor can be raised while the session is being admitted with one that was read before. */
  raiseTokenFloor(floor: number): void {
    this.#tokenFloor = Math.max(this.#tokenFloor, floor);
  }
  get isRevoked(): boolean {
    return isRevoked(this.#tokenVersion, this.#tokenFloor);
  }

  awaitInventory(operatorRevision: number | null): void {
    if (this.#state === "ended") return;
    this.#state = "inventory";
    this.#operatorRevision = operatorRevision;
  }
  /** False for a page that was not requested, or one too many. */
  addInventoryPage(entries: readonly InventoryEntry[], isLast: boolean): boolean {
    const held = this.#inventory ?? [];
    if (this.#state !== "inventory" || this.#isInventoryComplete) return false;
    if (held.length + entries.length > MOST_INVENTORY_ENTRIES) return false;
    held.push(...entries);
    this.#inventory = held;
    this.#isInventoryComplete = isLast;
    return true;
  }
  get isInventoryComplete(): boolean {
    return this.#isInventoryComplete;
  }
  /** Hands the inventory over and frees its memory. */
  takeInventory(): { readonly entries: readonly InventoryEntry[]; readonly revision: number | null } {
    const entries = this.#inventory ?? [];
    this.#inventory = null;
    return { entries, revision: this.#operatorRevision };
  }

  /**
   * `isAheadOfDatabase` says that the cluster holds what a restored database does not know. Then no revision is given
   * out, so that the operator does not remove it.
   */
  goLive(isAheadOfDatabase = false): void {
    if (this.#state === "ended") return;
    this.#state = "live";
    this.#isAheadOfDatabase = isAheadOfDatabase;
  }

  // Heartbeats and facts are kept until they are stored.

  heartbeat(at: Date, facts: ClusterFacts | undefined): void {
    this.#heartbeatAt = at;
    if (facts) this.#facts = facts;
  }
  get unsavedHeartbeat(): Date | null {
    return this.#heartbeatAt;
  }
  heartbeatSaved(at: Date | null): void {
    if (this.#heartbeatAt === at) this.#heartbeatAt = null;
  }
  get unsavedFacts(): ClusterFacts | null {
    return this.#facts;
  }
  factsSaved(facts: ClusterFacts): void {
    if (this.#facts === facts) this.#facts = null;
  }

  // Tokens are replaced over the live session.

  get tokenVersion(): number {
    return this.#tokenVersion;
  }
  isTokenExpired(now: Date): boolean {
    return this.#tokenExpiresAt <= now;
  }
  needsToken(lifetimeMs: number, now: Date, nowMs: number): boolean {
    if (this.#state !== "live" || !isRenewalDue(this.#tokenExpiresAt, lifetimeMs, now)) return false;
    return this.#renewal === null || nowMs - this.#renewal.offeredAtMs >= OFFER_AGAIN_AFTER_MS;
  }
  offerToken(renewal: Renewal, token: string): void {
    this.#renewal = renewal;
    const expires_at = renewal.expiresAt.toISOString();
    this.send({ type: "renew_token", id: renewal.frameId, session: this.sessionId, token, expires_at });
  }
  /** Whether this confirms the token that was offered last, which counts for the session from now on. */
  confirmToken(frameId: string): boolean {
    const renewal = this.#renewal;
    if (renewal?.frameId !== frameId) return false;
    this.#tokenVersion = renewal.tokenVersion;
    this.#tokenExpiresAt = renewal.expiresAt;
    this.#renewal = null;
    return true;
  }

  // Settings and revisions are sent when they change.

  setDriftPolicy(driftPolicy: LinkSettings["drift_policy"]): void {
    const registration = this.#registered();
    if (this.#state === "ended" || registration.driftPolicy === driftPolicy) return;
    this.#registration = { ...registration, driftPolicy };
    this.send({ type: "settings", session: this.sessionId, settings: { drift_policy: driftPolicy } });
  }
  /** Notes which credentials the operator is sent. */
  noteRepositories(repositoriesStamp: string | null): void {
    this.#registration = { ...this.#registered(), repositoriesStamp };
  }
  /** Says once that everything up to a revision was sent and confirmed. */
  sendSyncEnd(revision: number): void {
    if (this.#state !== "live" || this.#isAheadOfDatabase || revision === this.#syncedRevision) return;
    this.#syncedRevision = revision;
    this.send({ type: "sync_end", session: this.sessionId, revision });
  }

  // Reports wait here until they are stored.

  get reports(): ReportQueue {
    this.#reports ??= new ReportQueue();
    return this.#reports;
  }
  get hasReports(): boolean {
    return this.#reports !== null && !this.#reports.isEmpty && this.#state !== "ended";
  }

  send(frame: HubFrame): void {
    this.sendText(JSON.stringify(frame));
  }
  /** An operator that does not read is disconnected. It is sent what it has missed when it comes back. */
  sendText(text: string): void {
    if (this.#state === "ended") return;
    if (this.#wire.bufferedAmount + text.length > MOST_BUFFERED_BYTES) this.end(CLOSE.busy, TOO_SLOW);
    else this.#wire.send(text);
  }

  listen(frameId: string, onAnswer: OnAnswer): () => void {
    this.#listeners ??= new Map();
    this.#listeners.set(frameId, onAnswer);
    return () => void this.#listeners?.delete(frameId);
  }
  /** Passes an answer on to the sender of the request. False where it exceeds the credit of its stream. */
  answer(answer: Answer): boolean {
    return this.#listeners?.get(answer.ref)?.(answer) ?? true;
  }

  end(code: CloseCode, reason: string): void {
    if (this.#state === "ended") return;
    this.#wire.close(code, reason);
    this.ended();
  }
  /** Ends the session without a close frame, which a dead peer would not read. */
  cut(): void {
    this.#wire.cut();
    this.ended();
  }
  /** Is also called when the peer has closed the connection. */
  ended(): void {
    if (this.#state === "ended") return;
    this.#state = "ended";
    const listeners = this.#listeners;
    this.#listeners = null;
    for (const onAnswer of listeners?.values() ?? []) onAnswer(null);
    this.delivery.ended();
    this.#onEnd(this);
  }

  #registered(): Registration {
    if (!this.#registration) throw new Error("The session is not registered yet.");
    return this.#registration;
  }
}

/** A rotation raises the floor to the version of the token that it issues; every earlier version is revoked. */
export const isRevoked = (tokenVersion: number, floor: number): boolean => tokenVersion < floor;

/** A token is renewed long before it expires, so that an operator that is away for months still has a valid one. */
export function isRenewalDue(expiresAt: Date, lifetimeMs: number, now: Date): boolean {
  return expiresAt.getTime() - now.getTime() < lifetimeMs / 3;
}
