import { isCreation, isList, isPaged, isReading, type ValidationItem } from "@binnacle/contract";
import buildSerializer, { type Schema } from "fast-json-stringify";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { TSchema } from "typebox";
import type { Caller, Credential } from "../access/caller.ts";
import type { PlaceStore } from "../access/place.store.ts";
import type { Tokens } from "../accounts/tokens.adapter.ts";
import type { Place } from "../audit/audit.ts";
import type { Bus } from "../bus/bus.ts";
import type { Clock } from "../clock.ts";
import type { Queries } from "../database/transaction.ts";
import { type FairQueue, fairQueue, QueueFull } from "../fair-queue.ts";
import { Fault, invalid, unauthenticated } from "../fault.ts";
import type { Vault } from "../vault/vault.ts";
import { answerSchema } from "./answer-schema.ts";
import { refuseOtherMediaTypes, UnreadableBody } from "./body.ts";
import { type Change, changeFor, fingerprintOf } from "./change.runner.ts";
import {
  type AccessRequest,
  credentialOf,
  type InApp,
  type InProject,
  type Input,
  knownCaller,
  type OnCluster,
  type OnInstance,
} from "./guard.ts";
import { answerText, type Envelope, type Page } from "./pagination.ts";
import type { Route } from "./route.ts";
import { soundPart, withFurther } from "./sound-part.ts";
import { type Check, compileCheck } from "./validation.ts";
import { isOfRule } from "./validation-item.ts";
import { offeredBearer, routeWebSockets } from "./websocket.adapter.ts";

export interface RoutePorts {
  readonly db: Queries;
  readonly places: PlaceStore;
  readonly tokens: Tokens;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly bus: Bus;
}

/** Operations without authentication accept small bodies only. */
const ANONYMOUS_BODY_LIMIT_BYTES = 16 * 1024;

/** A user's lists under way, until their answers are sent; further ones wait, and those beyond are a 429. */
const LISTS_AT_ONCE = 4;
const LISTS_WAITING = 100;
const tooManyLists = () =>
  new Fault(
    "rate_limited",
    `You have ${LISTS_AT_ONCE} lists under way and ${LISTS_WAITING} waiting. Read their answers before you ask for more.`,
    { retryAfterSeconds: 1 },
  );

export const fastifyPath = (path: string) => path.replace(/\{(\w+)\}/g, ":$1");

export function registerRoutes(app: FastifyInstance, base: string, routes: readonly Route[], ports: RoutePorts): void {
  app.decorateRequest("credential", null);
  app.decorateRequest("routePattern", null);
  const lists = fairQueue({
    atOnce: Number.POSITIVE_INFINITY,
    atOncePerCaller: LISTS_AT_ONCE,
    waitingPerCaller: LISTS_WAITING,
  });
  for (const route of routes) registerRoute(app, base, route, ports, lists);
  const upgraded = routes.filter(({ operation }) => operation.upgrade !== undefined);
  routeWebSockets(
    app,
    upgraded.map(({ operation }) => new RegExp(`^${base}${operation.path.replace(/\{\w+\}/g, "[^/]+")}/?$`)),
  );
}

/**
 * The order of checks is documented: 401, then 422 with all problems of the form, then 404 and 403, then those of the
 * handler. The session is read together with the place of the request, in one query. For a request with a body it is
 * read before the body, so that a signed-out client cannot keep the server busy. For a malformed request without a body
 * it is read before the 422.
 */
function registerRoute(
  app: FastifyInstance,
  base: string,
  { operation, guard, handle }: Route,
  ports: RoutePorts,
  lists: FairQueue,
): void {
  const check: Check = (request) => checkOf(operation)(request);
  const [successStatus, successSchema] = operation.success;
  const successes = [operation.success, operation.otherSuccess ?? []].flatMap(([status, schema]) =>
    status && schema ? [[status, schema] as const] : [],
  );
  const needsCredential = operation.credentials !== "none";
  const url = base + fastifyPath(operation.path);
  const authorizationOf = ({ headers, raw }: FastifyRequest) =>
    headers.authorization ?? (operation.upgrade === undefined ? undefined : offeredBearer(raw));

  /** Checks that do not need the body. */
  async function admit(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    request.routePattern = url;
    // Answers depend on the caller and the moment, and some contain secrets.
    reply.header("cache-control", "no-store");
    request.credential = await credentialOf(ports.tokens, authorizationOf(request), request.ip);
    if (needsCredential) {
      if (!request.credential) throw unauthenticated();
      if (hasBody(request)) await knownCaller(accessRequest(request.credential));
    }
    refuseOtherMediaTypes(operation, request.headers);
  }

  const accessRequest = (credential: Credential): AccessRequest => {
    return { places: ports.places, credential, operation, now: ports.clock() };
  };

  async function answer(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const { params, query, headers, ip: sourceAddress, id: requestId } = request;
    const cookies = operation.cookies ? app.parseCookie(headers.cookie ?? "") : {};
    const body = request.body === undefined && operation.bodyIsOptional ? {} : request.body;
    const input: Input = { params, query, body };
    const credential = request.credential as Credential;
    const access = accessRequest(credential);
    operation.rename?.(body);
    const items = check({ path: params, query, cookie: cookies, body });
    if (items.length > 0) {
      if (needsCredential && !hasBody(request)) await knownCaller(access);
      throw invalid(withFurther(items, furtherProblems(input)));
    }
    const seen = await guard.authorize(access, input);
    const change = isReading(operation) ? refuseChange : changeOf(request, seen);
    const given = await handle({
      ...seen,
      params,
      query,
      body,
      cookies,
      headers,
      sourceAddress,
      requestId,
      credential,
      reply,
      change,
    });
    if (reply.statusCode !== operation.otherSuccess?.[0] && !reply.sent) reply.code(successStatus);
    return successSchema === null ? null : given;
  }

  async function answerPage(request: FastifyRequest, reply: FastifyReply): Promise<string> {
    const page = (await answer(request, reply)) as Envelope<unknown>;
    reply.type("application/json; charset=utf-8");
    return answerText(page, request.query as Page, serializerOf(successSchema as TSchema));
  }

  /** A list holds its turn until its answer is sent, so that a user who does not read keeps few answers in memory. */
  async function answerList(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const credential = request.credential as Credential;
    const userId =
      credential.kind === "session" ? credential.userId : (await knownCaller(accessRequest(credential))).id;
    return new Promise((answered, failed) => {
      const closed = new Promise<void>((sent) => reply.raw.once("close", sent));
      const turn = async () => {
        if (reply.raw.destroyed) return answered(reply);
        await (isPaged(operation) ? answerPage : answer)(request, reply).then(answered, failed);
        await closed;
      };
      lists(userId, turn).catch((error) => failed(error instanceof QueueFull ? tooManyLists() : error));
    });
  }

  /** Returns the problems that a schema cannot express, in the part of a malformed request that can be read. */
  function furtherProblems({ params, query, body }: Input): readonly ValidationItem[] {
    if (!guard.problemsOf || typeof body !== "object" || body === null || body instanceof UnreadableBody) return [];
    const ofTypes = (part: unknown) =>
      check({ path: params, query, cookie: {}, body: part }).filter(
        (item) => item.loc[0] === "body" && !isOfRule(item),
      );
    const sound = soundPart(body, ofTypes);
    if (!sound) return [];
    const problems = guard.problemsOf({ params, query, body: sound.body as object, isPartial: sound.isPartial });
    return problems.map((item) => ({ ...item, loc: sound.original(item.loc) }));
  }

  function changeOf(request: FastifyRequest, seen: object) {
    const { params, query, body, ip: sourceAddress, id: requestId, headers, span } = request;
    const { caller = null, ...places } = seen as { caller?: Caller } & Places;
    const key = caller && isCreation(operation) ? idempotencyKeyOf(headers) : null;
    return changeFor(ports, {
      actor: { id: caller?.id ?? null, email: caller?.email ?? null, via: caller?.via ?? "user" },
      sourceAddress,
      requestId,
      place: placeOf(places),
      idempotency:
        caller && key
          ? { userId: caller.id, key, fingerprint: fingerprintOf(operation.id, params, query, body) }
          : null,
      isLasting: operation.upgrade !== undefined,
      span,
    });
  }

  app.route({
    method: operation.method,
    url,
    schema: { response: Object.fromEntries(successes) },
    serializerCompiler:
      ({ schema }: { schema: unknown }) =>
      (value: unknown) =>
        serializerOf(schema as TSchema)(value),
    ...(needsCredential ? {} : { bodyLimit: ANONYMOUS_BODY_LIMIT_BYTES }),
    onRequest: admit,
    handler: needsCredential && isList(operation) ? answerList : answer,
  });
}

/** Compiles when it is first needed, which keeps the start short, and once for all that share the schema. */
function compiledWhenUsed<Source extends object, Compiled>(
  compile: (source: Source) => Compiled,
): (source: Source) => Compiled {
  const known = new WeakMap<Source, Compiled>();
  return (source) => {
    const earlier = known.get(source);
    if (earlier) return earlier;
    const compiled = compile(source);
    known.set(source, compiled);
    return compiled;
  };
}

const checkOf = compiledWhenUsed(compileCheck);
const serializerOf = compiledWhenUsed((schema: TSchema) => buildSerializer(answerSchema(schema) as Schema));

/** Returns whether the body is read. That of a GET never is. */
const hasBody = ({ method, headers }: FastifyRequest) =>
  method !== "GET" &&
  method !== "HEAD" &&
  (headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0);

type Places = Partial<
  Pick<OnCluster, "cluster"> & Pick<InProject, "project"> & Pick<InApp, "app"> & Pick<OnInstance, "instance">
>;

/** The place of a change is the one that the guard found, unless the change names another. */
function placeOf({ cluster, project, app, instance }: Places): Place | null {
  const within = app ?? instance;
  if (within) return { clusterId: within.cluster_id, projectId: within.project_id };
  if (project) return { clusterId: project.cluster_id, projectId: project.id };
  return cluster ? { clusterId: cluster.id } : null;
}

const refuseChange: Change = () => Promise.reject(new Error("A GET changes nothing."));

const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,200}$/;

function idempotencyKeyOf(headers: FastifyRequest["headers"]): string | null {
  const key = headers["idempotency-key"];
  if (key === undefined) return null;
  if (typeof key !== "string" || !IDEMPOTENCY_KEY.test(key)) {
    throw new Fault("bad_request", "The Idempotency-Key must be 1 to 200 printable ASCII characters without spaces.");
  }
  return key;
}

declare module "fastify" {
  interface FastifyRequest {
    credential: Credential | null;
    /** The route for the log and the metrics. Fastify builds its route options anew at each access. */
    routePattern: string | null;
  }
}
