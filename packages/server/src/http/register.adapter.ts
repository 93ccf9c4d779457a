import {
  isBounded,
  isCreation,
  isPaged,
  isReading,
  type Operation,
  takesTurns,
  type ValidationItem,
} from "@binnacle/contract";
import buildSerializer, { type Schema } from "fast-json-stringify";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { TSchema } from "typebox";
import { OLDEST_ORG } from "../access/caller.store.ts";
import type { Caller, Credential } from "../access/caller.ts";
import type { PlaceStore } from "../access/place.store.ts";
import type { Location } from "../access/place.ts";
import { credentialOf } from "../accounts/bearer.ts";
import type { Tokens } from "../accounts/tokens.adapter.ts";
import type { Bus } from "../bus/bus.ts";
import type { Clock } from "../clock.ts";
import type { Queries } from "../database/transaction.ts";
import type { DispatchWatch } from "../dispatch/dispatch-watch.ts";
import { Fault, invalid, unauthenticated } from "../fault.ts";
import { memoized } from "../memoized.ts";
import type { Vault } from "../vault/vault.ts";
import { answerSchema } from "./answer-schema.ts";
import { otherMediaType, UnreadableBody } from "./body.ts";
import { type Change, changeFor, fingerprintOf } from "./change.runner.ts";
import { type AccessRequest, type Input, knownCaller } from "./guard.ts";
import type { IdempotencyKey } from "./idempotency.store.ts";
import { type Asker, type ListTurns, listTurns, type Read } from "./list-turns.ts";
import { pageAnswer } from "./page-answer.adapter.ts";
import type { Envelope, Page } from "./pagination.ts";
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
  readonly dispatchWatch: DispatchWatch;
}

/** Of a body that is read before anybody is known to have sent it. Operations without authentication accept no larger ones. */
const ANONYMOUS_BODY_LIMIT_BYTES = 16 * 1024;

export const fastifyPath = (path: string) => path.replace(/\{(\w+)\}/g, ":$1");

export function registerRoutes(app: FastifyInstance, base: string, routes: readonly Route[], ports: RoutePorts): void {
  app.decorateRequest("credential", null);
  app.decorateRequest("routePattern", null);
  app.decorateRequest("userId", null);
  const { pages, whole } = listTurns();
  const askerOf = askers(ports);
  for (const route of routes) {
    const { operation } = route;
    registerRoute(app, base, route, ports, isPaged(operation) || operation.readsMuch ? pages : whole, askerOf);
  }
  const upgraded = routes.filter(({ operation }) => operation.upgrade !== undefined);
  routeWebSockets(
    app,
    upgraded.map(({ operation }) => new RegExp(`^${base}${operation.path.replace(/\{\w+\}/g, "[^/]+")}/?$`)),
  );
}

/**
 * The order of checks is documented: 401, then 422 with all problems of the form, then 404 and 403, then those of the
 * handler. The session is read together with the place of the request, in one query. For a request with a large body it is
 * read before the body, so that a signed-out client cannot keep the server busy. For any other that is malformed it is read
 * before the 422.
 */
function registerRoute(
  app: FastifyInstance,
  base: string,
  { operation, guard, handle }: Route,
  ports: RoutePorts,
  lists: ListTurns,
  askerOf: (credential: Credential) => Promise<Asker>,
): void {
  const check: Check = (request) => checkOf(operation)(request);
  const [successStatus, successSchema] = operation.success;
  const successes = [operation.success, operation.otherSuccess ?? []].flatMap(([status, schema]) =>
    status && schema ? [[status, schema] as const] : [],
  );
  const needsCredential = operation.credentials !== "none";
  const url = base + fastifyPath(operation.path);

  /** Checks that do not need the body. */
  async function admit(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    request.routePattern = url;
    // Answers depend on the caller and the moment, and some contain secrets.
    reply.header("cache-control", "no-store");
    request.credential = await credentialOf(ports.tokens, authorizationOf(request, operation), request.ip);
    request.userId = userOf(request.credential);
    const credential = needsCredential ? request.credential : null;
    if (needsCredential && !credential) throw unauthenticated();
    const refusal = otherMediaType(operation, request.headers);
    if (credential && (refusal || hasLargeBody(request))) await knownCaller(accessRequest(credential));
    if (refusal) throw refusal;
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
      if (needsCredential && !hasLargeBody(request)) await knownCaller(access);
      throw invalid(withFurther(items, furtherProblems(input)));
    }
    const seen = await guard.authorize(access, input);
    request.userId = (seen as { caller?: Caller }).caller?.id ?? request.userId;
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

  async function answerPage(request: FastifyRequest, reply: FastifyReply): Promise<Buffer> {
    const page = (await answer(request, reply)) as Envelope<unknown>;
    reply.type("application/json; charset=utf-8");
    return pageAnswer(page, request.query as Page, shapeOf(successSchema as TSchema));
  }

  /** A list holds its turn until its answer is sent, so that a user who does not read keeps few answers in memory. */
  async function answerList(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const asker = await askerOf(request.credential as Credential);
    const reading = () => (isBounded(operation) ? answerPage : answer)(request, reply);
    return new Promise((answered, failed) => {
      const closed = new Promise<void>((sent) => reply.raw.once("close", sent));
      const turn = async (read: Read) => {
        if (reply.raw.destroyed) return answered(reply);
        await read(reading).then(answered, failed);
        await closed;
      };
      lists.take(asker, turn).catch(failed);
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
    const { ip: sourceAddress, id: requestId, span } = request;
    const { caller = null, location = null } = seen as { caller?: Caller; location?: Location | null };
    return changeFor(ports, {
      actor: { id: caller?.id ?? null, email: caller?.email ?? null, via: caller?.via ?? "user" },
      sourceAddress,
      requestId,
      place: location,
      idempotency: claimOf(operation, request, caller),
      isLasting: operation.upgrade !== undefined,
      isDryRun: isDryRun(request),
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
    handler: needsCredential && takesTurns(operation) ? answerList : answer,
  });
}

/** A user who joins another organization is counted there a little later. It decides who waits, and never who sees. */
const ASKER_KEPT_MS = 60_000;
const MOST_ASKERS = 10_000;

/** Reads who asks for a list, where that is not known from a list shortly before. */
function askers({ places, clock }: RoutePorts): (credential: Credential) => Promise<Asker> {
  const kept = new Map<string, Asker & { readonly untilMs: number }>();
  return async (credential) => {
    const now = clock();
    const known = credential.kind === "session" ? kept.get(credential.userId) : undefined;
    if (known && known.untilMs > now.getTime()) return known;
    const seen = await places.callerWith(OLDEST_ORG, credential, now);
    if (!seen) throw unauthenticated();
    const asker = { userId: seen.caller.id, orgId: seen.oldestOrgId, untilMs: now.getTime() + ASKER_KEPT_MS };
    const oldest = kept.keys().next();
    if (kept.size >= MOST_ASKERS && !oldest.done) kept.delete(oldest.value);
    kept.set(asker.userId, asker);
    return asker;
  };
}

const checkOf = memoized(compileCheck);
const serializerOf = memoized((schema: TSchema) => buildSerializer(answerSchema(schema) as Schema));

const shapeOf = memoized((schema: TSchema) => {
  const { properties } = schema as TSchema & { properties: { data: { items: TSchema } } };
  return { fields: Object.keys(properties), textOf: serializerOf(properties.data.items) };
});

const authorizationOf = ({ headers, raw }: FastifyRequest, { upgrade }: Operation) =>
  headers.authorization ?? (upgrade === undefined ? undefined : offeredBearer(raw));

/** A session names its user before it is looked up, so that the log of a refused request says who sent it. */
const userOf = (credential: Credential | null) => (credential?.kind === "session" ? credential.userId : null);

/** One of unknown length counts as large. The body of a GET is never read. */
const hasLargeBody = ({ method, headers }: FastifyRequest) =>
  method !== "GET" &&
  method !== "HEAD" &&
  (headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > ANONYMOUS_BODY_LIMIT_BYTES);

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
    /** For the log. Null where nobody is known to have sent it. */
    userId: string | null;
  }
}

const isDryRun = ({ query }: FastifyRequest): boolean => (query as { readonly dry_run?: boolean }).dry_run === true;

/** The key under which a creation is carried out once. One that a dry run claimed would stand for an answer that never happened. */
function claimOf(operation: Operation, request: FastifyRequest, caller: Caller | null): IdempotencyKey | null {
  const { params, query, body, headers } = request;
  const key = caller && isCreation(operation) && !isDryRun(request) ? idempotencyKeyOf(headers) : null;
  return caller && key
    ? { userId: caller.id, key, fingerprint: fingerprintOf(operation.id, params, query, body) }
    : null;
}
