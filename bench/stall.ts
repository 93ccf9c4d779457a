import { randomBytes } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { load, type Measured, type Target } from "./load.ts";
import { residentMb } from "./process.ts";
import { type Stage, withStage } from "./stage.ts";
import { limitMissed, printTable } from "./table.ts";

/**
 * A user of one organization asks for as much as the API gives, and a user of another organization, who asks for little, must
 * not notice. Ends with 1 where a limit is missed.
 */

const APPS = 100;
const COMPONENTS = 3;
const FILE_CHARACTERS = 131_000;
const REVISIONS = 200;
const INSTANCES = 1_000;
const CLUSTERS = 5_000;
const MEMBERS = 1_000;
const PROJECTS = 500;
const OWN_PROJECTS = 5_000;
const BUSY_CONNECTIONS = 6;
const ROUND_MS = Number(process.env["BENCH_ROUND_MS"] ?? 20_000);
const PAUSE_MS = 10;

const P99_LIMIT_MS = 100;
const GROWTH_LIMIT_MB = 150;
/** The others are seen beside them, without a limit. */
const LIMITED = ["lists of 100", "exports", "secrets", "map", "roles", "own roles"];

await withStage(async (stage) => {
  const { binnacle, orgId, headers, send } = stage;
  const other = (await newUser(stage, "bob")).headers;
  const crowded = await userOfManyProjects(stage);
  const cluster = await send("POST", `/orgs/${orgId}/clusters`, { name: "bench" });
  const project = await send("POST", "/projects", { name: "bench", cluster_id: cluster["id"] });
  const projectId: string = project["id"] ?? "";
  await fill(stage, { org_id: orgId, cluster_id: cluster["id"] ?? "", project_id: projectId, namespace: "bench" });
  await fillExportsAndSecrets(stage, projectId);
  const instance = await longRevisions(stage, projectId);
  await fillOrg(stage);
  await stage.settle();

  const idle: Target = { port: binnacle.port, path: "/api/v1/user/me", headers: other };
  await load(idle, { connections: 1, durationMs: 2_000 });
  const busy = (path: string): Target => ({ port: binnacle.port, path: `/api/v1${path}`, headers });
  const rounds = {
    "nothing else": null,
    "lists of 100 apps": busy(`/apps?project_id=${projectId}&items_per_page=100`),
    "exports of 1,000 addons": busy(`/projects/${projectId}/available-exports`),
    "secrets of 2,000 components": busy(`/projects/${projectId}/secrets-overview`),
    "map of 5,000 clusters": busy(`/orgs/${orgId}/fleet`),
    "roles of 1,000 members on 500 projects": busy(`/orgs/${orgId}/role-matrix`),
    "lists of 200 revisions": busy(`/addon-instances/${instance}/revisions?items_per_page=200`),
    "own roles of one member on 5,000 projects": { ...busy("/user/me/access"), headers: crowded },
    "reads of one app": busy(`/apps/bench/app-0?project_id=${projectId}`),
  };
  const rows: string[][] = [];
  for (const [name, target] of Object.entries(rounds)) {
    const beforeMb = residentMb(binnacle);
    const { seen, largestMb, served } = await beside(stage, idle, target);
    const growthMb = Math.max(0, largestMb - beforeMb);
    const isLimited = LIMITED.some((beginning) => name.startsWith(beginning));
    if (isLimited && (seen.p99Ms > P99_LIMIT_MS || growthMb > GROWTH_LIMIT_MB)) limitMissed(name);
    const aim = isLimited ? `p99 ≤ ${P99_LIMIT_MS} ms, ≤ ${GROWTH_LIMIT_MB} MB` : "";
    const [p50, p99] = [seen.p50Ms, seen.p99Ms].map((ms) => `${ms.toFixed(1)} ms`);
    rows.push([name, aim, p50 ?? "", p99 ?? "", `${growthMb.toFixed(0)} MB`, served]);
  }
  printTable(["six at a time", "aim", "p50 of /user/me", "p99", "memory grows by", "answers a second"], rows);
});

/** Asks as the other user, one request after another with pauses, while the busy user asks without any. */
async function beside({ binnacle }: Stage, idle: Target, target: Target | null) {
  const endsAt = performance.now() + ROUND_MS;
  let largestMb = 0;
  const watch = async () => {
    for (; performance.now() < endsAt; await setTimeout(100)) {
      largestMb = Math.max(largestMb, residentMb(binnacle));
    }
  };
  const busy = target ? load(target, { connections: BUSY_CONNECTIONS, durationMs: ROUND_MS }) : null;
  const [seen] = await Promise.all([load(idle, { connections: 1, durationMs: ROUND_MS, pauseMs: PAUSE_MS }), watch()]);
  const answered: Measured | null = await busy;
  return { seen, largestMb, served: answered ? answered.perSecond.toFixed(1) : "" };
}

/** A member of an organization of their own. */
async function newUser({ binnacle, send }: Stage, username: string) {
  const org = await send("POST", "/orgs", { name: `The organization of ${username}` });
  const password = randomBytes(9).toString("base64url");
  const user = await send("POST", "/user", { name: username, username, email: `${username}@example.com`, password });
  await send("POST", `/orgs/${org["id"]}/members`, { user_id: user["id"], role: "member" });
  const answer = await fetch(`http://127.0.0.1:${binnacle.port}/api/v1/login`, {
    method: "POST",
    body: new URLSearchParams({ username, password }),
  });
  const { access_token } = (await answer.json()) as { access_token: string };
  return { orgId: org["id"], userId: user["id"], headers: { authorization: `Bearer ${access_token}` } };
}

async function userOfManyProjects(stage: Stage): Promise<Record<string, string>> {
  const { orgId, userId, headers } = await newUser(stage, "ada");
  await stage.database.pool.query(
    `with cluster as (
       insert into clusters (id, org_id, name, created_at, updated_at) values (gen_random_uuid(), $1, 'crowded', now(), now()) returning id, org_id
     ), crowd as (
       insert into projects (id, org_id, cluster_id, name, namespace, created_at, updated_at)
       select gen_random_uuid(), org_id, id, 'own-' || made, 'own-' || made, now(), now() from cluster, generate_series(1, $3::int) made
       returning id
     ) insert into role_bindings (id, user_id, project_id, role, created_at, updated_at)
     select gen_random_uuid(), $2, id, 'viewer', now(), now() from crowd`,
    [orgId, userId, OWN_PROJECTS],
  );
  return headers;
}

/** Not compressible to next to nothing. */
function text(characters: number): string {
  return randomBytes(Math.ceil(characters / 2))
    .toString("hex")
    .slice(0, characters);
}

async function fill({ database }: Stage, place: Record<"org_id" | "cluster_id" | "project_id" | "namespace", string>) {
  const at = new Date();
  for (let made = 0; made < APPS; made++) {
    const files = ["/etc/one", "/etc/two"].map((path) => ({ path, content: text(FILE_CHARACTERS) }));
    const components = Array.from({ length: COMPONENTS }, (_, index) => ({
      name: `web-${index}`,
      type: "workload",
      workload_spec: { image: "nginx:1.29", replicas: 2, files },
    }));
    await database.kysely
      .insertInto("apps")
      .values({
        ...{ ...place, id: crypto.randomUUID(), name: `app-${made}`, components: JSON.stringify(components) },
        ...{ generation: 1, revision: 1, phase: "pending", created_at: at, updated_at: at },
      })
      .execute();
  }
}

/** Instances of an addon of the catalog with long values, and secrets with the longest keys that an app has room for. */
async function fillExportsAndSecrets({ database, send }: Stage, projectId: string): Promise<void> {
  const { data } = (await send("GET", "/addon-definitions?items_per_page=1")) as unknown as { data: { id: string }[] };
  await database.pool.query(
    `insert into addon_instances (id, org_id, cluster_id, project_id, namespace, name, definition_id, "values", chart_version, generation,
       revision_number, phase, exports, created_at, updated_at)
     select gen_random_uuid(), p.org_id, p.cluster_id, p.id, p.namespace, 'addon-' || made, $2, jsonb_build_object('text', $3::text), '1', 1,
       1, 'ready', '{"host": "x"}', now(), now()
     from projects p, generate_series(1, $4::int) made where p.id = $1`,
    [projectId, data[0]?.id, text(FILE_CHARACTERS), INSTANCES],
  );
  await database.pool.query(
    `insert into app_secrets (id, app_id, component, key, sealed_value, updated_at)
     select gen_random_uuid(), id, 'web-' || component, key || repeat('k', 240), 'x', now()
     from apps, generate_series(1, 20) component, generate_series(100, 199) key where project_id = $1`,
    [projectId],
  );
}

/** Clusters, members, and a role of each member on each project. */
async function fillOrg({ database, orgId }: Stage): Promise<void> {
  const statements = [
    `insert into clusters (id, org_id, name, created_at, updated_at)
     select gen_random_uuid(), $1, 'cluster-' || made, now(), now() from generate_series(1, ${CLUSTERS}) made`,
    `insert into projects (id, org_id, cluster_id, name, namespace, created_at, updated_at)
     select gen_random_uuid(), org_id, id, 'project-' || made, 'project-' || made, now(), now()
     from clusters, generate_series(1, ${PROJECTS}) made where org_id = $1 and name = 'cluster-1'`,
    `with crowd as (
       insert into users (id, name, username, email, password_hash, tier_name, created_at, updated_at)
       select gen_random_uuid(), 'User ' || made, 'user-' || made, 'user-' || made || '@example.com', 'none', tier_name, now(), now()
       from users, generate_series(1, ${MEMBERS}) made where username = 'admin' returning id
     ) insert into memberships (org_id, user_id, role, created_at, updated_at) select $1, id, 'member', now(), now() from crowd`,
    `insert into role_bindings (id, user_id, project_id, role, created_at, updated_at)
     select gen_random_uuid(), m.user_id, p.id, 'viewer', now(), now()
     from memberships m join projects p on p.org_id = m.org_id where m.org_id = $1 and m.role = 'member' and p.name like 'project-%'`,
  ];
  for (const statement of statements) await database.pool.query(statement, [orgId]);
}

async function longRevisions({ database, send }: Stage, projectId: string): Promise<string> {
  const { data } = (await send("GET", "/addon-definitions?items_per_page=1")) as unknown as { data: { id: string }[] };
  const body = { name: "db", project_id: projectId, addon_definition_id: data[0]?.id };
  const { id } = (await send("POST", "/addon-instances", body)) as unknown as { id: string };
  for (let number = 2; number <= REVISIONS; number++) {
    await database.kysely
      .insertInto("addon_revisions")
      .values({
        ...{ id: crypto.randomUUID(), addon_instance_id: id, revision_number: number, chart_version: "1" },
        ...{ values: JSON.stringify({ text: text(FILE_CHARACTERS) }), created_at: new Date() },
      })
      .execute();
  }
  await database.kysely
    .updateTable("addon_instances")
    .set({ revision_number: REVISIONS })
    .where("id", "=", id)
    .execute();
  return id;
}
