import type { Server } from "node:http";
import type { Tracer } from "@binnacle/tracing";
import cookie from "@fastify/cookie";
import cors from "@fastify/cors";
import Fastify, {
  type FastifyBaseLogger,
  type FastifyHttpOptions,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from "fastify";
import type { Logger } from "pino";
import { Fault } from "../fault.ts";
import { newId } from "../id.adapter.ts";
import { hostProblem } from "./addressed-host.ts";
import { registerBodyParsers } from "./body.ts";
import { sendFailure } from "./failure.ts";
import { proxyWarning } from "./proxy-warning.ts";
import { answerBrokenRequest, registerMethodNotAllowed } from "./refusals.adapter.ts";
import { type RoutePorts, registerRoutes } from "./register.adapter.ts";
import { answerRecorder, type Metrics } from "./request-metrics.adapter.ts";
import type { Route } from "./route.ts";
import { SECURITY_HEADERS } from "./security-headers.ts";
import { registerStreams } from "./sse.adapter.ts";
import { type ServedCertificate, secureOptions } from "./tls.adapter.ts";
import { traceRequests } from "./trace-requests.adapter.ts";

export const API_BASE = "/api/v1";

export interface ServerOptions {
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly trustedProxies: readonly string[];
  readonly corsOrigins: readonly string[];
  /** Decides by the Host header whether a request is meant for this server. */
  readonly acceptsHost: (header: string) => boolean;
  readonly bodyLimitBytes: number;
  readonly requestTimeoutMs: number;
  /** False refuses all requests but probes. Without it the server has nothing to wait for. */
  readonly isStarted?: () => boolean;
  /** True from the moment at which load balancers are told to send nobody here any more. */
  readonly isStopping?: () => boolean;
  /** True while the built-in database does not run because its disk is full. */
  readonly isOutOfRoom?: () => boolean;
  /** Null, or missing, where tracing is off. */
  readonly tracer?: Tracer | null;
  /** Null, or missing, where the server speaks plain HTTP. */
  readonly certificate?: ServedCertificate | null;
}

const LARGEST_HEADERS_BYTES = 16 * 1024;
const SLOWEST_CHECK_MS = 1000;

function nodeOptions({ requestTimeoutMs, certificate }: ServerOptions): FastifyHttpOptions<Server> {
  const http = {
    maxHeaderSize: LARGEST_HEADERS_BYTES,
    // Of two different times Node takes the shorter one for the headers alone, and bodies get the longer one.
    headersTimeout: requestTimeoutMs,
    requestTimeout: requestTimeoutMs,
    connectionsCheckingInterval: Math.min(requestTimeoutMs, SLOWEST_CHECK_MS),
    // Node's own answer to a missing host has neither a body nor a request id.
    requireHostHeader: false,
  };
  if (!certificate) return { http };
  const https = { ...http, ...secureOptions(certificate.current()), handshakeTimeout: requestTimeoutMs };
  // The routes need not know which of the two servers carries them.
  return { https } as unknown as FastifyHttpOptions<Server>;
}

/** The HTTP edge: everything that holds for each request, whatever it is about. */
export async function createHttpServer(options: ServerOptions): Promise<FastifyInstance> {
  const { log, metrics, trustedProxies, corsOrigins, acceptsHost, requestTimeoutMs, tracer = null } = options;
  const recordAnswer = answerRecorder(metrics, log);
  const app = Fastify<Server>({
    loggerInstance: log as FastifyBaseLogger,
    // Fastify's own lines show the address with its query; ours are written by `recordAnswer`.
    logController: new LogController({ disableRequestLogging: true }),
    // A logger made for each request costs more than the line it writes: lines name the request themselves.
    childLoggerFactory: (logger) => logger,
    genReqId: newId,
    requestIdHeader: false,
    trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
    bodyLimit: options.bodyLimitBytes,
    requestTimeout: requestTimeoutMs,
    // A parameter is never refused for its length alone: the headers' limit bounds it, and its schema says what is wrong.
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: LARGEST_HEADERS_BYTES },
    ...nodeOptions(options),
    return503OnClosing: false,
    forceCloseConnections: "idle",
    clientErrorHandler: (error, socket) => answerBrokenRequest(log, error, socket),
    frameworkErrors(error, request, reply) {
      // No hook runs for a URL that cannot be decoded.
      sendFailure(error, request, reply.headers(SECURITY_HEADERS).header("x-request-id", request.id));
      recordAnswer(request, reply);
    },
  });
  // Node would answer an expectation that it does not know with a bare 417; like most servers, we pass it over.
  app.server.on("checkExpectation", app.routing);
  options.certificate?.follow(app);

  let isDraining = false;
  app.addHook("preClose", async () => {
    isDraining = true;
  });
  registerStreams(app);
  if (tracer) traceRequests(app, tracer);
  const noteProxy = proxyWarning(log, trustedProxies);
  app.addHook("onRequest", (request, reply, next) => {
    noteProxy(request);
    reply.headers(SECURITY_HEADERS).header("x-request-id", request.id);
    // Load balancers keep open connections open, so their clients would come back here until the last moment.
    if (isDraining || options.isStopping?.()) reply.header("connection", "close");
    next();
  });
  app.addHook("onResponse", (request, reply, next) => {
    recordAnswer(request, reply);
    // Kept alive, the connection would hold the stop until its client thinks of leaving.
    if (isDraining) request.raw.socket.end();
    next();
  });

  // Cookies are read by the operations that declare some; see `register.ts`.
  await app.register(cookie, { hook: false });
  if (corsOrigins.length > 0) {
    await app.register(cors, {
      // Anyone else gets no CORS at all: a preflight of theirs is an OPTIONS request like any other.
      origin: async (origin: string | undefined) => origin !== undefined && corsOrigins.includes(origin) && origin,
      methods: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"],
      credentials: true,
      exposedHeaders: ["X-Request-Id", "ETag", "Retry-After"],
      strictPreflight: false,
    });
  }

  app.addHook("onRequest", (request, reply, next) => {
    const { isProbe } = request.routeOptions.config;
    if (isDraining && !isProbe) return next(stopping());
    if (options.isStarted?.() === false && !isProbe) return next(starting());
    const misaddressed = hostProblem(request, acceptsHost);
    if (misaddressed) return next(misaddressed);
    // Before the body is read: what was sent to nowhere is not worth parsing.
    if (request.is404) return void sendNotFound(request, reply);
    next();
  });
  registerBodyParsers(app);
  app.setErrorHandler<Error>((error, request, reply) =>
    sendFailure(error, request, reply, { isOutOfRoom: options.isOutOfRoom?.() }),
  );
  app.setNotFoundHandler(sendNotFound);
  return app;
}

const starting = () =>
  new Fault("unavailable", "The server is starting. Try again in a moment.", { retryAfterSeconds: 1 });

const stopping = () =>
  new Fault("unavailable", "The server is stopping. Try again in a moment.", { retryAfterSeconds: 1 });

function sendNotFound(_request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return reply.code(404).send({ detail: "Not Found" });
}

export function registerApi(app: FastifyInstance, routes: readonly Route[], ports: RoutePorts): void {
  registerRoutes(app, API_BASE, routes, ports);
  registerMethodNotAllowed(app, API_BASE, routes);
}
