import { parseArgs } from "node:util";
import { COMPONENTS, fillApps } from "./filled-apps.ts";
import { measure, middleOf, printRounds, ratio } from "./rounds.ts";
import { withStage } from "./stage.ts";
import { printFigures } from "./table.ts";

/**
 * Creating and reading an app against the same statements by hand, and lists of few and of many apps (`--apps 100000`). Ends with 1
 * where a ratio of reads or lists is missed.
 */
const { values: given } = parseArgs({ options: { apps: { type: "string", default: "1000000" } } });
const MANY = Number(given.apps);
const AT_MANY = `GET /apps at ${MANY.toLocaleString("en")} apps`;

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
  await fillApps(database, project, MANY);
  await settle();
  const large = await measure({ [AT_MANY]: list });

  printRounds({ ...seen, ...large });
  printFigures([
    {
      name: "app create, of the same statements by hand",
      value: ratio("perSecond", seen["POST /apps"], seen["(b) create by hand"]),
      ...{ atLeast: 0.85, isReported: true },
    },
    {
      name: "app read, of the same statement by hand",
      value: ratio("perSecond", seen["GET /apps/{namespace}/{name}"], seen["(b) read by hand"]),
      atLeast: 0.85,
    },
    {
      name: "app list, of the list by hand",
      value: ratio("perSecond", seen["GET /apps at 1,000 apps"], seen["(b) list by hand"]),
      atLeast: 0.7,
    },
    {
      name: "server CPU of a create",
      value: middleOf(seen["POST /apps"], "cpuUsPerRequest"),
      ...{ atMost: 1_000, unit: "µs", isReported: true },
    },
    {
      name: `p99 of a list at ${MANY.toLocaleString("en")} apps, of that at 1,000`,
      value: ratio("p99Ms", large[AT_MANY] ?? [], seen["GET /apps at 1,000 apps"]),
      ...{ atMost: 2, isReported: true },
    },
  ]);
}, ROLES);
