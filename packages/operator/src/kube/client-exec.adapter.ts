import type { IncomingMessage } from "node:http";
import { WebSocket } from "ws";
import {
  EXEC_PROTOCOLS,
  type ExecEnding,
  type ExecOptions,
  type ExecOutput,
  type ExecProcess,
  execQuery,
  readExecFrame,
  resizeFrame,
  stdinEndFrame,
  stdinFrame,
} from "./exec.ts";
import type { KubeAccess } from "./kube-access.ts";
import type { ResourceType } from "./kube-client.ts";
import { pathOf } from "./kube-path.ts";

const PODS: ResourceType = { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true };
const CONNECT_TIMEOUT_MS = 10_000;
/** Finds a server that vanished without a word, also under a shell that is rightly silent. */
const KEEP_ALIVE_PROBE_MS = 15_000;
/** API servers cut output into pieces of 32 KiB. */
const LARGEST_FRAME_BYTES = 1024 * 1024;

/** Runs a command in a container, over a WebSocket of its own to the API server. */
export function execInPod(
  access: KubeAccess,
  namespace: string,
  pod: string,
  options: ExecOptions,
  events: ExecOutput,
): ExecProcess {
  const path = `${pathOf(PODS, { namespace, name: pod, subresource: "exec" })}?${execQuery(options)}`;
  const { origin, pathname } = new URL(access.server);
  const url = `${origin.replace(/^http/, "ws")}${pathname.replace(/\/+$/, "")}${path}`;
  /** Input that comes before the connection is there. The hub's credit limits it. */
  let pending: ((socket: WebSocket) => void)[] = [];
  let socket: WebSocket | null = null;
  let isPaused = false;
  let isOver = false;

  function end(ending: ExecEnding): void {
    if (isOver) return;
    isOver = true;
    events.ended(ending);
  }

  const use = (act: (open: WebSocket) => void) => {
    if (isOver) return;
    if (socket) act(socket);
    else pending.push(act);
  };

  async function connect(isRefused: boolean): Promise<void> {
    if (access.connection) return end({ error: "This cluster is not reached by a network, so it runs no commands." });
    const { token, certificate, key } = await access.identity({ isRefused });
    if (isOver) return;
    const opening = new WebSocket(url, [...EXEC_PROTOCOLS], {
      headers: { "user-agent": "binnacle-operator", ...(token === null ? {} : { authorization: `Bearer ${token}` }) },
      perMessageDeflate: false,
      maxPayload: LARGEST_FRAME_BYTES,
      handshakeTimeout: CONNECT_TIMEOUT_MS,
      rejectUnauthorized: !access.isInsecure,
      ...(access.ca === null ? {} : { ca: access.ca }),
      ...(certificate === null || key === null ? {} : { cert: certificate, key }),
      ...(access.serverName === null ? {} : { servername: access.serverName }),
    });
    current = opening;
    opening.on("upgrade", (response) => response.socket.setKeepAlive(true, KEEP_ALIVE_PROBE_MS));
    opening.on("unexpected-response", (_request, response: IncomingMessage) => {
      response.resume();
      opening.terminate();
      if (response.statusCode === 401 && !isRefused) start(true);
      else end({ error: refusalOf(response.statusCode ?? 0) });
    });
    opening.on("open", () => {
      socket = opening;
      if (isPaused) opening.pause();
      if (options.tty) opening.send(resizeFrame(options.size));
      for (const act of pending) act(opening);
      pending = [];
    });
    opening.on("message", (data: Buffer) => {
      if (isOver) return;
      const frame = readExecFrame(data);
      if (!frame) return;
      if ("ending" in frame) {
        end(frame.ending);
        opening.close();
      } else events.output(frame.channel, frame.data);
    });
    // A refusal is told by `unexpected-response`, after which the library also reports an error.
    opening.on("error", () => undefined);
    opening.on("close", () => {
      if (current === opening) end({ error: "The connection to the container was lost." });
    });
  }

  let current: WebSocket | null = null;
  function start(isRefused: boolean): void {
    current = null;
    connect(isRefused).catch(() => end({ error: "The cluster's API server could not be reached." }));
  }
  start(false);

  return {
    write: (data, onTaken) =>
      use((open) =>
        open.send(stdinFrame(data), (error) => {
          if (!error && !isOver) onTaken();
        }),
      ),
    endInput: () =>
      use((open) => {
        if (open.protocol === EXEC_PROTOCOLS[0]) open.send(stdinEndFrame());
        else if (!options.tty) {
          end({ error: "The cluster's Kubernetes is too old to end the input of a command; 1.30 can." });
          open.terminate();
        }
      }),
    resize: (size) => use((open) => open.send(resizeFrame(size))),
    pause() {
      isPaused = true;
      socket?.pause();
    },
    resume() {
      isPaused = false;
      socket?.resume();
    },
    cancel() {
      isOver = true;
      pending = [];
      current?.terminate();
    },
  };
}

function refusalOf(status: number): string {
  if (status === 403) {
    return "The operator has no right to run commands in pods. Upgrade its Helm chart, and leave rbac.exec on.";
  }
  if (status === 404) return "The pod is gone.";
  return `The cluster's API server has refused the command with status ${status}.`;
}
