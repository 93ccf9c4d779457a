import type { IncomingHttpHeaders } from "node:http";
import type { AnswerOf, BodyOf, CookiesOf, Operation, ParamsOf, QueryOf } from "@binnacle/contract";
import type { FastifyReply } from "fastify";
import type { Credential } from "../access/caller.ts";
import type { Change } from "./change.runner.ts";
import type { Guard, Input } from "./guard.ts";

type InputOf<O extends Operation> = Input<ParamsOf<O>, QueryOf<O>, BodyOf<O>>;

/** What a handler gets: the checked request, what the guard saw, and the ways to act. */
export interface Call<O extends Operation = Operation> extends InputOf<O> {
  readonly cookies: CookiesOf<O>;
  readonly headers: IncomingHttpHeaders;
  readonly sourceAddress: string;
  readonly requestId: string;
  /** What the request presented; null only where anyone may call. */
  readonly credential: Credential | null;
  readonly reply: FastifyReply;
  /** One transaction with its audit entries; the only way for a handler to change anything. */
  readonly change: Change;
}

export interface Route {
  readonly operation: Operation;
  readonly guard: Guard<object>;
  readonly handle: (call: Call & object) => Promise<unknown>;
}

/** Ties an operation to who may call it and what it does; the three are type-checked against each other here. */
export function route<O extends Operation, S extends object>(
  operation: O,
  guard: Guard<S, InputOf<O>>,
  handle: (call: Call<O> & S) => Promise<AnswerOf<O>>,
): Route {
  return { operation, guard, handle } as unknown as Route;
}
