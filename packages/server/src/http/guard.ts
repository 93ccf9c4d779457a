import type { BindingRole, Operation, ValidationItem } from "@binnacle/contract";
import type { Caller, Credential } from "../access/caller.ts";
import type { Me, OwnAccess } from "../access/own-roles.store.ts";
import type { FindList, FindPlace, Listed, PlaceStore } from "../access/place.store.ts";
import {
  authorize,
  boundElsewhere,
  type PlaceRequirement,
  type Requirement,
  refuseCredential,
  roleNeeded,
  type Standing,
} from "../access/role.ts";
import { CLI_TOKEN_PREFIX, digestOf } from "../accounts/cli-token.ts";
import type { Tokens } from "../accounts/tokens.adapter.ts";
import type { ShownInstance } from "../addons/addon.ts";
import type { AppAddress, AppWithSecretPaths, ListedApp } from "../apps/app.ts";
import { abandonedProblem } from "../clusters/abandonment.ts";
import type { Cluster } from "../clusters/cluster.ts";
import type { Credential as CloudCredential } from "../credentials/credential.ts";
import { forbidden, invalid, unauthenticated } from "../fault.ts";
import type { Org } from "../orgs/org.ts";
import type { ConnectedProject } from "../projects/project.ts";
import type { ProvisioningJob } from "../provisioning/provisioning.ts";
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
export interface OnCluster extends SignedIn {
  readonly cluster: Cluster;
  readonly standing: Standing;
}
export interface InProject extends SignedIn {
  readonly project: ConnectedProject;
  readonly standing: Standing;
}
export interface InApp extends SignedIn {
  readonly app: AppWithSecretPaths;
  readonly standing: Standing;
}
export interface OnInstance extends SignedIn {
  readonly instance: ShownInstance;
  readonly standing: Standing;
}
export interface InOrg extends SignedIn {
  readonly org: Org;
}

const NO_INPUT: Input = { params: null, query: null, body: null };

export const anyone: Guard<object> = { requirement: { needs: "nothing" }, authorize: async () => ({}) };

export const signedIn: Guard<SignedIn> = callerGuard({ needs: "signed_in" });
export const superuser: Guard<SignedIn> = callerGuard({ needs: "superuser" });

/** Passes on what belongs to the caller, which is read together with the caller. */
const ofCaller = <S extends SignedIn>(
  readBy: (places: PlaceStore) => (credential: Credential, now: Date) => Promise<S | null>,
): Guard<S> => ({
  requirement: { needs: "signed_in" },
  async authorize({ places, credential, operation, now }) {
    const own = await readBy(places)(credential, now);
    if (!own) throw unauthenticated();
    refuseCredential(operation, own.caller);
    return own;
  },
});

export const currentUser: Guard<Me> = ofCaller(({ me }) => me);
export const currentAccess: Guard<OwnAccess> = ofCaller(({ ownAccess }) => ownAccess);

type ListInput<Q> = Input<unknown, Q & Page>;

/** Passes on a page of what the caller sees, which is read together with the caller. */
const listed = <R, Q>(listOf: (places: PlaceStore) => FindList<R, Q>): Guard<Listed<R>, ListInput<Q>> => ({
  requirement: { needs: "signed_in" },
  async authorize({ places, credential, operation, now }, { query }) {
    const list = await listOf(places)(credential, query, pageOf(query), now);
    if (!list) throw unauthenticated();
    refuseCredential(operation, list.caller);
    return list;
  },
});

const orgsAskedFor = listed(({ orgs }) => orgs);
/** All of them are for superusers only. */
export const orgList: typeof orgsAskedFor = {
  ...orgsAskedFor,
  async authorize(request, input) {
    const list = await orgsAskedFor.authorize(request, input);
    if (input.query.all) requireSuperuser(list.caller);
    return list;
  },
};
export const projectList = listed(({ projects }) => projects);
export const appList = listed(({ apps }) => apps);
export const addonInstanceList = listed(({ addonInstances }) => addonInstances);

/** Superusers and administrators of any organization may create users. */
export const userCreator: Guard<SignedIn> = {
  requirement: { needs: "any_org_admin" },
  async authorize(request) {
    const { caller } = await signedIn.authorize(request, NO_INPUT);
    if (!caller.isSuperuser && !(await request.places.administersAnyOrg(caller.id)))
      throw forbidden(roleNeeded({ needs: "any_org_admin" }));
    return { caller };
  },
};

/** Refuses even superusers for another user's record. Ids are compared in lower case. */
export const ownRecord = <I extends Input>(userIdOf: (input: I) => string): Guard<SignedIn, I> => ({
  requirement: { needs: "own_record" },
  async authorize(request, input) {
    const { caller } = await signedIn.authorize(request, NO_INPUT);
    if (caller.id !== userIdOf(input).toLowerCase()) throw forbidden(roleNeeded({ needs: "own_record" }));
    return { caller };
  },
});

type IdOf<I extends Input> = (input: I) => string;
type ById = Input<{ readonly id: string }>;

/** A caller who is not a member gets 403 under `/orgs/{id}`, and 404 where the organization is named otherwise. */
export const orgMember = <I extends Input>(orgIdOf: IdOf<I>) =>
  inOrg(orgIdOf, { needs: "org_role", role: "member", hidden: false });
export const orgAdmin = <I extends Input>(orgIdOf: IdOf<I>) =>
  inOrg(orgIdOf, { needs: "org_role", role: "admin", hidden: false });
export const hiddenOrgMember = <I extends Input>(orgIdOf: IdOf<I>) =>
  inOrg(orgIdOf, { needs: "org_role", role: "member", hidden: true });
export const hiddenOrgAdmin = <I extends Input>(orgIdOf: IdOf<I>) =>
  inOrg(orgIdOf, { needs: "org_role", role: "admin", hidden: true });
export const orgSuperuser = <I extends Input>(orgIdOf: IdOf<I>) => inOrg(orgIdOf, { needs: "superuser" });

const inOrg = <I extends Input>(orgIdOf: IdOf<I>, requirement: PlaceRequirement): Guard<InOrg, I> =>
  placeGuard(
    requirement,
    "Organization",
    ({ org }) => org,
    orgIdOf,
    (caller, org) => ({ caller, org }),
  );

/** `member` is every member of the cluster's organization. An abandoned cluster takes hardly any change. */
export const onCluster = <I extends Input>(
  role: "member" | BindingRole | "org_admin",
  clusterIdOf: IdOf<I>,
): Guard<OnCluster, I> => {
  const guard = placeGuard<Cluster, string, OnCluster, I>(
    { needs: "cluster_role", role },
    "Cluster",
    (places) => places.cluster,
    clusterIdOf,
    (caller, cluster, standing) => ({ caller, cluster, standing }),
  );
  return {
    ...guard,
    async authorize(request, input) {
      const found = await guard.authorize(request, input);
      const problem = abandonedProblem(found.cluster, request.operation);
      if (problem) throw problem;
      return found;
    },
  };
};

export const inProject = <I extends Input>(
  role: BindingRole | "org_admin",
  projectIdOf: IdOf<I>,
): Guard<InProject, I> =>
  placeGuard(
    { needs: "project_role", role },
    "Project",
    (places) => places.project,
    projectIdOf,
    (caller, project, standing) => ({ caller, project, standing }),
  );

/** The apps of one project. A project that the caller does not see is a 404, not an empty list. */
export const appsOfProject = <I extends ById & ListInput<object>>(): Guard<InProject & Listed<ListedApp>, I> => {
  const project = inProject<I>("viewer", ({ params }) => params.id);
  return {
    requirement: project.requirement,
    async authorize(request, input) {
      const seen = await project.authorize(request, input);
      const query = { ...input.query, project_id: seen.project.id };
      return { ...seen, ...(await appList.authorize(request, { ...input, query })) };
    },
  };
};

/** An app is visible to those who see its project; the address of an app of another namespace or project is a 404. */
export const inApp = <I extends Input>(role: BindingRole, addressOf: (input: I) => AppAddress): Guard<InApp, I> =>
  placeGuard(
    { needs: "project_role", role },
    "App",
    (places) => places.app,
    addressOf,
    (caller, app, standing) => ({ caller, app, standing }),
  );

/** An addon instance is visible to those who see its project. */
export const onInstance = <I extends ById>(role: BindingRole): Guard<OnInstance, I> =>
  placeGuard(
    { needs: "project_role", role },
    "Addon instance",
    (places) => places.addonInstance,
    ({ params }) => params.id,
    (caller, instance, standing) => ({ caller, instance, standing }),
  );

export const onCloudCredential = <I extends ById>(): Guard<
  SignedIn & { readonly cloudCredential: CloudCredential },
  I
> =>
  placeGuard(
    { needs: "concealed_org_admin" },
    "Credential",
    (places) => places.cloudCredential,
    ({ params }) => params.id,
    (caller, cloudCredential) => ({ caller, cloudCredential }),
  );

export const onProvisioningJob = <I extends ById>(
  role: "member" | "org_admin",
): Guard<SignedIn & { readonly job: ProvisioningJob }, I> =>
  placeGuard(
    { needs: "cluster_role", role },
    "Provisioning job",
    (places) => places.provisioningJob,
    ({ params }) => params.id,
    (caller, job) => ({ caller, job }),
  );

/** The caller, the place and the caller's roles there come from one statement. */
function placeGuard<P, A, S extends SignedIn, I extends Input>(
  requirement: PlaceRequirement,
  what: string,
  finderOf: (places: PlaceStore) => FindPlace<P, A>,
  addressOf: (input: I) => A,
  found: (caller: Caller, place: P, standing: Standing) => S,
): Guard<S, I> {
  return {
    requirement,
    async authorize({ places, credential, operation, now }, input) {
      const located = await finderOf(places)(credential, addressOf(input), now);
      const { caller, place, standing } = authorize(requirement, operation, located, what);
      return found(caller, place, standing);
    },
  };
}

function callerGuard(requirement: { readonly needs: "signed_in" | "superuser" }): Guard<SignedIn> {
  return {
    requirement,
    async authorize(request) {
      const caller = await knownCaller(request);
      refuseCredential(request.operation, caller);
      if (requirement.needs === "superuser") requireSuperuser(caller);
      return { caller };
    },
  };
}

function requireSuperuser({ isSuperuser, boundary }: Caller): void {
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
  guard: Guard<S, I>,
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

const BEARER = /^Bearer +(\S+)$/i;

/** Reads the credential of an `Authorization` header; returns null for one that cannot be valid. */
export async function credentialOf(
  tokens: Tokens,
  authorization: string | undefined,
  sourceAddress: string,
): Promise<Credential | null> {
  const token = authorization && BEARER.exec(authorization)?.[1];
  if (!token) return null;
  if (token.startsWith(CLI_TOKEN_PREFIX)) return { kind: "cli_token", digest: digestOf(token), sourceAddress };
  const claims = await tokens.read("access", token);
  return claims && { kind: "session", ...claims };
}
