import type { BindingRole, Operation, Scope } from "@binnacle/contract";
import type { Caller, Credential } from "../access/caller.ts";
import { judge, type PlaceRequirement, type Requirement, type Standing } from "../access/role.ts";
import type { OrgSight, PlaceSight, SightStore } from "../access/sight.store.ts";
import type { AppAddress, SeenApp } from "../apps/app.ts";
import type { Cluster } from "../clusters/cluster.ts";
import { forbidden, notFound, unauthenticated } from "../fault.ts";
import type { Org } from "../orgs/org.ts";
import type { Project } from "../projects/project.ts";

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
export interface OnCluster extends SignedIn {
  readonly cluster: Cluster;
  readonly standing: Standing;
}
export interface InProject extends SignedIn {
  readonly project: Project;
  readonly standing: Standing;
}
export interface InApp extends SignedIn {
  readonly app: SeenApp;
  readonly standing: Standing;
}
export interface InOrg extends SignedIn {
  readonly org: Org;
}

const NO_INPUT: Input = { params: null, query: null, body: null };

export const anyone: Guard<object> = { requirement: { needs: "nothing" }, look: async () => ({}) };

export const signedIn: Guard<SignedIn> = callerGuard({ needs: "signed_in" });
export const superuser: Guard<SignedIn> = callerGuard({ needs: "superuser" });

/** Whoever may make users: a superuser, or an administrator of whichever organization. */
export const userMaker: Guard<SignedIn> = {
  requirement: { needs: "any_org_admin" },
  async look(looking) {
    const { caller } = await signedIn.look(looking, NO_INPUT);
    if (!caller.isSuperuser && !(await looking.sights.administersAnyOrg(caller.id))) throw forbidden();
    return { caller };
  },
};

/** Nobody, a superuser included, passes for another's record. Ids are compared as ids: the case of letters is nothing. */
export const ownRecord = <I extends Input>(userIdOf: (input: I) => string): Guard<SignedIn, I> => ({
  requirement: { needs: "own_record" },
  async look(looking, input) {
    const { caller } = await signedIn.look(looking, NO_INPUT);
    if (caller.id !== userIdOf(input).toLowerCase()) throw forbidden();
    return { caller };
  },
});

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

type IdOf<I extends Input> = (input: I) => string;

/** `member` is every member of the cluster's organization. */
export const onCluster = <I extends Input>(
  role: "member" | BindingRole | "org_admin",
  clusterIdOf: IdOf<I>,
): Guard<OnCluster, I> => ({
  requirement: { needs: "cluster_role", role },
  async look(looking, input) {
    const sight = await looking.sights.cluster(looking.credential, clusterIdOf(input), looking.now);
    const { caller, place: cluster, standing } = admitted({ needs: "cluster_role", role }, looking, sight, "Cluster");
    return { caller, cluster, standing };
  },
});

export const inProject = <I extends Input>(
  role: BindingRole | "org_admin",
  projectIdOf: IdOf<I>,
): Guard<InProject, I> => ({
  requirement: { needs: "project_role", role },
  async look(looking, input) {
    const sight = await looking.sights.project(looking.credential, projectIdOf(input), looking.now);
    const { caller, place: project, standing } = admitted({ needs: "project_role", role }, looking, sight, "Project");
    return { caller, project, standing };
  },
});

/** An app is seen by those who see its project; one that another namespace or project holds is not there. */
export const inApp = <I extends Input>(role: BindingRole, addressOf: (input: I) => AppAddress): Guard<InApp, I> => ({
  requirement: { needs: "project_role", role },
  async look(looking, input) {
    const sight = await looking.sights.app(looking.credential, addressOf(input), looking.now);
    const { caller, place: app, standing } = admitted({ needs: "project_role", role }, looking, sight, "App");
    return { caller, app, standing };
  },
});

function admitted<P>(requirement: PlaceRequirement, looking: Looking, sight: PlaceSight<P> | null, what: string) {
  if (!sight) throw unauthenticated();
  const { caller, place, orgRole, bindingRole } = sight;
  refuseCliToken(looking.operation, caller);
  if (place === null) throw notFound(what);
  const standing = { isSuperuser: caller.isSuperuser, orgRole, bindingRole };
  pass(requirement, standing, what);
  return { caller, place, standing };
}

function callerGuard(requirement: { readonly needs: "signed_in" | "superuser" }): Guard<SignedIn> {
  return {
    requirement,
    async look(looking) {
      const caller = await knownCaller(looking);
      refuseCliToken(looking.operation, caller);
      if (requirement.needs === "superuser" && !caller.isSuperuser) throw forbidden();
      return { caller };
    },
  };
}

function orgGuard<I extends Input>(orgIdOf: OrgIdOf<I>, requirement: PlaceRequirement): Guard<InOrg, I> {
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

function pass(requirement: PlaceRequirement, standing: Standing, what: string): void {
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
