import type { Operation, ValidationItem } from "@binnacle/contract";
import type { CallerFacts } from "../access/caller.store.ts";
import type { Caller, Credential } from "../access/caller.ts";
import type { List, Listed } from "../access/list.ts";
import type { PlaceStore } from "../access/place.store.ts";
import { type Location, locationOf, type Place } from "../access/place.ts";
import {
  authorize,
  boundElsewhere,
  type PlaceRequirement,
  type Requirement,
  refuseCredential,
  roleNeeded,
  type Standing,
} from "../access/role.ts";
import { forbidden, invalid, unauthenticated } from "../fault.ts";
import { type Page, pageOf } from "./pagination.ts";

/** A validated request. */
export interface Input<P = unknown, Q = unknown, B = unknown> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
}

/** The facts of a request, besides its input, that authorization depends on. */
export interface AccessRequest {
  readonly places: PlaceStore;
  readonly credential: Credential;
  readonly operation: Operation;
  readonly now: Date;
}

/** Authorizes the calls of a route, and passes on what it had to read for that. */
export interface Guard<S, I extends Input = Input> {
  readonly requirement: Requirement;
  /** Throws unless the caller is authorized. */
  readonly authorize: (request: AccessRequest, input: I) => Promise<S>;
  /** Returns the problems that a schema cannot express. */
  readonly problemsOf?: ((input: SoundInput<I>) => readonly ValidationItem[]) | undefined;
}

/** A request whose body may lack top-level fields, and items of lists if `isPartial`, because those are malformed. */
export type SoundInput<I extends Input = Input> = Omit<I, "body"> & {
  readonly body: Partial<I["body"]>;
  readonly isPartial: boolean;
};

export interface SignedIn {
  readonly caller: Caller;
}

/** A place that the caller was authorized on, with the caller's roles there. */
export type At<K extends string, P> = SignedIn & {
  readonly standing: Standing;
  /** Where a change takes place, unless it names another cluster or project. */
  readonly location: Location | null;
} & { readonly [key in K]: P };

export const anyone: Guard<object> = { requirement: { needs: "nothing" }, authorize: async () => ({}) };

export const signedIn: Guard<SignedIn> = callerGuard({ needs: "signed_in" });
export const superuser: Guard<SignedIn> = callerGuard({ needs: "superuser" });

/** Passes on the caller with further facts. */
export const callerWith = <S>(facts: CallerFacts<S>): Guard<S & SignedIn> => ({
  requirement: { needs: "signed_in" },
  authorize: async ({ places, credential, operation, now }) =>
    accepted(await places.callerWith(facts, credential, now), operation),
});

type ListInput<F> = Input<unknown, F & Page>;

/** Passes on a page of what the caller sees. */
export const listOf = <R, F extends object>(list: List<R, F>): Guard<Listed<R>, ListInput<F>> => ({
  requirement: { needs: "signed_in" },
  authorize: async ({ places, credential, operation, now }, { query }) =>
    accepted(await places.list(list, credential, query, pageOf(query), now), operation),
});

/** The same below a place. One that the caller does not see is a 404, not an empty list. */
export const listBelow = <S extends SignedIn, R, F extends object, I extends Input>(
  place: Guard<S, I>,
  list: List<R, F>,
  filterOf: (seen: S) => F,
): Guard<S & Listed<R>, I & Input<unknown, Page>> => ({
  requirement: place.requirement,
  async authorize(request, input) {
    const seen = await place.authorize(request, input);
    const query = { ...input.query, ...filterOf(seen) };
    return { ...seen, ...(await listOf(list).authorize(request, { ...input, query })) };
  },
});

/** Refuses even superusers for another user's record. Ids are compared in lower case. */
export const ownRecord = <I extends Input>(userIdOf: (input: I) => string): Guard<SignedIn, I> => ({
  requirement: { needs: "own_record" },
  async authorize(request, input) {
    const { caller } = await signedIn.authorize(request, input);
    if (caller.id !== userIdOf(input).toLowerCase()) throw forbidden(roleNeeded({ needs: "own_record" }));
    return { caller };
  },
});

type ById = Input<{ readonly id: string }>;

/**
 * Requires a role on a place. The caller, the place and the caller's roles there come from one statement. Without an address
 * the place is that of `/{id}`.
 */
export function at<K extends string, P extends object, R extends string>(
  place: Place<K, P, string, R>,
  role: NoInfer<R> | "superuser",
): Guard<At<K, P>, ById>;
export function at<K extends string, P extends object, A, R extends string, I extends Input>(
  place: Place<K, P, A, R>,
  role: NoInfer<R> | "superuser",
  addressOf: (input: I) => A,
): Guard<At<K, P>, I>;
export function at<K extends string, P extends object, A, R extends string>(
  place: Place<K, P, A, R>,
  role: R | "superuser",
  addressOf: (input: never) => unknown = ({ params }: ById) => params.id,
): Guard<At<K, P>, never> {
  const requirement: PlaceRequirement = role === "superuser" ? { needs: "superuser" } : place.requirement(role as R);
  return {
    requirement,
    async authorize({ places, credential, operation, now }, input) {
      const located = await places.find(place, credential, addressOf(input) as A, now);
      const { caller, place: row, standing } = authorize(requirement, operation, located, place.title);
      const refusal = place.refusal?.(row, operation);
      if (refusal) throw refusal;
      return { caller, standing, location: locationOf(place.owners, row), [place.key]: row } as At<K, P>;
    },
  };
}

function callerGuard(requirement: { readonly needs: "signed_in" | "superuser" }): Guard<SignedIn> {
  return {
    requirement,
    async authorize(request) {
      const { caller } = accepted({ caller: await knownCaller(request) }, request.operation);
      if (requirement.needs === "superuser") requireSuperuser(caller);
      return { caller };
    },
  };
}

/** Throws the 401 or the 403 of the credential. */
function accepted<S extends SignedIn>(read: S | null, operation: Operation): S {
  if (!read) throw unauthenticated();
  refuseCredential(operation, read.caller);
  return read;
}

export function requireSuperuser({ isSuperuser, boundary }: Caller): void {
  if (!isSuperuser) throw forbidden(roleNeeded({ needs: "superuser" }));
  if (boundary) throw boundElsewhere();
}

/** Throws only the 401: whether the caller may do this is decided after the form of the request has been checked. */
export async function knownCaller({ places, credential, now }: AccessRequest): Promise<Caller> {
  const caller = await places.caller(credential, now);
  if (!caller) throw unauthenticated();
  return caller;
}

/** Adds checks that a schema cannot express. Their 422 precedes any 404 and 403, as that of the schema does. */
export function wellFormed<S, I extends Input>(
  problemsOf: (input: SoundInput<I>) => readonly ValidationItem[],
  guard: Guard<S, NoInfer<I>>,
): Guard<S, I> {
  return {
    requirement: guard.requirement,
    problemsOf,
    async authorize(request, input) {
      const problems = problemsOf({ ...input, body: input.body as Partial<I["body"]>, isPartial: false });
      if (problems.length === 0) return guard.authorize(request, input);
      await knownCaller(request);
      throw invalid(problems);
    },
  };
}

/**
 * The same for a route whose handler reports such problems together with those of what is stored: here they are judged only
 * beside a malformed body.
 */
export const judgedByHandler = <S, I extends Input>(
  problemsOf: (input: SoundInput<I>) => readonly ValidationItem[],
  guard: Guard<S, I>,
): Guard<S, I> => ({ ...guard, problemsOf });
