import {
  type ClusterFacts,
  canonicalJson,
  DETACH_REQUEST,
  type HubFrame,
  type HubFrames,
  LINK_VERSION,
  NEGOTIATED_REQUESTS,
  safeText,
  UPGRADE_REQUEST,
} from "@binnacle/contract";
import type { DesiredStore, Refusal } from "../desired/desired-state.ts";
import type { Clock } from "../kube/work-queue.ts";
import { createExecStreams, type ExecStreams } from "./exec-streams.ts";
import { type MalformedApply, type OutgoingFrameOf, type ReceivedFrame, readHubFrame } from "./frames.ts";
import { createRequests } from "./hub-requests.ts";
import type { KeyedWork } from "./keyed-work.ts";
import { createLogStreams, type LogStreams } from "./log-streams.ts";
import type { EventOutbox, StatusOutbox } from "./outbox.ts";
import { createOutgoing, inventoryPages, type Outgoing, type StoredState, type Wire } from "./outgoing.ts";
import type { Answerer, Commands, LinkLog, TokenStore } from "./ports.ts";
import type { SessionState } from "./session-state.ts";

export interface SessionPorts {
  readonly store: Pick<DesiredStore, "apply" | "remove">;
  readonly work: KeyedWork;
  readonly outbox: StatusOutbox;
  readonly events: EventOutbox;
  readonly answerer: Answerer;
  readonly commands: Commands;
  readonly tokens: TokenStore;
  readonly memory: SessionState;
  readonly facts: () => ClusterFacts;
  /** Called once all that is wanted by now is stored. */
  readonly onSyncEnd?: () => void;
  readonly operatorVersion: string;
  readonly clock: Clock;
  /** Even in 0..1. */
  readonly random: () => number;
  readonly newId: () => string;
  readonly log: LinkLog;
}

/** The socket's side of a session. */
export interface SessionHost extends Wire {
  ping(): void;
  /** The hub has taken the operator in. */
  onWelcome(welcome: HubFrames["welcome"]): void;
  /** The hub breaks the protocol. */
  onProblem(problem: string): void;
  /** The hub wants the operator to come back, perhaps elsewhere, within this time. */
  onDrain(withinMs: number): void;
}

export interface LinkSession {
  receive(text: string): void;
  end(): void;
}

type Handlers = { readonly [T in HubFrame["type"]]: (frame: HubFrames[T]) => void };

interface Live {
  readonly session: string;
  readonly outgoing: Outgoing;
  readonly streams: LogStreams;
  readonly execs: ExecStreams;
  readonly handlers: Handlers;
}

/** Says hello, and then does what the hub says until it ends. `holding` is what the cluster has stored. */
export function beginSession(host: SessionHost, stored: StoredState, ports: SessionPorts): LinkSession {
  const { store, work, outbox, events, answerer, commands, tokens, memory, clock, log } = ports;
  const helloId = ports.newId();
  let live: Live | null = null;
  let sentFacts = ports.facts();
  let stopHeartbeat = () => {};
  let isEnded = false;

  function sendHello(): void {
    const { revision, digest } = stored;
    const { operatorVersion: operator_version } = ports;
    const requests = requestsOf(answerer);
    const said = { versions: [LINK_VERSION], operator_version, facts: sentFacts, revision, digest };
    host.write(JSON.stringify({ type: "hello", id: helloId, ...said, requests, suspends: true }));
  }

  function receive(text: string): void {
    if (isEnded) return;
    const received = readHubFrame(text);
    if ("problem" in received) host.onProblem(received.problem);
    else if (!live) handleWelcome(received);
    else if (("frame" in received ? received.frame : received.malformed).session !== live.session) {
      host.onProblem("a frame belongs to another session");
    } else if ("frame" in received) {
      const handle = live.handlers[received.frame.type] as (frame: HubFrame) => void;
      handle(received.frame);
    } else {
      refuse(received, live.outgoing);
    }
  }

  function handleWelcome(received: Exclude<ReceivedFrame, { problem: string }>): void {
    const frame = "frame" in received ? received.frame : null;
    if (frame?.type !== "welcome") host.onProblem("a frame came before the welcome");
    else if (frame.ref !== helloId) host.onProblem("the welcome answers another hello");
    else if (frame.version !== LINK_VERSION) host.onProblem("the welcome has another version");
    else begin(frame);
  }

  function begin(welcome: HubFrames["welcome"]): void {
    live = goLive(welcome);
    host.onWelcome(welcome);
    applySettings(welcome);
    if (welcome.chart_repositories) commands.chartRepositories(welcome.chart_repositories);
    outbox.onDue = events.onDue = live.outgoing.pump;
    live.outgoing.pump();
    scheduleHeartbeat(welcome.heartbeat_seconds * 1_000);
  }

  function refuse({ malformed, where }: MalformedApply, outgoing: Outgoing): void {
    log.warn({ key: malformed.key, where }, "the hub has sent content that this operator does not understand");
    outgoing.urgent(nack(malformed, { code: "invalid", message: `This operator does not understand it at ${where}.` }));
  }

  function goLive({ session, resume }: HubFrames["welcome"]): Live {
    const urgent: Outgoing["urgent"] = (frame) => outgoing.urgent(frame);
    const streams = createLogStreams({
      answerer,
      clock,
      urgent,
      onDue: () => outgoing.pump(),
      onFailure: (err) => log.warn({ err }, "logs could not be read"),
    });
    const execs = createExecStreams({
      answerer,
      urgent,
      onDue: () => outgoing.pump(),
      onFailure: (err) => log.warn({ err }, "a command could not be started in a container"),
    });
    const outgoing = createOutgoing(host, {
      session,
      // The inventory comes first: the hub sends nothing before it has it.
      sources: [...(resume === "inventory" ? [inventoryPages(stored.entries)] : []), outbox, events, streams, execs],
      onInvalid(frame, why) {
        log.error({ frame: frame.type, key: "key" in frame ? frame.key : undefined, why }, "a frame is not sent");
        if (frame.type === "status") outbox.confirmed([frame.id]);
      },
    });
    return { session, outgoing, streams, execs, handlers: handlersWith(outgoing, streams, execs) };
  }

  function handlersWith({ urgent }: Outgoing, streams: LogStreams, execs: ExecStreams): Handlers {
    const deliverFrame = (frame: HubFrames["apply" | "remove"]) => deliver(frame, { store, work, log, answer: urgent });
    const handleRequest = createRequests({ answerer, commands, log, answer: urgent });
    return {
      welcome: () => host.onProblem("a welcome came twice"),
      apply: deliverFrame,
      remove: deliverFrame,
      sync_end({ revision }) {
        memory.note({ revision });
        ports.onSyncEnd?.();
      },
      settings: applySettings,
      chart_repositories: ({ chart_repositories }) => commands.chartRepositories(chart_repositories),
      noted: ({ refs }) => outbox.confirmed(refs),
      command(frame) {
        // Known reports are sent first, then those of the new reconciles.
        outbox.resync();
        handleRequest(frame);
      },
      request: handleRequest,
      stream_open({ stream, ...frame }) {
        if (stream.name === "exec") execs.open({ ...frame, stream });
        else streams.open({ ...frame, stream });
      },
      stream_input: execs.input,
      // An id names a stream of one kind; the other kind does not know it.
      stream_credit(frame) {
        streams.credit(frame);
        execs.credit(frame);
      },
      stream_cancel(frame) {
        streams.cancel(frame);
        execs.cancel(frame);
      },
      renew_token: (frame) => void storeToken(frame, urgent),
      drain: ({ within_seconds }) => host.onDrain(within_seconds * 1_000),
    };
  }

  function applySettings({ settings }: Pick<HubFrames["settings"], "settings">): void {
    memory.note({ settings });
    commands.settings(settings);
  }

  async function storeToken({ id, token }: HubFrames["renew_token"], urgent: Outgoing["urgent"]): Promise<void> {
    try {
      await tokens.store(token);
      urgent({ type: "token_stored", ref: id });
      log.info({}, "the hub has renewed the token");
    } catch (err) {
      log.error({ err }, "a renewed token could not be stored; the present one stays in use");
    }
  }

  /** The ping is answered by the hub's socket itself: so a connection that is dead on the way is noticed. */
  function scheduleHeartbeat(everyMs: number): void {
    stopHeartbeat = clock.after(everyMs * (0.9 + 0.2 * ports.random()), () => {
      const facts = ports.facts();
      const isSame = canonicalJson(facts) === canonicalJson(sentFacts);
      live?.outgoing.urgent({ type: "heartbeat", ...(isSame ? {} : { facts }) });
      sentFacts = facts;
      host.ping();
      scheduleHeartbeat(everyMs);
    });
  }

  sendHello();
  return {
    receive,
    end() {
      isEnded = true;
      stopHeartbeat();
      live?.outgoing.stop();
      live?.streams.cancelAll();
      live?.execs.cancelAll();
      outbox.onDue = events.onDue = () => undefined;
      outbox.lost();
      events.lost();
    },
  };
}

/** Names of the requests that are answered here, beyond those that every operator knows. */
function requestsOf({ upgrade, detach }: Answerer): string[] {
  const isMissing: Readonly<Record<string, boolean>> = { [UPGRADE_REQUEST]: !upgrade, [DETACH_REQUEST]: !detach };
  return NEGOTIATED_REQUESTS.filter((name) => !isMissing[name]);
}

interface DeliveryPorts {
  readonly store: Pick<DesiredStore, "apply" | "remove">;
  readonly work: KeyedWork;
  readonly log: LinkLog;
  readonly answer: (frame: OutgoingFrameOf<"ack" | "nack">) => void;
}

type Delivered = HubFrames["apply"] | HubFrames["remove"];
type Named = Pick<Delivered, "id" | "key" | "generation">;

/** Stores a resource and acknowledges it. The store ignores frames that come twice or late. */
function deliver(frame: Delivered, { store, work, log, answer }: DeliveryPorts): void {
  const isTaken = work.run(frame.key, async () => {
    const refusal = await carryOut(frame, store).catch((err: unknown): Refusal => {
      log.warn({ err, key: frame.key, generation: frame.generation }, "a resource could not be stored");
      return { code: "unable", message: "The cluster could not store it." };
    });
    if (refusal) answer(nack(frame, refusal));
    else answer({ type: "ack", ref: frame.id, key: frame.key, generation: frame.generation });
  });
  if (!isTaken) answer(nack(frame, { code: "unable", message: "The operator has too many resources to store." }));
}

function nack({ id, key, generation }: Named, { code, message }: Refusal): OutgoingFrameOf<"nack"> {
  return { type: "nack", ref: id, key, generation, code, message: safeText(message) };
}

async function carryOut(frame: Delivered, store: DeliveryPorts["store"]): Promise<Refusal | null> {
  return frame.type === "apply" ? store.apply(frame) : store.remove(frame);
}
