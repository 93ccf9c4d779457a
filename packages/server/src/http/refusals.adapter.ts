import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { FastifyBaseLogger, FastifyInstance, HTTPMethods } from "fastify";
import { newId } from "../id.adapter.ts";
import { fastifyPath } from "./register.adapter.ts";
import type { Route } from "./route.ts";

/** A known path under another method is a 405 that says which methods there are. */
export function registerMethodNotAllowed(app: FastifyInstance, base: string, routes: readonly Route[]): void {
  // Paths that differ only in their parameters' names are one path.
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
    // Before the body is read: nothing in it could make the method right.
    onRequest: async (_request, reply) =>
      reply.code(405).header("allow", allowed.join(", ")).send({ detail: "Method Not Allowed" }),
    handler: async () => undefined,
  });
}

/** What the HTTP parser itself refuses never becomes a request; it still gets an answer of the common form. */
export function answerBrokenRequest(log: FastifyBaseLogger, error: Error & { code?: string }, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const requestId = newId();
  const [status, detail] = refusalOf(error.code);
  // Only the code: the error itself holds the bytes that were received.
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
