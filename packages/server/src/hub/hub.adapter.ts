import type { Server } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { CLOSE } from "@binnacle/contract";
import type { Tracer } from "@binnacle/tracing";
import type { WebSocket } from "ws";
import type { Bus } from "../bus/bus.ts";
import type { Clock } from "../clock.ts";
import type { Queries } from "../database/transaction.ts";
import { reissueResources } from "../dispatch/dispatch.store.ts";
import type { DispatchedKind, PendingRow } from "../dispatch/kind.ts";
import { newId } from "../id.adapter.ts";
import { type Log, watchOutage } from "../outage.ts";
import { startSessionCleanup } from "./connection-status.runner.ts";
import { startDispatcher } from "./dispatcher.runner.ts";
import { handleFrame } from "./frame-handler.ts";
import { type Refusal, readFrame } from "./frame-reader.ts";
import { createHandshake } from "./handshake.runner.ts";
import { subscribeToHints } from "./hints.adapter.ts";
import { Arrivals, drainSteps, reportsAtOnce, TIMEOUTS, type Timeouts, timeoutOf } from "./pacing.ts";
import type { AgentClaims, BodySource, ChartCredentials, HubClusters, ReportSink } from "./ports.ts";
import { startReportWriter } from "./report-writer.runner.ts";
import { Session } from "./session.ts";
import { SessionTable } from "./session-table.ts";
import { acceptOperators, socketWire } from "./socket.adapter.ts";
import { createSweep } from "./sweep.runner.ts";

const CHECK_TIMEOUTS_MS = 1_000;
const SWEEP_MS = 10_000;
/** Leaves the last operators the time to disconnect. */
const DRAIN_GRACE_MS = 100;

export interface HubOptions {
  readonly server: Server;
  /** Where other processes reach it. */
  readonly url: string;
  readonly db: Queries;
  /** The size of the pool of `db`. */
  readonly connections: number;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Log;
  readonly clusters: HubClusters;
  readonly kinds: readonly DispatchedKind[];
  readonly bodies: BodySource;
  readonly reports: ReportSink;
  readonly repositories: ChartCredentials;
  readonly tracer?: Tracer | null;
  readonly timeouts?: Timeouts;
  readonly tickMs?: number;
  readonly sweepMs?: number;
}

export interface Hub {
  /** Other processes address requests to the operators of this hub by it. */
  readonly id: string;
  readonly sessions: Pick<SessionTable, "find" | "size">;
  /** Asks the operators to reconnect elsewhere, and then ends the sessions that are left. */
  stop(drainTimeoutMs: number): Promise<void>;
}

/** Holds the sessions of operators, delivers what their clusters are to hold, and stores what they report. */
export function startHub(options: HubOptions): Hub {
  const { server, db, bus, clock, log, clusters, kinds, repositories, tracer = null, timeouts = TIMEOUTS } = options;
  const hub = { id: newId(), url: options.url };
  const sessions = new SessionTable();
  const arrivals = new Arrivals();
  const reports = startReportWriter(options.reports, log, () =>
    reportsAtOnce(options.connections, arrivals.isCrowded(performance.now())),
  );
  const dispatcher = startDispatcher({
    db,
    bodies: options.bodies,
    log,
    tracer,
    liveSession: (clusterId) => sessions.live(clusterId),
    reject,
  });
  const { wake } = dispatcher;
  const status = { db, bus, clock, clusters };
  const cleanup = startSessionCleanup({ ...status, log }, dispatcher.settled);
  const handshake = createHandshake({ ...status, hub, kinds, log, sessions, repositories, release, wake });
  const sweep = createSweep({ ...status, hub, sessions, dispatcher, cleanup, repositories });
  const outage = watchOutage(log, "the background work of the hub");
  const inBackground = (work: Promise<unknown>) => work.then(outage.recovered, outage.failed);
  const frames = { handshake, dispatcher, reports, log, now: clock, reject, reissue };
  let isDraining = false;

  function reissue({ clusterId }: Session, { kind, resource_id: resourceId }: PendingRow, above: number): void {
    const reissued = reissueResources(db, kinds, clusterId, [{ kind, resourceId, above }], clock());
    void inBackground(reissued.then(() => wake(clusterId)));
  }

  function reject(session: Session, row: PendingRow, message: string): void {
    const { key, resource_id, generation } = row;
    const report = kinds.find(({ kind }) => kind === row.kind)?.rejected(message);
    if (!report) return;
    const { sessionId } = session;
    const frame = { type: "status", id: newId(), session: sessionId, key, resource_id, generation, report } as const;
    reports.enqueue(session, frame, message.length, []);
  }

  function release({ registration }: Session): void {
    if (registration) cleanup.release(registration.fence);
  }

  function connect(socket: WebSocket, claims: AgentClaims, isTrial: boolean): void {
    const onEnd = (ended: Session) => {
      sessions.remove(ended);
      release(ended);
      const { clusterId: cluster_id, registration } = ended;
      if (registration) log.info({ cluster_id, cluster: registration.clusterName }, "an operator has disconnected");
    };
    const session = new Session(socketWire(socket), claims, performance.now(), onEnd, isTrial);
    sessions.connected(session);
    arrivals.note(performance.now());
    socket.on("message", (data: Buffer) => receive(session, data));
    socket.on("close", () => session.ended());
  }

  function receive(session: Session, bytes: Buffer): void {
    if (session.state === "ended") return;
    session.received(performance.now());
    const read = readFrame(bytes, session.state === "greeting" ? null : (session.registration?.sessionId ?? ""));
    if ("frame" in read) {
      const why = handleFrame(session, read.frame, bytes.length, frames);
      if (why !== null) refuse(session, { closeCode: CLOSE.protocolError, why });
    } else refuse(session, read.refusal);
  }

  function refuse(session: Session, { closeCode, why }: Refusal): void {
    log.warn({ cluster_id: session.clusterId, code: closeCode, why }, "an operator has violated the protocol");
    session.end(closeCode, why);
  }

  function checkTimeout(session: Session, nowMs: number): void {
    const why = timeoutOf(session, nowMs, timeouts);
    if (why === null) return;
    log.info({ cluster_id: session.clusterId, why: why === "dead" ? why : why[0] }, "a session has timed out");
    if (why === "dead") session.cut();
    else session.end(...why);
  }

  // These are the only timers of sessions, however many sessions there are.
  const timeoutTimer = setInterval(() => {
    const nowMs = performance.now();
    for (const session of sessions.connecting()) checkTimeout(session, nowMs);
    for (const session of sessions.all()) checkTimeout(session, nowMs);
  }, options.tickMs ?? CHECK_TIMEOUTS_MS);
  let sweeping: Promise<void> | null = null;
  const sweepNow = () => {
    sweeping ??= inBackground(sweep.run()).finally(() => {
      sweeping = null;
    });
  };
  const sweepTimer = setInterval(sweepNow, options.sweepMs ?? SWEEP_MS);

  const sockets = acceptOperators(server, { clusters, log, isDraining: () => isDraining, onOperator: connect });
  const unsubscribe = subscribeToHints({
    bus,
    sessions,
    wake,
    settingsChanged: (orgId) => void inBackground(sweep.sendSettings(orgId)),
    missed: sweepNow,
  });

  return {
    id: hub.id,
    sessions,
    async stop(drainTimeoutMs) {
      isDraining = true;
      await drain(sessions, drainTimeoutMs);
      const left = [...sessions.connecting(), ...sessions.all()];
      for (const session of left) session.end(CLOSE.draining, "the hub is stopping");
      unsubscribe();
      clearInterval(timeoutTimer);
      clearInterval(sweepTimer);
      await sweeping;
      await reports.stop();
      await dispatcher.stop();
      await cleanup.stop();
      await sockets.close();
    },
  };
}

/** Resolves when all sessions have ended, or had the time to. */
async function drain(sessions: SessionTable, longestMs: number): Promise<void> {
  const startedAtMs = performance.now();
  const until = (afterMs: number) => pause(Math.max(0, startedAtMs + afterMs - performance.now()));
  const steps = drainSteps(sessions.welcomed(), longestMs);
  for (const { afterMs, withinMs, sessions: batch } of steps) {
    await until(afterMs);
    for (const session of batch) {
      if (session.state === "ended") continue;
      session.send({ type: "drain", session: session.sessionId, within_seconds: withinMs / 1000 });
    }
  }
  const spreadMs = steps[0]?.withinMs ?? 0;
  while (sessions.size > 0 && performance.now() < startedAtMs + spreadMs + DRAIN_GRACE_MS) await pause(10);
}
