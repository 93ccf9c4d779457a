import type { Bus } from "../bus/bus.ts";
import type { Clock } from "../clock.ts";
import type { Queries } from "../database/transaction.ts";
import { Fault } from "../fault.ts";
import { newId } from "../id.adapter.ts";
import { noOperatorConnected } from "./operator-requests.ts";
import type { LiveSessions } from "./ports.ts";
import {
  type ExecInput,
  isLast,
  isStream,
  LOST,
  type OpenRequest,
  type OperatorRequest,
  type Reply,
  sendRequest,
} from "./request-frames.ts";
import { findHub } from "./session.store.ts";

const requestsTopic = (hubId: string) => `operator-requests.${hubId}`;
const repliesTopic = (senderId: string) => `operator-replies.${senderId}`;

interface RequestMessage {
  readonly id: string;
  /** The process that gets the replies. */
  readonly sender: string;
  readonly cluster_id: string;
  readonly request: OperatorRequest;
}
/** Without anything else it says that the sender is still there. */
interface FollowUpMessage {
  readonly id: string;
  readonly credit?: number;
  readonly cancel?: true;
  readonly input?: ExecInput;
  /** The number of the input. The bus may lose messages, and a command must not go on with a part of its input missing. */
  readonly sequence?: number;
}
/** Without a reply it says that the hub is still there. */
interface ReplyMessage {
  readonly id: string;
  readonly reply?: Reply;
  /** The number of the reply: a stream with a part missing would be taken for the whole, and the credit of that part never returns. */
  readonly sequence?: number;
}
const BROKEN: Reply = { failed: "lost", message: "Messages between two servers were lost. Try again." };

export interface KeepAlive {
  /** How often each side says that it is there while a stream is open. */
  readonly everyMs: number;
  /** After how long a silence the other side is taken for gone. */
  readonly deadAfterMs: number;
}
const KEEP_ALIVE: KeepAlive = { everyMs: 10_000, deadAfterMs: 35_000 };

interface Ports {
  readonly db: Queries;
  readonly bus: Bus;
  readonly clock: Clock;
  /** The sessions of this process, where it is a hub. */
  readonly local: LiveSessions;
  readonly keepAlive?: KeepAlive;
}

/** Sends requests to the operator of a cluster, whichever hub holds its session. */
export interface RequestRouter {
  isConnected(clusterId: string): Promise<boolean>;
  /** Throws a `Fault` of the kind `unavailable` where no operator can be reached. */
  send(clusterId: string, request: OperatorRequest, onReply: (reply: Reply) => void): Promise<OpenRequest>;
  stop(): void;
}

interface PendingRequest {
  readonly hubId: string;
  readonly request: OperatorRequest;
  seenAtMs: number;
  replies: number;
  onReply(reply: Reply): void;
}

export function startRequestRouter({ db, bus, clock, local, keepAlive = KEEP_ALIVE }: Ports): RequestRouter {
  const sender = newId();
  const pending = new Map<string, PendingRequest>();

  const unsubscribe = bus.subscribe(repliesTopic(sender), (message) => {
    const { id, reply, sequence } = message as ReplyMessage;
    const request = pending.get(id);
    if (request === undefined) return;
    request.seenAtMs = performance.now();
    if (reply === undefined) return;
    request.replies += 1;
    if (sequence !== request.replies) {
      pending.delete(id);
      publish(request.hubId, { id, cancel: true });
      request.onReply(BROKEN);
      return;
    }
    if (isLast(reply)) pending.delete(id);
    request.onReply(reply);
  });

  const timer = setInterval(() => {
    const deadSince = performance.now() - keepAlive.deadAfterMs;
    for (const [id, request] of pending) {
      if (!isStream(request.request)) continue;
      if (request.seenAtMs >= deadSince) publish(request.hubId, { id });
      else {
        pending.delete(id);
        request.onReply(LOST);
      }
    }
  }, keepAlive.everyMs);

  const publish = (hubId: string, message: RequestMessage | FollowUpMessage) =>
    bus.publish(requestsTopic(hubId), message);

  function sendOverBus(hubId: string, message: RequestMessage, onReply: (reply: Reply) => void): OpenRequest {
    const { id, request } = message;
    let inputs = 0;
    pending.set(id, { hubId, request, seenAtMs: performance.now(), replies: 0, onReply });
    publish(hubId, message);
    return {
      credit: (bytes) => publish(hubId, { id, credit: bytes }),
      input: (input) => publish(hubId, { id, input, sequence: ++inputs }),
      cancel: () => void (pending.delete(id) && publish(hubId, { id, cancel: true })),
    };
  }

  return {
    isConnected: async (clusterId) =>
      local.find(clusterId) !== null || (await findHub(db, clusterId, clock())) !== null,
    async send(clusterId, request, onReply) {
      const session = local.find(clusterId);
      if (session) return sendRequest(session, request, newId(), onReply);
      const hubId = await findHub(db, clusterId, clock());
      if (hubId === null) throw noOperatorConnected();
      if (!bus.isUp()) throw new Fault("unavailable", "The cluster's hub cannot be reached. Try again in a moment.");
      return sendOverBus(hubId, { id: newId(), sender, cluster_id: clusterId, request }, onReply);
    },
    stop() {
      clearInterval(timer);
      unsubscribe();
      for (const { onReply } of pending.values()) onReply(LOST);
      pending.clear();
    },
  };
}

/**
 * Output that arrives together crosses the bus in one message. That of a command which writes byte by byte would be thousands of
 * messages otherwise, each of which takes far more memory than its byte. The stream's credit limits their size.
 */
function joinOutput(reply: (given: Reply) => void): (given: Reply) => void {
  const waiting = new Map<"stdout" | "stderr", string[]>();
  const flush = () => {
    for (const [channel, [first = "", ...others]] of waiting) {
      const pieces = [first, ...others].map((piece) => Buffer.from(piece, "base64"));
      const data = others.length === 0 ? first : Buffer.concat(pieces).toString("base64");
      reply({ output: { channel, data } });
    }
    waiting.clear();
  };
  return (given) => {
    if (!("output" in given)) {
      flush();
      reply(given);
      return;
    }
    if (waiting.size === 0) setImmediate(flush);
    const pieces = waiting.get(given.output.channel) ?? [];
    pieces.push(given.output.data);
    waiting.set(given.output.channel, pieces);
  };
}

interface OpenStream extends OpenRequest {
  readonly sender: string;
  seenAtMs: number;
  inputs: number;
  reply(reply: Reply): void;
}

/**
 * Serves requests of other processes to the operators of this hub. The stream of a sender that has fallen silent is
 * cancelled, so that no operator sends lines that nobody reads.
 */
export function serveRequests(hubId: string, sessions: LiveSessions, bus: Bus, keepAlive = KEEP_ALIVE) {
  const streams = new Map<string, OpenStream>();

  function open({ id, sender, cluster_id, request }: RequestMessage): void {
    let replies = 0;
    let isOver = false;
    const reply = (given: Reply) => {
      if (isLast(given)) {
        isOver = true;
        streams.delete(id);
      }
      bus.publish(repliesTopic(sender), { id, reply: given, sequence: ++replies } satisfies ReplyMessage);
    };
    const session = sessions.find(cluster_id);
    if (session === null) {
      reply(LOST);
      return;
    }
    const sent = sendRequest(session, request, id, joinOutput(reply));
    if (isStream(request) && !isOver)
      streams.set(id, { ...sent, sender, seenAtMs: performance.now(), inputs: 0, reply });
  }

  function followUp({ id, credit, cancel, input, sequence }: FollowUpMessage): void {
    const stream = streams.get(id);
    if (stream === undefined) return;
    stream.seenAtMs = performance.now();
    if (credit !== undefined) stream.credit(credit);
    if (input !== undefined) {
      stream.inputs += 1;
      if (sequence === stream.inputs) stream.input(input);
      else {
        close(id, stream);
        stream.reply(BROKEN);
      }
    }
    if (cancel === true) close(id, stream);
  }

  function close(id: string, stream: OpenStream): void {
    streams.delete(id);
    stream.cancel();
  }

  const unsubscribe = bus.subscribe(requestsTopic(hubId), (message) => {
    const received = message as RequestMessage | FollowUpMessage;
    if ("request" in received) open(received);
    else followUp(received);
  });
  const timer = setInterval(() => {
    const deadSince = performance.now() - keepAlive.deadAfterMs;
    for (const [id, stream] of streams) {
      if (stream.seenAtMs < deadSince) close(id, stream);
      else bus.publish(repliesTopic(stream.sender), { id } satisfies ReplyMessage);
    }
  }, keepAlive.everyMs);

  return {
    stop() {
      clearInterval(timer);
      unsubscribe();
      for (const [id, stream] of streams) close(id, stream);
    },
  };
}
