import type { IncomingHttpHeaders } from "node:http";
import type { AnswerOf, BodyOf, CookiesOf, Operation, ParamsOf, QueryOf } from "@binnacle/contract";
import type { FastifyReply } from "fastify";
import type { Credential } from "../access/caller.ts";
import type { Change } from "./change.runner.ts";
import type { Guard, Input } from "./guard.ts";

type InputOf<O extends Operation> = Input<ParamsOf<O>, QueryOf<O>, BodyOf<O>>;

/** The argument of a handler: the validated request, the result of the guard, and the means to act. */
export interface Call<O extends Operation = Operation> extends InputOf<O> {
  readonly cookies: CookiesOf<O>;
  readonly headers: IncomingHttpHeaders;
  readonly sourceAddress: string;
  readonly requestId: string;
  /** The credential of the request; null only for public operations. */
  readonly credential: Credential | null;
  readonly reply: FastifyReply;
  /** Runs one transaction with its audit entries. Handlers change data in no other way. */
  readonly change: Change;
}

export interface Route {
  readonly operation: Operation;
  readonly guard: Guard<object>;
  readonly handle: (call: Call & object) => Promise<unknown>;
}

/** Combines an operation with its guard and its handler, and checks their types against each other. */
export function route<O extends Operation, S extends object>(
  operation: O,
  guard: Guard<S, InputOf<O>>,
  handle: (call: Call<O> & S) => Promise<AnswerOf<O>>,
): Route {
  return { operation, guard, handle } as unknown as Route;
}
