import { randomBytes } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { load, type Measured, type Target } from "./load.ts";
import { residentMb } from "./process.ts";
import { type Stage, withStage } from "./stage.ts";
import { printTable } from "./table.ts";

/**
 * A user of one organization asks for as much as the API gives, and a user of another organization, who asks for little, must
 * not notice. Ends with 1 where a limit is missed.
 */

const APPS = 100;
const COMPONENTS = 3;
const FILE_CHARACTERS = 131_000;
const REVISIONS = 200;
const BUSY_CONNECTIONS = 6;
const ROUND_MS = Number(process.env["BENCH_ROUND_MS"] ?? 20_000);
const PAUSE_MS = 10;

const P99_LIMIT_MS = 100;
const GROWTH_LIMIT_MB = 150;

await withStage(async (stage) => {
  const { binnacle, orgId, headers, send } = stage;
  const other = await otherUser(stage);
  const cluster = await send("POST", `/orgs/${orgId}/clusters`, { name: "bench" });
  const project = await send("POST", "/projects", { name: "bench", cluster_id: cluster["id"] });
  const projectId: string = project["id"] ?? "";
  await fill(stage, { org_id: orgId, cluster_id: cluster["id"] ?? "", project_id: projectId, namespace: "bench" });
  const instance = await longRevisions(stage, projectId);
  await stage.settle();

  const idle: Target = { port: binnacle.port, path: "/api/v1/user/me", headers: other };
  await load(idle, { connections: 1, durationMs: 2_000 });
  const busy = (path: string): Target => ({ port: binnacle.port, path: `/api/v1${path}`, headers });
  const rounds = {
    "nothing else": null,
    "lists of 100 apps": busy(`/apps?project_id=${projectId}&items_per_page=100`),
    "lists of 200 revisions": busy(`/addon-instances/${instance}/revisions?items_per_page=200`),
    "reads of one app": busy(`/apps/bench/app-0?project_id=${projectId}`),
  };
  const rows: string[][] = [];
  let isMissed = false;
  for (const [name, target] of Object.entries(rounds)) {
    const beforeMb = residentMb(binnacle);
    const { seen, largestMb, served } = await beside(stage, idle, target);
    const growthMb = Math.max(0, largestMb - beforeMb);
    const isListed = name.startsWith("lists of 100");
    if (isListed) isMissed = seen.p99Ms > P99_LIMIT_MS || growthMb > GROWTH_LIMIT_MB;
    const aim = isListed ? `p99 ≤ ${P99_LIMIT_MS} ms, ≤ ${GROWTH_LIMIT_MB} MB` : "";
    const [p50, p99] = [seen.p50Ms, seen.p99Ms].map((ms) => `${ms.toFixed(1)} ms`);
    rows.push([name, aim, p50 ?? "", p99 ?? "", `${growthMb.toFixed(0)} MB`, served]);
  }
  printTable(["six at a time", "aim", "p50 of /user/me", "p99", "memory grows by", "answers a second"], rows);
  if (isMissed) process.exitCode = 1;
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

async function otherUser({ binnacle, send }: Stage): Promise<Record<string, string>> {
  const org = await send("POST", "/orgs", { name: "Others" });
  const password = randomBytes(9).toString("base64url");
  const user = await send("POST", "/user", { name: "Bob", username: "bob", email: "bob@example.com", password });
  await send("POST", `/orgs/${org["id"]}/members`, { user_id: user["id"], role: "member" });
  const answer = await fetch(`http://127.0.0.1:${binnacle.port}/api/v1/login`, {
    method: "POST",
    body: new URLSearchParams({ username: "bob", password }),
  });
  const { access_token } = (await answer.json()) as { access_token: string };
  return { authorization: `Bearer ${access_token}` };
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
