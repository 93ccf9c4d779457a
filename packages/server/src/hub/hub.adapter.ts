import type { Server } from "node:http";
import { CLOSE } from "@binnacle/contract";
import type { WebSocket } from "ws";
import type { Bus } from "../bus/bus.ts";
import type { RepositoryCredentials } from "../chart-repositories/chart-repository.store.ts";
import type { Clock } from "../clock.ts";
import type { AgentClaims, AgentTokens } from "../clusters/agent-token.ts";
import type { Queries } from "../database/transaction.ts";
import type { DispatchedKind, PendingRow } from "../dispatch/kind.ts";
import { reissueResources } from "../dispatch/reissue.store.ts";
import { newId } from "../id.ts";
import { type Log, watchOutage } from "../outage.ts";
import { listenToHints } from "./bus-hints.ts";
import { startDispatcher } from "./dispatcher.ts";
import { drain } from "./drain.ts";
import { handleFrame } from "./frame-handling.ts";
import { type Refusal, readFrame } from "./frame-reader.ts";
import { createHandshake } from "./handshake.ts";
import { startNewsIntake } from "./news-intake.ts";
import { overdue, PATIENCE, type Patience } from "./overdue.ts";
import type { BodySource, LiveSessions, ReportSink } from "./ports.ts";
import { SessionRegistry } from "./registry.ts";
import { startReleaser } from "./releaser.ts";
import { Session, type Wire } from "./session.ts";
import { acceptOperators } from "./socket.adapter.ts";
import { createSweep } from "./sweep.ts";
import { startTicker } from "./ticker.ts";
import { createTokenRenewal } from "./token-renewal.ts";

export interface HubOptions {
  readonly server: Server;
  readonly db: Queries;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Log;
  readonly tokens: AgentTokens;
  readonly kinds: readonly DispatchedKind[];
  readonly bodies: BodySource;
  readonly reports: ReportSink;
  readonly repositories: RepositoryCredentials;
  readonly patience?: Patience;
  readonly tickMs?: number;
  readonly sweepMs?: number;
}

export interface Hub {
  /** By which other processes know whom to ask for its operators. */
  readonly id: string;
  readonly sessions: LiveSessions;
  /** Asks the operators to go elsewhere, and then lets go of those that are still here. */
  stop(drainTimeoutMs: number): Promise<void>;
}

/** Holds the connections of operators, tells them what their clusters are to hold, and takes what they report. */
export function startHub(options: HubOptions): Hub {
  const { server, db, bus, clock, log, tokens, kinds, repositories, patience = PATIENCE } = options;
  const hubId = newId();
  const registry = new SessionRegistry();
  const intake = startNewsIntake(options.reports, log);
  const dispatcher = startDispatcher({
    db,
    bodies: options.bodies,
    log,
    liveSession: (clusterId) => registry.live(clusterId),
    reject,
  });
  const { wake } = dispatcher;
  const releaser = startReleaser({ db, bus, clock, log }, dispatcher.settled);
  const release = (session: Session) => {
    if (session.registration) releaser.release(session.registration.fence);
  };
  const handshake = createHandshake({ hubId, db, kinds, bus, clock, log, registry, repositories, release, wake });
  const renewal = createTokenRenewal({ db, clock, tokens, log });
  const sweep = createSweep({ hubId, db, bus, clock, registry, dispatcher, releaser, renewal, repositories });
  const outage = watchOutage(log, "what the hub does on the side");
  const aside = (work: Promise<unknown>) => void work.then(outage.recovered, outage.failed);
  const reissue = (session: Session, { kind, resource_id: resourceId }: PendingRow, above: number) => {
    const reissued = reissueResources(db, kinds, session.clusterId, [{ kind, resourceId, above }], clock());
    aside(reissued.then(() => wake(session.clusterId)));
  };
  const frames = { reject, handshake, dispatcher, intake, now: clock, reissue, tokenStored: renewal.stored };
  let isDraining = false;

  function reject(session: Session, row: PendingRow, message: string): void {
    const { key, resource_id, generation } = row;
    const report = kinds.find(({ kind }) => kind === row.kind)?.rejected(message);
    if (!report) return;
    const { sessionId } = session;
    const status = { type: "status", id: newId(), session: sessionId, key, resource_id, generation, report } as const;
    intake.put(session, status, message.length, []);
  }

  function hear(session: Session, bytes: Buffer): void {
    if (session.state === "ended") return;
    session.heardAtMs = performance.now();
    const read = readFrame(bytes, session.state === "greeting" ? null : (session.registration?.sessionId ?? ""));
    if ("frame" in read) handleFrame(session, read.frame, bytes.length, frames);
    else refuse(session, read.refusal);
  }

  function refuse(session: Session, { closeCode, why }: Refusal): void {
    log.warn({ cluster_id: session.clusterId, code: closeCode, why }, "an operator has broken the protocol");
    session.end(closeCode, why);
  }

  function letGo(session: Session): void {
    registry.remove(session);
    release(session);
  }

  function receive(socket: WebSocket, claims: AgentClaims): void {
    const session = new Session(new SocketWire(socket), claims, performance.now(), letGo);
    registry.arriving.add(session);
    socket.on("message", (data: Buffer) => hear(session, data));
    socket.on("close", () => session.ended());
  }

  function look(session: Session, nowMs: number): void {
    const why = overdue(session, nowMs, patience);
    if (why === null) return;
    log.info({ cluster_id: session.clusterId, why: why === "dead" ? why : why[0] }, "an operator is not waited for");
    if (why === "dead") session.cut();
    else session.end(...why);
  }

  const sockets = acceptOperators(server, { tokens, log, isDraining: () => isDraining, onOperator: receive });
  const stopListening = listenToHints({
    bus,
    registry,
    wake,
    settingsChanged: (orgId) => aside(sweep.tellSettings(orgId)),
  });
  const ticker = startTicker({
    tickMs: options.tickMs,
    sweepMs: options.sweepMs,
    tick() {
      const nowMs = performance.now();
      for (const session of registry.arriving) look(session, nowMs);
      for (const session of registry.all()) look(session, nowMs);
    },
    sweep: () => sweep.run().then(outage.recovered, outage.failed),
  });

  return {
    id: hubId,
    sessions: registry,
    async stop(drainTimeoutMs) {
      isDraining = true;
      await drain(registry, drainTimeoutMs);
      for (const session of [...registry.arriving, ...registry.all()])
        session.end(CLOSE.draining, "the hub is stopping");
      stopListening();
      await ticker.stop();
      await intake.stop();
      await dispatcher.stop();
      await releaser.stop();
      await sockets.close();
    },
  };
}

class SocketWire implements Wire {
  readonly #socket: WebSocket;

  constructor(socket: WebSocket) {
    this.#socket = socket;
  }
  get bufferedAmount(): number {
    return this.#socket.bufferedAmount;
  }
  send(text: string): void {
    this.#socket.send(text);
  }
  close(code: number, reason: string): void {
    this.#socket.close(code, reason);
  }
  cut(): void {
    this.#socket.terminate();
  }
}
