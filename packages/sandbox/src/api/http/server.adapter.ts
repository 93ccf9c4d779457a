import { once } from "node:events";
import { createServer, type IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { ApiFault, badRequest } from "../fault.ts";
import { fromProtobuf, NotProtobuf } from "../schema/protobuf.ts";
import { runCommand } from "./command-socket.adapter.ts";
import type { Handler } from "./handler.adapter.ts";
import { type ApiRequest, type ApiResponse, refused } from "./message.ts";

const LARGEST_BODY = 4 * 1024 * 1024;

export interface ApiServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** Serves the API of a cluster on a port of this machine; 0 takes any that is free. */
export async function serve(
  handler: Handler,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<ApiServer> {
  const server = createServer((incoming, outgoing) => {
    answer(handler, incoming, outgoing).catch(() => outgoing.destroy());
  });
  server.on("upgrade", (incoming, socket: Duplex, head: Buffer) => {
    socket.on("error", () => socket.destroy());
    const response = isFromElsewhere(incoming) ? FROM_ELSEWHERE : handler(requestOf(incoming, ""));
    if (response.command && incoming.headers.upgrade?.toLowerCase() === "websocket") {
      runCommand(response.command, incoming, socket, head);
      return;
    }
    const outgoing = new ServerResponse(incoming);
    outgoing.shouldKeepAlive = false;
    outgoing.assignSocket(socket as Socket);
    outgoing.once("finish", () => socket.end());
    send(response, outgoing);
  });
  // Watches and logs have no end of their own.
  server.requestTimeout = 0;
  server.keepAliveTimeout = 65_000;
  server.listen(port, host);
  await once(server, "listening");
  const address = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${address.port}`,
    async stop() {
      server.close();
      server.closeAllConnections();
      if (server.listening) await once(server, "close");
    },
  };
}

const FROM_ELSEWHERE = refused(new ApiFault(403, "Forbidden", "the sandbox does not answer web pages"));

async function answer(handler: Handler, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  if (isFromElsewhere(incoming)) {
    send(FROM_ELSEWHERE, outgoing);
    return;
  }
  const bytes = await bodyOf(incoming);
  if (bytes === null) {
    outgoing.writeHead(413, { "content-type": "text/plain", connection: "close" }).end("the request is too large\n");
    return;
  }
  const body = textOf(bytes, incoming.headers["content-type"]);
  send(body instanceof NotProtobuf ? refused(badRequest(body.message)) : handler(requestOf(incoming, body)), outgoing);
}

const THIS_MACHINE = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/;

/**
 * A web page that somebody on this machine looks at could reach a sandbox that asks for no token. Programs name no
 * origin, and call a port of this machine by this machine's names.
 */
function isFromElsewhere({ headers, socket }: IncomingMessage): boolean {
  const isLocal = socket.localAddress === "127.0.0.1" || socket.localAddress === "::1";
  return headers.origin !== undefined || (isLocal && !THIS_MACHINE.test(headers.host ?? ""));
}

/** Some clients write in Protobuf whatever they can; from here on it is JSON. */
function textOf(bytes: Buffer, type = ""): string | NotProtobuf {
  if (!type.includes("protobuf") || bytes.length === 0) return bytes.toString("utf8");
  try {
    return JSON.stringify(fromProtobuf(bytes));
  } catch (error) {
    if (error instanceof NotProtobuf) return error;
    throw error;
  }
}

async function bodyOf(incoming: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > LARGEST_BODY) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function requestOf({ method = "GET", url = "/", headers }: IncomingMessage, body: string): ApiRequest {
  const [path = "/", query = ""] = url.split("?", 2);
  const plain = Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(",") : value]);
  return { method, path, query: new URLSearchParams(query), headers: Object.fromEntries(plain), body };
}

function send({ status, headers, body = "", stream, command }: ApiResponse, outgoing: ServerResponse): void {
  if (command) {
    send(refused(badRequest("Upgrade request required")), outgoing);
    return;
  }
  if (!stream) {
    outgoing.writeHead(status, { ...headers, "content-length": Buffer.byteLength(body) }).end(body);
    return;
  }
  outgoing.writeHead(status, headers);
  outgoing.flushHeaders();
  const stop = stream({ write: (text) => outgoing.write(text), end: () => outgoing.end() });
  outgoing.on("close", stop);
}
