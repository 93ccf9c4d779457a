import type { PeerTrust } from "../certificate-trust.adapter.ts";
import type { Queries } from "../database/transaction.ts";
import { Fault } from "../fault.ts";
import { newId } from "../id.adapter.ts";
import type { Log } from "../outage.ts";
import { noOperatorConnected } from "./operator-requests.ts";
import { dialPeer, type KeepAlive, type Peer, type PeerHandler, type PeerKey } from "./peer.adapter.ts";
import type { LiveSessions } from "./ports.ts";
import {
  type ExecInput,
  isLast,
  LOST,
  type OpenRequest,
  type OperatorRequest,
  type Reply,
  sendRequest,
} from "./request-frames.ts";
import { findHub, type HubAddress } from "./session.store.ts";

interface RequestMessage {
  readonly id: string;
  readonly cluster_id: string;
  readonly request: OperatorRequest;
}
interface FollowUpMessage {
  readonly id: string;
  readonly credit?: number;
  readonly cancel?: true;
  readonly input?: ExecInput;
}
interface ReplyMessage {
  readonly id: string;
  readonly reply: Reply;
}

interface Ports {
  readonly db: Queries;
  readonly log: Log;
  /** The sessions of this process, where it is a hub. */
  readonly local: LiveSessions;
  readonly peerKey: PeerKey;
  readonly trust: PeerTrust;
  readonly keepAlive?: KeepAlive;
}

/** Sends requests to the operator of a cluster, whichever hub holds its session. */
export interface RequestRouter {
  isConnected(clusterId: string): Promise<boolean>;
  /** Throws a `Fault` of the kind `unavailable` where no operator can be reached. */
  send(clusterId: string, request: OperatorRequest, onReply: (reply: Reply) => void): Promise<OpenRequest>;
  stop(): void;
}

/** The connection to another hub, with the requests that wait for its replies. */
interface Link {
  readonly peer: Promise<Peer>;
  readonly pending: Map<string, (reply: Reply) => void>;
}

export function startRequestRouter({ db, log, local, peerKey, trust, keepAlive }: Ports): RequestRouter {
  const dialling = { key: peerKey, trust, log, ...(keepAlive ? { keepAlive } : {}) };
  const links = new Map<string, Link>();
  let isStopped = false;

  function linkTo(hub: HubAddress): Link {
    const known = links.get(hub.id);
    if (known) return known;
    const pending: Link["pending"] = new Map();
    const end = () => {
      if (links.get(hub.id) === link) links.delete(hub.id);
      for (const onReply of pending.values()) onReply(LOST);
      pending.clear();
    };
    const onMessage = (message: unknown) => {
      const { id, reply } = message as ReplyMessage;
      const onReply = pending.get(id);
      if (isLast(reply)) pending.delete(id);
      onReply?.(reply);
    };
    const link = { peer: dialPeer(hub, { onMessage, onClose: end }, dialling), pending };
    links.set(hub.id, link);
    link.peer.catch(end);
    return link;
  }

  async function sendToHub(
    hub: HubAddress,
    message: RequestMessage,
    onReply: (reply: Reply) => void,
  ): Promise<OpenRequest> {
    const { id } = message;
    const { peer: dialled, pending } = linkTo(hub);
    const peer = await dialled.catch((error: unknown) => {
      log.warn({ err: error, hub_url: hub.url }, "another hub cannot be reached");
      throw new Fault("unavailable", "The cluster's hub cannot be reached. Try again in a moment.");
    });
    pending.set(id, onReply);
    const send = (given: RequestMessage | FollowUpMessage) => void (pending.has(id) && peer.send(given));
    send(message);
    return {
      credit: (bytes) => send({ id, credit: bytes }),
      input: (input) => send({ id, input }),
      cancel() {
        send({ id, cancel: true });
        pending.delete(id);
      },
    };
  }

  return {
    isConnected: async (clusterId) => local.find(clusterId) !== null || (await findHub(db, clusterId)) !== null,
    async send(clusterId, request, onReply) {
      const session = local.find(clusterId);
      if (session) return sendRequest(session, request, newId(), joinOutput(onReply));
      const hub = await findHub(db, clusterId);
      if (hub === null || isStopped) throw noOperatorConnected();
      return sendToHub(hub, { id: newId(), cluster_id: clusterId, request }, onReply);
    },
    stop() {
      isStopped = true;
      for (const { peer } of links.values()) void peer.then(({ close }) => close()).catch(() => undefined);
    },
  };
}

/**
 * Output that arrives together is passed on together. That of a command which writes byte by byte would be thousands of messages
 * otherwise, each of which takes far more memory than its byte. The stream's credit limits their size.
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

/**
 * Serves the requests of another process to the operators of this hub. What is open when the process has gone is cancelled, so
 * that no operator sends lines that nobody reads.
 */
export const serveRequests =
  (sessions: LiveSessions) =>
  (peer: Peer): PeerHandler => {
    const requests = new Map<string, OpenRequest>();

    function open({ id, cluster_id, request }: RequestMessage): void {
      let isOver = false;
      const reply = (given: Reply) => {
        if (isLast(given)) {
          isOver = true;
          requests.delete(id);
        }
        peer.send({ id, reply: given } satisfies ReplyMessage);
      };
      const session = sessions.find(cluster_id);
      if (session === null) {
        reply(LOST);
        return;
      }
      const sent = sendRequest(session, request, id, joinOutput(reply));
      if (!isOver) requests.set(id, sent);
    }

    function followUp({ id, credit, cancel, input }: FollowUpMessage): void {
      const request = requests.get(id);
      if (credit !== undefined) request?.credit(credit);
      if (input !== undefined) request?.input(input);
      if (cancel !== true) return;
      requests.delete(id);
      request?.cancel();
    }

    return {
      onMessage(message) {
        const received = message as RequestMessage | FollowUpMessage;
        if ("request" in received) open(received);
        else followUp(received);
      },
      onClose() {
        for (const request of requests.values()) request.cancel();
        requests.clear();
      },
    };
  };
