import { type ClusterFacts, canonicalJson, type HubFrame, type HubFrames, LINK_VERSION } from "@binnacle/contract";
import type { DesiredStore } from "../desired/desired-state.ts";
import type { Clock } from "../kube/work-queue.ts";
import { deliver, type KeyedWork, nack } from "./deliveries.ts";
import { type HeardFrame, readHubFrame, type UnfitFrame } from "./frames.ts";
import { createRequests } from "./hub-requests.ts";
import { createLogStreams, type LogStreams } from "./log-streams.ts";
import type { MemoryKeeper } from "./memory-keeper.ts";
import type { NewsOutbox, StatusOutbox } from "./outbox.ts";
import { createOutgoing, type Holding, inventoryPages, type Outgoing, type Wire } from "./outgoing.ts";
import type { Answerer, Commands, LinkLog, TokenStore } from "./ports.ts";

export interface SessionPorts {
  readonly store: Pick<DesiredStore, "apply" | "remove">;
  readonly work: KeyedWork;
  readonly outbox: StatusOutbox;
  readonly news: NewsOutbox;
  readonly answerer: Answerer;
  readonly commands: Commands;
  readonly tokens: TokenStore;
  readonly memory: MemoryKeeper;
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

/** What the session asks of whoever holds the socket. */
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
  hear(text: string): void;
  end(): void;
}

type Handlers = { readonly [T in HubFrame["type"]]: (frame: HubFrames[T]) => void };

interface Live {
  readonly session: string;
  readonly outgoing: Outgoing;
  readonly streams: LogStreams;
  readonly handlers: Handlers;
}

/** Says hello, and then does what the hub says until it ends. `holding` is what the cluster has stored. */
export function beginSession(host: SessionHost, holding: Holding, ports: SessionPorts): LinkSession {
  const { store, work, outbox, news, answerer, commands, tokens, memory, clock, log } = ports;
  const helloId = ports.newId();
  let live: Live | null = null;
  let toldFacts = ports.facts();
  let stopHeartbeat = () => {};
  let isEnded = false;

  function sayHello(): void {
    const { revision, digest } = holding;
    const { operatorVersion: operator_version } = ports;
    const versions = [LINK_VERSION];
    host.write(
      JSON.stringify({ type: "hello", id: helloId, versions, operator_version, facts: toldFacts, revision, digest }),
    );
  }

  function hear(text: string): void {
    if (isEnded) return;
    const heard = readHubFrame(text);
    if ("problem" in heard) host.onProblem(heard.problem);
    else if (!live) greet(heard);
    else if (("frame" in heard ? heard.frame : heard.unfit).session !== live.session) {
      host.onProblem("a frame is of another session");
    } else if ("frame" in heard) {
      const handle = live.handlers[heard.frame.type] as (frame: HubFrame) => void;
      handle(heard.frame);
    } else {
      refuse(heard, live.outgoing);
    }
  }

  function greet(heard: Exclude<HeardFrame, { problem: string }>): void {
    const frame = "frame" in heard ? heard.frame : null;
    if (frame?.type !== "welcome") host.onProblem("a frame came before the welcome");
    else if (frame.ref !== helloId) host.onProblem("the welcome answers another hello");
    else if (frame.version !== LINK_VERSION) host.onProblem("the welcome is of another version");
    else begin(frame);
  }

  function begin(welcome: HubFrames["welcome"]): void {
    live = goLive(welcome);
    host.onWelcome(welcome);
    settle(welcome);
    if (welcome.chart_repositories) commands.chartRepositories(welcome.chart_repositories);
    outbox.onDue = news.onDue = live.outgoing.pump;
    live.outgoing.pump();
    beat(welcome.heartbeat_seconds * 1_000);
  }

  function refuse({ unfit, where }: UnfitFrame, outgoing: Outgoing): void {
    log.warn({ key: unfit.key, where }, "the hub has told what this operator does not understand");
    outgoing.urgent(nack(unfit, { code: "invalid", message: `This operator does not understand it at ${where}.` }));
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
    const outgoing = createOutgoing(host, {
      session,
      // The inventory comes first: until the hub has it, it tells nothing.
      sources: [...(resume === "inventory" ? [inventoryPages(holding.entries)] : []), outbox, news, streams],
      onUnfit(frame, why) {
        log.error({ frame: frame.type, key: "key" in frame ? frame.key : undefined, why }, "a frame is not sent");
        if (frame.type === "status") outbox.noted([frame.id]);
      },
    });
    return { session, outgoing, streams, handlers: handlersWith(outgoing, streams) };
  }

  function handlersWith({ urgent }: Outgoing, streams: LogStreams): Handlers {
    const told = (frame: HubFrames["apply" | "remove"]) => deliver(frame, { store, work, log, answer: urgent });
    const asked = createRequests({ answerer, commands, log, answer: urgent });
    return {
      welcome: () => host.onProblem("a welcome came twice"),
      apply: told,
      remove: told,
      sync_end({ revision }) {
        memory.note({ revision });
        ports.onSyncEnd?.();
      },
      settings: settle,
      chart_repositories: ({ chart_repositories }) => commands.chartRepositories(chart_repositories),
      noted: ({ refs }) => outbox.noted(refs),
      command(frame) {
        // First what is known already, then what looking again finds.
        outbox.resync();
        asked(frame);
      },
      request: asked,
      stream_open: streams.open,
      stream_credit: streams.credit,
      stream_cancel: streams.cancel,
      renew_token: (frame) => void keepToken(frame, urgent),
      drain: ({ within_seconds }) => host.onDrain(within_seconds * 1_000),
    };
  }

  function settle({ settings }: Pick<HubFrames["settings"], "settings">): void {
    memory.note({ settings });
    commands.settings(settings);
  }

  async function keepToken({ id, token }: HubFrames["renew_token"], urgent: Outgoing["urgent"]): Promise<void> {
    try {
      await tokens.store(token);
      urgent({ type: "token_stored", ref: id });
      log.info({}, "the hub has renewed the token");
    } catch (err) {
      log.error({ err }, "a renewed token could not be stored; the present one stays in use");
    }
  }

  /** The ping is answered by the hub's socket itself: so a connection that is dead on the way is noticed. */
  function beat(everyMs: number): void {
    stopHeartbeat = clock.after(everyMs * (0.9 + 0.2 * ports.random()), () => {
      const facts = ports.facts();
      const areTold = canonicalJson(facts) === canonicalJson(toldFacts);
      live?.outgoing.urgent({ type: "heartbeat", ...(areTold ? {} : { facts }) });
      toldFacts = facts;
      host.ping();
      beat(everyMs);
    });
  }

  sayHello();
  return {
    hear,
    end() {
      isEnded = true;
      stopHeartbeat();
      live?.outgoing.stop();
      live?.streams.cancelAll();
      outbox.onDue = news.onDue = () => undefined;
      outbox.lost();
      news.lost();
    },
  };
}
