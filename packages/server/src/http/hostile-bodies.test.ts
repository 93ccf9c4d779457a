// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a placeholder of a template
import { readFileSync, writeFileSync } from "node:fs";
import { Client, startWorld } from "@binnacle/world";
import { freshDatabase } from "@binnacle/world/database";
import { dataFolder, startServer } from "@binnacle/world/server-process";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { openShop, WEB } from "../apps/app.fixture.ts";
import { HOSTILE_BODIES, type Target } from "./hostile-bodies.fixture.ts";

/** How long others may have to wait for each of them. */
const LONGEST_WAIT_MS = 200;
/** All of them together, one after the other. */
const MOST_GROWTH_BYTES = 100 * 1024 * 1024;
const LARGEST_REFUSAL_BYTES = 64 * 1024;

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const shop = await openShop(world);
const { org, project, namespace, cluster, editor } = shop;
const target = await targetOf(editor.api, { org, project, namespace, cluster, userId: editor.id });
afterAll(() => world.stop());

type Place = Pick<Target, "org" | "project" | "namespace" | "cluster" | "userId">;

/** With an app and a template in the project. */
async function targetOf(api: Client, place: Place): Promise<Target> {
  const { org, project, namespace } = place;
  const [template, app] = ["patterned", "web"];
  const made = [
    await api.post("/apps", { name: app, project_id: project, components: [WEB] }),
    await api.post("/stack-templates", {
      name: template,
      namespace,
      org_id: org,
      parameters: [{ name: "text", type: "string", required: true, pattern: "^(a+)+$" }],
      components: [{ name: "web", workload_spec: { image: "nginx", args: ["${text}"] } }],
    }),
  ];
  expect(made.map(({ status }) => status)).toEqual([201, 201]);
  const definitions = await api.get("/addon-definitions");
  const addonDefinition = definitions.body.data[0].id;
  return {
    ...place,
    template,
    appPath: `/apps/${namespace}/${app}`,
    appQuery: `?project_id=${project}`,
    addonDefinition,
  };
}

/**
 * The longest time for which the event loop served nobody else. It is counted in the CPU time of this very thread, which
 * is the server's: that is the delay on a machine that does nothing else, and it is the same on one that is busy. What
 * the client does in the same thread makes the figure larger and never smaller.
 */
function watchLoop(): () => number {
  let longestUs = 0;
  let last = process.threadCpuUsage();
  const measure = () => {
    const { user, system } = process.threadCpuUsage(last);
    longestUs = Math.max(longestUs, user + system);
    last = process.threadCpuUsage();
  };
  const timer = setInterval(measure, 1);
  return () => {
    clearInterval(timer);
    measure();
    return longestUs / 1000;
  };
}

interface Outcome {
  readonly what: string;
  readonly status: number;
  readonly waitMs: number;
  readonly answer: { readonly detail?: unknown };
}

async function outcomesOf(api: Client, at: Target): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const hostile of HOSTILE_BODIES) {
    const first = await outcomeOf(api, at, hostile);
    // The first request of an operation compiles its schema, which no body can make happen again.
    outcomes.push(first.waitMs > LONGEST_WAIT_MS ? await outcomeOf(api, at, hostile) : first);
  }
  return outcomes;
}

async function outcomeOf(api: Client, at: Target, hostile: (typeof HOSTILE_BODIES)[number]): Promise<Outcome> {
  const { what, method, path, sending } = hostile;
  const prepared = sending(at);
  const waited = watchLoop();
  const { status, body } = await api.send(method, path(at), prepared);
  return { what, status, waitMs: waited(), answer: body as object };
}

const slowIn = (outcomes: readonly Outcome[]) => outcomes.filter(({ waitMs }) => waitMs > LONGEST_WAIT_MS);

describe("hostile bodies", () => {
  test("[CV40] there are at least forty hostile bodies, each of another kind", () => {
    expect(new Set(HOSTILE_BODIES.map(({ what }) => what)).size).toBe(HOSTILE_BODIES.length);
    expect(HOSTILE_BODIES.length).toBeGreaterThanOrEqual(40);
  });

  test("[CV40] hostile bodies of a user keep nobody waiting, and get short answers", { timeout: 300_000 }, async () => {
    const outcomes = await outcomesOf(shop.editor.api, target);
    expect(slowIn(outcomes)).toEqual([]);
    expect(outcomes.filter(({ status }) => status >= 500)).toEqual([]);
    const refusals = outcomes.filter(({ status }) => status === 422);
    expect(refusals.length).toBeGreaterThan(35);
    for (const { answer } of refusals) {
      expect((answer.detail as unknown[]).length).toBeLessThanOrEqual(100);
      expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThanOrEqual(LARGEST_REFUSAL_BYTES);
    }
  });

  test("[CV40] hostile bodies of strangers are refused or have at most 16 KiB", { timeout: 120_000 }, async () => {
    const outcomes = await outcomesOf(world.anyone, target);
    expect(slowIn(outcomes)).toEqual([]);
    const open = outcomes.filter(({ status }) => status !== 401).map(({ what, status }) => [what, status]);
    expect(open).toEqual([
      ["a login of many fields", 422],
      ["a login of a megabyte", 413],
      ["many scopes", 422],
      ["a long code", 422],
    ]);
  });

  test.runIf(process.platform === "linux")(
    "[CV40] hostile bodies take little memory of the process that serves them",
    { timeout: 300_000 },
    async () => {
      const { pid, api, there } = await serverOfItsOwn();
      // The memory of an ordinary request does not count as growth: the YAML thread starts with the first of them.
      await api.send("POST", "/stack-templates/from-yaml", { parts: { yaml_content: "name: web" } });
      const before = memoryOf(pid, "VmRSS");
      writeFileSync(`/proc/${pid}/clear_refs`, "5");
      await outcomesOf(api, there);
      expect(memoryOf(pid, "VmHWM") - before).toBeLessThan(MOST_GROWTH_BYTES);
    },
  );
});

/** As the system counts it, of the process now (VmRSS) or at the most since the count was started anew (VmHWM). */
function memoryOf(pid: number, count: "VmRSS" | "VmHWM"): number {
  const [, kibibytes] =
    new RegExp(`^${count}:\\s+(\\d+) kB$`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kibibytes) * 1024;
}

async function serverOfItsOwn() {
  const data = await dataFolder();
  const database = await freshDatabase();
  const server = await startServer({
    BINNACLE_DATA_DIR: data.path,
    DATABASE_URL: database.url,
    BINNACLE_ROLES: "api",
    BINNACLE_HUB_PORT: "0",
    // Without a limit, garbage stays for as long as the machine has room, and counts as memory that is needed.
    NODE_OPTIONS: "--max-old-space-size=192 --max-semi-space-size=8",
  });
  onTestFinished(async () => {
    server.signal("SIGTERM");
    await server.exited;
    await database.drop();
    await data.remove();
  });
  const anyone = new Client(`${server.url}/api/v1`);
  const { body } = await anyone.send("POST", "/login", { form: { username: "admin", password: "binnacle" } });
  const api = anyone.with({ authorization: `Bearer ${body.access_token}` });
  const me = (await api.get("/user/me")).body;
  const org = me.organizations[0].id;
  const cluster = (await api.post(`/orgs/${org}/clusters`, { name: "one" })).body.id;
  const { id: project, namespace } = (await api.post("/projects", { name: "shop", cluster_id: cluster })).body;
  return { pid: server.pid, api, there: await targetOf(api, { org, project, namespace, cluster, userId: me.id }) };
}
