import type { Operation, Scope } from "@binnacle/contract";
import type { Caller, Credential } from "../access/caller.ts";
import { judge, type Requirement, type Standing } from "../access/role.ts";
import type { OrgSight, SightStore } from "../access/sight.store.ts";
import { forbidden, invalidValue, notFound, unauthenticated } from "../fault.ts";
import type { Org } from "../orgs/org.ts";

/** A request whose form has been checked. */
export interface Input<P = unknown, Q = unknown, B = unknown> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
}

export interface Looking {
  readonly sights: SightStore;
  readonly credential: Credential;
  readonly operation: Operation;
  readonly now: Date;
}

/** Stands beside each route: says who may pass, and brings what it had to read to know. */
export interface Guard<S, I extends Input = Input> {
  readonly requirement: Requirement;
  /** Throws unless the caller may pass. */
  readonly look: (looking: Looking, input: I) => Promise<S>;
}

export interface SignedIn {
  readonly caller: Caller;
}
export interface InOrg extends SignedIn {
  readonly org: Org;
}

const NO_PLACE: Omit<Standing, "isSuperuser"> = { orgRole: null, bindingRole: null };

export const anyone: Guard<object> = { requirement: { needs: "nothing" }, look: async () => ({}) };

export const signedIn: Guard<SignedIn> = callerGuard({ needs: "signed_in" });
export const superuser: Guard<SignedIn> = callerGuard({ needs: "superuser" });

type OrgIdOf<I extends Input> = (input: I) => string;

/** Under `/orgs/{id}` a stranger is told 403; where the organization is named otherwise it is 404. */
export const orgMember = <I extends Input>(orgIdOf: OrgIdOf<I>) =>
  orgGuard(orgIdOf, { needs: "org_role", role: "member", hidden: false });
export const orgAdmin = <I extends Input>(orgIdOf: OrgIdOf<I>) =>
  orgGuard(orgIdOf, { needs: "org_role", role: "admin", hidden: false });
export const hiddenOrgMember = <I extends Input>(orgIdOf: OrgIdOf<I>) =>
  orgGuard(orgIdOf, { needs: "org_role", role: "member", hidden: true });
export const hiddenOrgAdmin = <I extends Input>(orgIdOf: OrgIdOf<I>) =>
  orgGuard(orgIdOf, { needs: "org_role", role: "admin", hidden: true });
export const orgSuperuser = <I extends Input>(orgIdOf: OrgIdOf<I>) => orgGuard(orgIdOf, { needs: "superuser" });

/** A body that gives exactly one of the fields. Its schema cannot say so; the 422 still comes before any 404 and 403. */
export function exactlyOneOf<S, I extends Input>(
  fields: readonly [keyof I["body"] & string, keyof I["body"] & string],
  guard: Guard<S, I>,
): Guard<S, I> {
  return {
    requirement: guard.requirement,
    async look(looking, input) {
      const body: I["body"] = input.body;
      if (fields.filter((field) => body[field] !== undefined).length !== 1) {
        await knownCaller(looking);
        throw invalidValue(["body"], `Exactly one of ${fields.join(" and ")} is required`);
      }
      return guard.look(looking, input);
    },
  };
}

function callerGuard(requirement: Requirement): Guard<SignedIn> {
  return {
    requirement,
    async look(looking) {
      const caller = await knownCaller(looking);
      refuseCliToken(looking.operation, caller);
      pass(requirement, { ...NO_PLACE, isSuperuser: caller.isSuperuser }, "Resource");
      return { caller };
    },
  };
}

function orgGuard<I extends Input>(orgIdOf: OrgIdOf<I>, requirement: Requirement): Guard<InOrg, I> {
  return {
    requirement,
    async look({ sights, credential, operation, now }, input) {
      const sight: OrgSight | null = await sights.org(credential, orgIdOf(input), now);
      if (!sight) throw unauthenticated();
      const { caller, org, role } = sight;
      refuseCliToken(operation, caller);
      if (!org) throw notFound("Organization");
      pass(requirement, { isSuperuser: caller.isSuperuser, orgRole: role, bindingRole: null }, "Organization");
      return { caller, org };
    },
  };
}

/** Throws only the 401: whether the caller may do this is asked after the form of the request has been judged. */
export async function knownCaller({ sights, credential, now }: Looking): Promise<Caller> {
  const caller = await sights.caller(credential, now);
  if (!caller) throw unauthenticated();
  return caller;
}

function pass(requirement: Requirement, standing: Standing, what: string): void {
  const verdict = judge(requirement, standing);
  if (verdict === "hidden") throw notFound(what);
  if (verdict === "forbidden") throw forbidden();
}

function refuseCliToken({ credentials }: Operation, { scopes }: Caller): void {
  if (scopes === null) return;
  if (typeof credentials === "string") throw forbidden("This operation takes no CLI token; sign in as a user.");
  const accepted: readonly Scope[] = credentials;
  if (!accepted.some((scope) => scopes.includes(scope))) {
    throw forbidden(`The CLI token lacks the scope ${accepted.join(" or ")}.`);
  }
}
