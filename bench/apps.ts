import type { Database } from "../packages/server/src/database/connection.adapter.ts";
import { newId } from "../packages/server/src/id.adapter.ts";
import { measure, middleOf, printRounds, ratio } from "./rounds.ts";
import { withStage } from "./stage.ts";
import { printTable } from "./table.ts";

/** Creating and reading an app against the same statements by hand, and lists of few and of many apps. */

const COMPONENTS = [
  {
    name: "web",
    workload_spec: {
      image: "nginx:1.29",
      replicas: 2,
      ports: [{ name: "http", port: 80 }],
      env: [{ name: "LOG_LEVEL", value: "info" }],
    },
  },
];

/** The creates of a cluster wait for its row, so they are spread over several, as in a fleet. */
const CLUSTERS = 16;

/** With the upkeep that every installation has, which adds up the totals of lists every ten seconds. */
const ROLES = "api,worker";

await withStage(async ({ binnacle, database, sessionId, orgId, headers, send, peer, settle }) => {
  const cluster = await send("POST", `/orgs/${orgId}/clusters`, { name: "bench" });
  const project = await send("POST", "/projects", { name: "bench", cluster_id: cluster["id"] });
  const other = await send("POST", "/projects", { name: "peer", cluster_id: cluster["id"] });
  const spread: { ours: string[]; theirs: string[] } = { ours: [], theirs: [] };
  for (let at = 0; at < CLUSTERS; at++) {
    const { id } = await send("POST", `/orgs/${orgId}/clusters`, { name: `bench-${at}` });
    for (const [name, ids] of Object.entries(spread))
      ids.push((await send("POST", "/projects", { name, cluster_id: id }))["id"] ?? "");
  }
  await send("POST", "/apps", { name: "first", project_id: project["id"], components: COMPONENTS });
  await send("POST", "/apps", { name: "first", project_id: other["id"], components: COMPONENTS });
  const peers = await peer("bench/peers.ts", {
    SESSION_ID: sessionId,
    ORG_ID: orgId,
    PROJECT_ID: other["id"] ?? "",
    CREATE_IN: spread.theirs.join(),
    NAMESPACE: "peer",
    APP: "first",
  });

  let made = 0;
  const body = () =>
    JSON.stringify({ name: `app-${++made}`, components: COMPONENTS, project_id: spread.ours[made % CLUSTERS] });
  const list = { process: binnacle, path: `/api/v1/apps?project_id=${project["id"]}`, headers };

  await fillApps(database, project, 1_000);
  await fillApps(database, other, 1_000);
  await settle();
  const seen = await measure({
    "(b) read by hand": { process: peers, path: "/app" },
    "GET /apps/{namespace}/{name}": {
      process: binnacle,
      path: `/api/v1/apps/bench/first?project_id=${project["id"]}`,
      headers,
    },
    "(b) list by hand": { process: peers, path: "/list" },
    "GET /apps at 1,000 apps": list,
    "(b) create by hand": { process: peers, path: "/apps", body },
    "POST /apps": { process: binnacle, path: "/api/v1/apps", headers, body },
  });
  await fillApps(database, project, 100_000);
  await settle();
  const large = await measure({ "GET /apps at 100,000 apps": list });

  printRounds({ ...seen, ...large });
  printTable(
    ["figure", "aim", "seen"],
    [
      [
        "app create, of the same statements by hand",
        "≥ 0.60",
        ratio("perSecond", seen["POST /apps"], seen["(b) create by hand"]),
      ],
      [
        "app read, of the same statement by hand",
        "≥ 0.85",
        ratio("perSecond", seen["GET /apps/{namespace}/{name}"], seen["(b) read by hand"]),
      ],
      [
        "app list, of the list by hand",
        "≥ 0.70",
        ratio("perSecond", seen["GET /apps at 1,000 apps"], seen["(b) list by hand"]),
      ],
      ["server CPU of a create", "≤ 1,500 µs", `${middleOf(seen["POST /apps"], "cpuUsPerRequest").toFixed(0)} µs`],
      [
        "p99 of a list at 100,000 apps, of that at 1,000",
        "≤ 2.00",
        ratio("p99Ms", large["GET /apps at 100,000 apps"], seen["GET /apps at 1,000 apps"]),
      ],
    ],
  );
}, ROLES);

async function fillApps({ kysely: db, pool }: Database, project: Record<string, string>, upTo: number): Promise<void> {
  const { rows } = await pool.query<{ count: number }>("select count(*) from apps where project_id = $1", [
    project["id"],
  ]);
  const now = new Date();
  for (let count = rows[0]?.count ?? 0; count < upTo; ) {
    const batch = Array.from({ length: Math.min(1_000, upTo - count) }, (_, index) => ({
      id: newId(),
      org_id: project["org_id"] ?? "",
      cluster_id: project["cluster_id"] ?? "",
      project_id: project["id"] ?? "",
      namespace: project["namespace"] ?? "",
      name: `filled-${count + index}`,
      components: JSON.stringify(COMPONENTS),
      generation: 1,
      revision: 1,
      phase: "pending" as const,
      created_at: now,
      updated_at: now,
    }));
    await db.insertInto("apps").values(batch).execute();
    count += batch.length;
  }
}
