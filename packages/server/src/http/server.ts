import cookie from "@fastify/cookie";
import cors from "@fastify/cors";
import helmet from "@fastify/helmet";
import Fastify, { type FastifyBaseLogger, type FastifyInstance } from "fastify";
import { newId } from "../id.ts";
import { registerBodyParsers } from "./body.ts";
import { sendFailure } from "./failure.ts";
import { registerMethodNotAllowed } from "./method-not-allowed.ts";
import type { Metrics } from "./metrics.ts";
import { type RoutePorts, registerRoutes } from "./register.ts";
import type { Route } from "./route.ts";

export const API_BASE = "/api/v1";

export interface ServerOptions {
  readonly log: FastifyBaseLogger;
  readonly metrics: Metrics;
  readonly trustedProxies: readonly string[];
  readonly corsOrigins: readonly string[];
  readonly bodyLimitBytes: number;
  readonly requestTimeoutMs: number;
}

const LARGEST_HEADERS_BYTES = 16 * 1024;
const LONGEST_PARAMETER = 300;

/** The HTTP edge: everything that holds for each request, whatever it is about. */
export async function createHttpServer(options: ServerOptions): Promise<FastifyInstance> {
  const app = Fastify({
    loggerInstance: options.log,
    disableRequestLogging: true,
    genReqId: newId,
    requestIdHeader: false,
    trustProxy: options.trustedProxies.length > 0 ? [...options.trustedProxies] : false,
    bodyLimit: options.bodyLimitBytes,
    requestTimeout: options.requestTimeoutMs,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: LONGEST_PARAMETER },
    http: { maxHeaderSize: LARGEST_HEADERS_BYTES },
    return503OnClosing: true,
    forceCloseConnections: "idle",
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: (error, request, reply) => sendFailure(error, request, reply),
  });

  app.addHook("onRequest", async (request, reply) => {
    reply.header("x-request-id", request.id);
  });
  app.addHook("onResponse", async (request, reply) => {
    options.metrics.observe(request.method, request.routeOptions.url ?? "(none)", reply.statusCode, reply.elapsedTime);
    request.log.info(
      {
        method: request.method,
        // The pattern and not the address: a query may hold what a log must not.
        route: request.routeOptions.url ?? null,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        source: request.ip,
      },
      "request",
    );
  });

  await app.register(helmet, { contentSecurityPolicy: { directives: { upgradeInsecureRequests: null } } });
  await app.register(cookie);
  if (options.corsOrigins.length > 0) {
    await app.register(cors, {
      origin: [...options.corsOrigins],
      credentials: true,
      exposedHeaders: ["X-Request-Id", "ETag"],
    });
  }
  registerBodyParsers(app);
  app.setErrorHandler<Error>(sendFailure);
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ detail: "Not Found" }));
  return app;
}

export function registerApi(app: FastifyInstance, routes: readonly Route[], ports: RoutePorts): void {
  registerRoutes(app, API_BASE, routes, ports);
  registerMethodNotAllowed(app, API_BASE, routes);
}

/** What the HTTP parser itself refuses never becomes a request; it still gets an answer of the common form. */
function answerBrokenRequest(
  this: FastifyInstance,
  error: Error & { code?: string },
  socket: import("node:net").Socket,
) {
  if (!socket.writable) return;
  const [status, detail] =
    error.code === "HPE_HEADER_OVERFLOW"
      ? ["431 Request Header Fields Too Large", "The request's headers are too large."]
      : error.code === "ERR_HTTP_REQUEST_TIMEOUT"
        ? ["408 Request Timeout", "The request took too long to arrive."]
        : ["400 Bad Request", "The request is not valid HTTP."];
  const body = JSON.stringify({ detail });
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\nx-request-id: ${newId()}\r\nconnection: close\r\n\r\n${body}`,
  );
}
