import { randomBytes } from "node:crypto";
import { BINDING_ROLES, ORG_ROLES, TEMPLATE_SCOPES } from "@binnacle/contract";
import { type Client, startWorld } from "@binnacle/world";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { CLI_TOKEN_PREFIX, digestOf } from "../accounts/cli-token.ts";
import { createTokens } from "../accounts/tokens.adapter.ts";
import { definitionId } from "../catalog/catalog-file.ts";
import { newId } from "../id.adapter.ts";
import type { Boundary } from "./caller.ts";
import { type Access, mayReadProject } from "./role.ts";
import { accessOfCredentials } from "./visibility.store.ts";

const SIGNING_KEY = randomBytes(32).toString("base64url");

const world = await startWorld({ env: { BINNACLE_ROLES: "api", BINNACLE_SECRET_KEY: SIGNING_KEY } });
const db = world.database.kysely;
const tokens = await createTokens(SIGNING_KEY, world.clock.now);
afterAll(() => world.stop());

/** Places are numbers, which `at` maps onto the places that there are. */
const place = fc.nat(11);
const maybe = <T>(values: readonly T[]) => fc.option(fc.constantFrom(...values), { nil: null, freq: 2 });
const atMost = <T>(count: number, item: fc.Arbitrary<T>) => fc.array(item, { minLength: 2, maxLength: count });

const anyFleet = fc.record({
  orgs: fc.constantFrom(2, 3),
  clusters: atMost(4, place),
  projects: atMost(5, place),
  templates: atMost(6, fc.record({ scope: fc.constantFrom(...TEMPLATE_SCOPES), place, isPlaced: fc.boolean() })),
  people: fc.array(
    fc.record({
      isSuperuser: fc.nat(7).map((number) => number === 0),
      orgRoles: fc.array(maybe(ORG_ROLES), { minLength: 3, maxLength: 3 }),
      clusterRoles: fc.array(maybe(BINDING_ROLES), { minLength: 4, maxLength: 4 }),
      projectRoles: fc.array(maybe(BINDING_ROLES), { minLength: 5, maxLength: 5 }),
      token: fc.record({ to: fc.constantFrom("nothing", "org", "project", "project"), place }),
    }),
    { minLength: 2, maxLength: 4 },
  ),
});
type Fleet = typeof anyFleet extends fc.Arbitrary<infer F> ? F : never;

const at = <T>(list: readonly T[], index: number): T => list[index % list.length] as T;

const secretOf = (tokenId: string) => `${CLI_TOKEN_PREFIX}${tokenId}`;

function boundaryAt(
  { to, place: where }: Fleet["people"][number]["token"],
  orgs: readonly { id: string }[],
  projects: readonly { id: string }[],
): Boundary | null {
  if (to === "nothing") return null;
  return to === "org" ? { org_id: at(orgs, where).id } : { project_id: at(projects, where).id };
}

/** The fleet as rows. Bindings exist for members only, as the API grants them. */
async function build(fleet: Fleet) {
  const times = { created_at: world.clock.now(), updated_at: world.clock.now() };
  const orgs = Array.from({ length: fleet.orgs }, () => ({ id: newId() }));
  const clusters = fleet.clusters.map((org) => ({ id: newId(), org_id: at(orgs, org).id }));
  const projects = fleet.projects.map((on) => {
    const { id: cluster_id, org_id } = at(clusters, on);
    return { id: newId(), org_id, cluster_id };
  });
  const people = fleet.people.map((person) => ({
    ...person,
    id: newId(),
    sessionId: newId(),
    tokenId: newId(),
    boundary: boundaryAt(person.token, orgs, projects),
  }));

  await db
    .insertInto("orgs")
    .values(orgs.map(({ id }) => ({ id, name: id, slug: id, settings: "{}", ...times })))
    .execute();
  await db
    .insertInto("clusters")
    .values(clusters.map((cluster) => ({ ...cluster, name: cluster.id, ...times })))
    .execute();
  await db
    .insertInto("projects")
    .values(projects.map((project) => ({ ...project, name: project.id, namespace: project.id, ...times })))
    .execute();
  const within = projects.map(({ id, org_id, cluster_id }) => {
    return { id: newId(), org_id, cluster_id, project_id: id, namespace: id, name: "thing", generation: 1 };
  });
  const apps = within.map((thing) => ({
    ...thing,
    components: "[]",
    revision: 1,
    phase: "pending" as const,
    ...times,
  }));
  await db.insertInto("apps").values(apps).execute();
  const addon = { definition_id: definitionId("postgresql"), values: "{}", chart_version: "1.0.0", revision_number: 1 };
  const instances = within.map((thing) => ({ ...thing, id: newId(), ...addon, phase: "pending" as const, ...times }));
  await db.insertInto("addon_instances").values(instances).execute();

  const credentials = orgs.map(({ id }) => ({
    id: newId(),
    org_id: id,
    name: "aws",
    provider: "aws" as const,
    ...times,
  }));
  await db.insertInto("cloud_credentials").values(credentials).execute();
  const job = { action: "create" as const, status: "pending" as const, phase: "init" as const };
  const jobs = clusters.map(({ id, org_id }) => ({ id: newId(), org_id, cluster_id: id, ...job, ...times }));
  await db.insertInto("provisioning_jobs").values(jobs).execute();

  const templates = fleet.templates.map(({ scope, place: where, isPlaced }) => {
    const project = scope === "project" ? at(projects, where) : null;
    const cluster = scope === "cluster" ? at(clusters, where) : null;
    const org_id = (project ?? cluster)?.org_id ?? at(orgs, where).id;
    // A template from before templates had places belongs to no project and no cluster.
    const ids = isPlaced ? { project_id: project?.id ?? null, cluster_id: cluster?.id ?? null } : {};
    const id = newId();
    return { id, org_id, ...ids, scope, namespace: "shop", name: `t-${id}`, version: "1.0.0", tags: [] };
  });
  await db
    .insertInto("stack_templates")
    .values(templates.map((template) => ({ ...template, components: "[]", parameters: "[]", ...times })))
    .execute();

  await db
    .insertInto("users")
    .values(
      people.map(({ id, isSuperuser }) => ({
        ...{
          id,
          name: "Somebody",
          username: `u${id}`,
          email: `${id}@example.com`,
          password_hash: "",
          tier_name: "free",
        },
        ...{ is_superuser: isSuperuser, ...times },
      })),
    )
    .execute();
  const expires_at = new Date(world.clock.now().getTime() + 600_000);
  const session = { created_at: times.created_at, last_used_at: times.created_at, expires_at };
  await db
    .insertInto("sessions")
    .values(people.map(({ id, sessionId }) => ({ id: sessionId, user_id: id, ...session })))
    .execute();
  const token = { name: "laptop", scopes: ["read" as const], expires_at, ...times };
  await db
    .insertInto("cli_tokens")
    .values(
      people.map(({ id, tokenId, boundary }) => ({
        ...{ id: tokenId, user_id: id, token_digest: digestOf(secretOf(tokenId)), ...token },
        ...{ org_id: null, project_id: null, ...boundary },
      })),
    )
    .execute();
  const roles = new Map<string, ReadonlyMap<string, string>>();
  for (const { id: user_id, orgRoles, clusterRoles, projectRoles } of people) {
    const memberships = orgs.flatMap(({ id: org_id }, index) => {
      const role = orgRoles[index];
      return role ? [{ org_id, user_id, role, ...times }] : [];
    });
    const isMember = (orgId: string) => memberships.some(({ org_id }) => org_id === orgId);
    const bindings = [
      ...clusters.map(({ id, org_id }, index) => ({ cluster_id: id, org_id, role: clusterRoles[index] ?? null })),
      ...projects.map(({ id, org_id }, index) => ({ project_id: id, org_id, role: projectRoles[index] ?? null })),
    ].flatMap(({ org_id, role, ...bound }) =>
      role && isMember(org_id) ? [{ id: newId(), user_id, role, ...bound, ...times }] : [],
    );
    roles.set(
      user_id,
      new Map([
        ...memberships.map(({ org_id, role }) => [org_id, role] as const),
        ...bindings.map(
          ({ role, ...bound }) => ["cluster_id" in bound ? bound.cluster_id : bound.project_id, role] as const,
        ),
      ]),
    );
    if (memberships.length > 0) await db.insertInto("memberships").values(memberships).execute();
    if (bindings.length > 0) await db.insertInto("role_bindings").values(bindings).execute();
  }
  const viewers = people.map(({ id, sessionId, tokenId, boundary, isSuperuser }) => {
    return { id, sessionId, tokenId, boundary, isSuperuser, roles: roles.get(id) ?? new Map<string, string>() };
  });
  return { orgs, clusters, projects, apps, instances, credentials, jobs, templates, people: viewers };
}
type Built = Awaited<ReturnType<typeof build>>;

type Viewer = Built["people"][number];

/** An object, the address of its GET, and the lists that hold it exactly when that GET is answered with 200. */
interface Listed {
  readonly id: string;
  readonly path: string;
  readonly lists: readonly string[];
  /** By hand, so that a mistake which the code makes in all places alike is found. Superusers see everything. */
  readonly seenBy: (viewer: Viewer) => boolean;
  /** Where it is for a CLI token that is bound: nowhere, in a place, or in the catalog that everybody sees. */
  readonly place: "nowhere" | "catalog" | { readonly org_id: string; readonly project_id?: string | null };
}

/** By hand as well. */
function existsFor(boundary: Boundary | null, { place: where }: Listed): boolean {
  if (where === "nowhere") return false;
  if (boundary === null || where === "catalog") return true;
  return "org_id" in boundary ? where.org_id === boundary.org_id : where.project_id === boundary.project_id;
}

const isAdmin = ({ roles }: Viewer, orgId: string) => roles.get(orgId) === "admin";

function listedOf(built: Built): Listed[] {
  const member = (orgId: string) => (viewer: Viewer) => viewer.roles.has(orgId);
  const ofProject = (projectId: string) => (viewer: Viewer) => {
    const { org_id = "", cluster_id = "" } = built.projects.find(({ id }) => id === projectId) ?? {};
    return isAdmin(viewer, org_id) || viewer.roles.has(cluster_id) || viewer.roles.has(projectId);
  };
  const onCluster = (clusterId: string) => (viewer: Viewer) =>
    [clusterId, ...built.projects.flatMap(({ id, cluster_id }) => (cluster_id === clusterId ? [id] : []))].some((id) =>
      viewer.roles.has(id),
    );
  return [
    ...built.orgs.map(({ id }) => ({
      id,
      path: `/orgs/${id}`,
      lists: ["/orgs"],
      seenBy: member(id),
      place: { org_id: id },
    })),
    ...built.people.map(({ id, roles }) => {
      const shares = (viewer: Viewer) => built.orgs.some((org) => roles.has(org.id) && viewer.roles.has(org.id));
      return {
        id,
        path: `/user/${id}`,
        lists: ["/users", `/users?search=${id}`],
        // No CLI token reads users.
        place: "nowhere" as const,
        seenBy: (viewer: Viewer) => viewer.id === id || shares(viewer),
      };
    }),
    ...built.clusters.map(({ id, org_id }) => {
      return {
        id,
        path: `/clusters/${id}`,
        lists: ["", "?status=provisioning&status=error", `?search=${id.toUpperCase()}`].map(
          (filter) => `/orgs/${org_id}/clusters${filter}`,
        ),
        seenBy: member(org_id),
        place: { org_id },
      };
    }),
    ...built.projects.map(({ id, org_id, cluster_id }) => {
      const filters = [`cluster_id=${cluster_id}`, `org_id=${org_id}`, "lifecycle=pending", `search=${id}`];
      const lists = ["/projects", ...[...filters, filters.join("&")].map((filter) => `/projects?${filter}`)];
      return { id, path: `/projects/${id}`, lists, seenBy: ofProject(id), place: { org_id, project_id: id } };
    }),
    ...built.apps.map(({ id, namespace, name, org_id, project_id, cluster_id }) => {
      const places = [`project_id=${project_id}`, `org_id=${org_id}`, `cluster_id=${cluster_id}`];
      const own = ["search=THING", "phase=pending&phase=failed&sort=project", "drift=unknown&sort=-deployed_at"];
      const filters = ["sort=cluster", ...places, ...own, [places[1], own[0], "sort=phase"].join("&")];
      const lists = [
        ...["/apps", `/apps?project_id=${project_id}`, `/projects/${project_id}/apps`],
        ...filters.map((filter) => `/app-summaries?${filter}`),
      ];
      const path = `/apps/${namespace}/${name}?project_id=${project_id}`;
      return { id, path, lists, seenBy: ofProject(project_id), place: { org_id, project_id } };
    }),
    ...built.instances.map(({ id, project_id, org_id }) => {
      const places = [`?project_id=${project_id}`, `?org_id=${org_id}`, `?org_id=${org_id}&project_id=${project_id}`];
      const filters = [...places, ...places.map((place) => `${place}&phase=pending&search=THING`)];
      const lists = filters.map((filter) => `/addon-instances${filter}`);
      const path = `/addon-instances/${id}`;
      return { id, path, lists, seenBy: ofProject(project_id), place: { org_id, project_id } };
    }),
    ...built.templates.map(({ id, namespace, name, org_id, scope, project_id = null, cluster_id = null }) => {
      const lists = ["/stack-templates", `/stack-templates?scope=${scope}`];
      const path = `/stack-templates/${namespace}/${name}?org_id=${org_id}`;
      const seenBy = (viewer: Viewer) =>
        scope === "global" ||
        isAdmin(viewer, org_id) ||
        (scope === "organization" && viewer.roles.has(org_id)) ||
        (project_id !== null && ofProject(project_id)(viewer)) ||
        (cluster_id !== null && onCluster(cluster_id)(viewer));
      return { id, path, lists, seenBy, place: scope === "global" ? ("catalog" as const) : { org_id, project_id } };
    }),
    ...built.credentials.map(({ id, org_id }) => {
      const lists = [`/orgs/${org_id}/credentials`];
      const seenBy = (viewer: Viewer) => isAdmin(viewer, org_id);
      return { id, path: `/credentials/${id}`, lists, seenBy, place: { org_id } };
    }),
    ...built.jobs.map(({ id, cluster_id, org_id }) => {
      const lists = [`/clusters/${cluster_id}/provisioning-jobs`];
      return { id, path: `/provisioning-jobs/${id}`, lists, seenBy: member(org_id), place: { org_id } };
    }),
  ];
}

const isRefusal = (status: number) => status === 403 || status === 404;

/** The ids of a whole list. A list below a place that the caller may not read holds nothing. */
async function idsIn(api: Client, path: string): Promise<ReadonlySet<string>> {
  // Superusers read organizations to which they do not belong, and see them where they ask for all.
  if (path === "/orgs" && (await api.get("/orgs?all=true")).status === 200) return idsIn(api, "/orgs?all=true");
  const ids: string[] = [];
  const [address, query] = path.split("?");
  for (let page = 1; ; page++) {
    const { status, body } = await api.get(`${address}?${query ? `${query}&` : ""}items_per_page=100&page=${page}`);
    if (isRefusal(status)) return new Set();
    expect({ path, status }).toEqual({ path, status: 200 });
    ids.push(...body.data.map(({ id }: { id: string }) => id));
    if (body.has_more) continue;
    expect(body.total_count).toBe(ids.length);
    expect(new Set(ids).size).toBe(ids.length);
    return new Set(ids);
  }
}

/** Compares the counts of each organization that the caller reads with the objects of it that the caller reads one by one. */
async function compareOverviews(api: Client, seen: readonly Listed[]): Promise<void> {
  for (const { id: orgId } of seen.filter(({ path }) => path.startsWith("/orgs/"))) {
    const own = seen.filter(({ place: where }) => typeof where === "object" && where.org_id === orgId);
    const count = (prefix: string) => own.filter(({ path }) => path.startsWith(prefix)).length;
    const { body } = await api.get(`/orgs/${orgId}/overview`);
    const { results } = (await api.get(`/search?q=thing&org_id=${orgId}`)).body;
    const things = own.filter(({ path }) => /^\/(apps|addon-instances)\//.test(path)).map(({ id }) => id);
    expect(results.map(({ id }: { id: string }) => id).sort()).toEqual(things.sort());
    const totals = [body.clusters.total, body.projects.total, body.apps.total, body.addon_instances.total];
    const expected = ["/clusters/", "/projects/", "/apps/", "/addon-instances/"].map(count);
    expect(totals).toEqual(expected);
    const { data: clusters } = (await api.get(`/orgs/${orgId}/fleet`)).body;
    const onMap = clusters.reduce((sum: number, { apps }: { apps: number }) => sum + apps, 0);
    expect([clusters.length, onMap]).toEqual([expected[0], expected[2]]);
  }
}

/** Compares what a caller reads one by one with what is in the lists and with the expectation, and counts both outcomes. */
async function compare(
  api: Client,
  listed: readonly Listed[],
  isSeenBy: (object: Listed) => boolean,
): Promise<{ visible: number; hidden: number; projects: ReadonlySet<string> }> {
  const paths = [...new Set(listed.flatMap(({ lists }) => lists))];
  const lists = new Map(await Promise.all(paths.map(async (path) => [path, await idsIn(api, path)] as const)));
  const outcomes = listed.map(async (object) => {
    const { id, path, lists: holders } = object;
    const { status } = await api.get(path);
    const isSeen = isSeenBy(object);
    expect({ path, isSeen, status }).toEqual({ path, isSeen, status: isSeen ? 200 : expect.toSatisfy(isRefusal) });
    const holding = holders.filter((list) => lists.get(list)?.has(id));
    expect({ path, holding }).toEqual({ path, holding: status === 200 ? holders : [] });
    return status === 200;
  });
  const visible = await Promise.all(outcomes);
  const seen = visible.filter(Boolean).length;
  await compareOverviews(
    api,
    listed.filter((_, index) => visible[index]),
  );
  return { visible: seen, hidden: listed.length - seen, projects: lists.get("/projects") ?? new Set() };
}

/** The projects of which a stream would deliver events. */
const readableIn = (built: Built, access: Access | undefined) =>
  built.projects.filter((project) => access && mayReadProject({ ...project, project_id: project.id }, access));

test("[AC13] [AC15] an object is in its lists exactly when its GET is answered with 200, whoever asks", async () => {
  let [visible, hidden] = [0, 0];
  const property = fc.asyncProperty(anyFleet, async (fleet) => {
    const built = await build(fleet);
    const listed = listedOf(built);
    const access = await accessOfCredentials(db)(
      built.people.map(({ sessionId }) => sessionId),
      world.clock.now(),
    );
    for (const viewer of built.people) {
      const { id: userId, sessionId } = viewer;
      const claims = { sessionId, userId, expiresAtMs: world.clock.now().getTime() + 600_000 };
      const api = world.anyone.with({ authorization: `Bearer ${await tokens.sign("access", claims)}` });
      const found = await compare(api, listed, ({ seenBy }) => viewer.isSuperuser || seenBy(viewer));
      visible += found.visible;
      hidden += found.hidden;
      const seen = built.projects.filter(({ id }) => found.projects.has(id));
      expect(readableIn(built, access.get(sessionId))).toEqual(seen);
    }
  });
  await fc.assert(property, { seed: 20, numRuns: 6, endOnFailure: true });
  // Worlds in which everything or nothing is visible would prove little.
  expect(Math.min(visible, hidden)).toBeGreaterThan(200);
}, 180_000);

test("[AC18] [AC19] a CLI token sees what its user sees and its boundary contains, in reads, lists and streams alike", async () => {
  const counts = { nothing: [0, 0], org: [0, 0], project: [0, 0] };
  const property = fc.asyncProperty(anyFleet, async (fleet) => {
    const built = await build(fleet);
    const listed = listedOf(built).filter(({ place: where }) => where !== "nowhere");
    const access = await accessOfCredentials(db)(
      built.people.map(({ tokenId }) => tokenId),
      world.clock.now(),
    );
    for (const viewer of built.people) {
      const { tokenId, boundary } = viewer;
      const api = world.anyone.with({ authorization: `Bearer ${secretOf(tokenId)}` });
      const found = await compare(
        api,
        listed,
        (object) => existsFor(boundary, object) && (viewer.isSuperuser || object.seenBy(viewer)),
      );
      const count = counts[boundary === null ? "nothing" : "org_id" in boundary ? "org" : "project"];
      count[0] = (count[0] ?? 0) + found.visible;
      count[1] = (count[1] ?? 0) + found.hidden;
      const seen = built.projects.filter(({ id }) => found.projects.has(id));
      expect(readableIn(built, access.get(tokenId))).toEqual(seen);
    }
  });
  await fc.assert(property, { seed: 21, numRuns: 12, endOnFailure: true });
  // Each kind of token must have seen something and missed something.
  expect(Math.min(...Object.values(counts).flat())).toBeGreaterThan(10);
}, 120_000);
