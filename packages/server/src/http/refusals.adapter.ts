import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { FastifyBaseLogger, FastifyInstance, HTTPMethods } from "fastify";
import { newId } from "../id.adapter.ts";
import { fastifyPath } from "./register.adapter.ts";
import type { Route } from "./route.ts";

/** Answers another method on a known path with a 405 and the allowed methods. */
export function registerMethodNotAllowed(app: FastifyInstance, base: string, routes: readonly Route[]): void {
  // Paths that differ only in the names of parameters are the same path.
  const byShape = Map.groupBy(routes, ({ operation }) => operation.path.replace(/\{\w+\}/g, "{}"));
  for (const [first, ...others] of byShape.values()) {
    if (!first) continue;
    const methods = [first, ...others].map(({ operation }) => operation.method);
    refuseOtherMethods(app, base + fastifyPath(first.operation.path), methods);
  }
}

export function refuseOtherMethods(app: FastifyInstance, url: string, methods: readonly string[]): void {
  const allowed = methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]));
  app.route({
    method: app.supportedMethods.filter((method) => !allowed.includes(method)) as HTTPMethods[],
    url,
    // The request is refused before its body is read.
    onRequest: async (_request, reply) =>
      reply.code(405).header("allow", allowed.join(", ")).send({ detail: "Method Not Allowed" }),
    handler: async () => undefined,
  });
}

/** Answers what the HTTP parser refuses, in the common form. Fastify never sees such a request. */
export function answerBrokenRequest(log: FastifyBaseLogger, error: Error & { code?: string }, socket: Socket): void {
  // An answer to a client that has not finished its TLS handshake would wait for it, and the connection with it.
  if (error.code === "ECONNRESET" || error.code === "ERR_TLS_HANDSHAKE_TIMEOUT" || !socket.writable) {
    socket.destroy();
    return;
  }
  const requestId = newId();
  const [status, detail] = refusalOf(error.code);
  // Only the code is logged, because the error contains the received bytes.
  log.info({ request_id: requestId, status, code: error.code, source: socket.remoteAddress }, "broken request");
  const body = JSON.stringify({ detail });
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      "content-type: application/json; charset=utf-8",
      `content-length: ${Buffer.byteLength(body)}`,
      `x-request-id: ${requestId}`,
      "x-content-type-options: nosniff",
      "connection: close",
      "",
      body,
    ].join("\r\n"),
  );
}

function refusalOf(code = ""): [status: number, detail: string] {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return [431, "The request's headers are too large."];
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return [408, "The request took too long to arrive."];
    default:
      return [400, "The request is not valid HTTP."];
  }
}
