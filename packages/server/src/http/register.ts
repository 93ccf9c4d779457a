import type { Operation } from "@binnacle/contract";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Caller, Credential } from "../access/caller.ts";
import type { SightStore } from "../access/sight.store.ts";
import type { Tokens } from "../accounts/tokens.ts";
import type { Clock } from "../clock.ts";
import type { Queries } from "../database/transaction.ts";
import { Fault, invalid, unauthenticated } from "../fault.ts";
import type { Vault } from "../vault/vault.ts";
import { credentialOf } from "./authentication.ts";
import { changeFor, fingerprintOf } from "./change.ts";
import { type Input, knownCaller } from "./guard.ts";
import type { IdempotencyKey } from "./idempotency.store.ts";
import type { Route } from "./route.ts";
import { compileCheck } from "./validation.ts";

export interface RoutePorts {
  readonly db: Queries;
  readonly sights: SightStore;
  readonly tokens: Tokens;
  readonly vault: Vault;
  readonly clock: Clock;
}

export const fastifyPath = (path: string) => path.replace(/\{(\w+)\}/g, ":$1");

export function registerRoutes(app: FastifyInstance, base: string, routes: readonly Route[], ports: RoutePorts): void {
  for (const route of routes) registerRoute(app, base, route, ports);
}

/**
 * The order of checks is the documented one: 401, then 422 of everything that is malformed, then 404 and 403, then what
 * the handler finds. The session is looked up together with the place the request is about, in one query; a malformed
 * request never gets that far, so it is asked about separately before its 422.
 */
function registerRoute(
  app: FastifyInstance,
  base: string,
  { operation, guard, handle }: Route,
  ports: RoutePorts,
): void {
  const check = compileCheck(operation);
  const [successStatus, successSchema] = operation.success;
  const needsCredential = operation.credentials !== "none";

  async function presented(request: FastifyRequest): Promise<void> {
    request.credential = await credentialOf(ports.tokens, request.headers.authorization);
    if (needsCredential && !request.credential) throw unauthenticated();
    refuseOtherMediaTypes(operation, request);
  }

  async function answer(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const input: Input = { params: request.params, query: request.query, body: request.body };
    const looking = {
      sights: ports.sights,
      credential: request.credential as Credential,
      operation,
      now: ports.clock(),
    };
    const items = check({ path: input.params, query: input.query, cookie: request.cookies, body: input.body });
    if (items.length > 0) {
      if (needsCredential) await knownCaller(looking);
      throw invalid(items);
    }
    const seen = await guard.look(looking, input);
    const caller = (seen as { caller?: Caller }).caller ?? null;
    const change = changeFor(ports, {
      actor: { id: caller?.id ?? null, email: caller?.email ?? null, via: caller?.via ?? "user" },
      sourceAddress: request.ip,
      requestId: request.id,
      idempotency: idempotencyOf(operation, request, caller),
    });
    const call = {
      ...input,
      ...seen,
      cookies: request.cookies,
      sourceAddress: request.ip,
      requestId: request.id,
      reply,
      change,
    };
    const body = await handle(call);
    reply.code(successStatus);
    return successSchema === null ? null : body;
  }

  app.route({
    method: operation.method,
    url: base + fastifyPath(operation.path),
    schema: { response: successSchema === null ? {} : { [successStatus]: successSchema } },
    onRequest: presented,
    handler: answer,
  });
}

function refuseOtherMediaTypes(operation: Operation, request: FastifyRequest): void {
  const bodyType = operation.bodyType ?? "application/json";
  const given = request.headers["content-type"];
  if (!operation.body || given === undefined) return;
  if (given.split(";")[0]?.trim().toLowerCase() !== bodyType) {
    throw new Fault("unsupported_media_type", `The request body must be ${bodyType}.`);
  }
}

const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,200}$/;

function idempotencyOf(
  { id, method, success }: Operation,
  request: FastifyRequest,
  caller: Caller | null,
): IdempotencyKey | null {
  const key = request.headers["idempotency-key"];
  if (key === undefined || caller === null || method !== "POST" || success[0] !== 201) return null;
  if (typeof key !== "string" || !IDEMPOTENCY_KEY.test(key)) {
    throw invalid([
      {
        loc: ["header", "Idempotency-Key"],
        msg: "Input should be 1 to 200 printable ASCII characters",
        type: "value_error",
      },
    ]);
  }
  return { userId: caller.id, key, fingerprint: fingerprintOf(id, request.params, request.body) };
}

declare module "fastify" {
  interface FastifyRequest {
    credential: Credential | null;
  }
}
