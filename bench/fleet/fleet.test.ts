import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { childEnvironment } from "../../test/world/child-environment.ts";
import { Client } from "../../test/world/client.ts";
import { descendantsOf } from "../../test/world/descendants.ts";
import { dataFolder, isAlive, type ServerProcess, startServer } from "../../test/world/server-process.ts";

const COMMAND = fileURLToPath(new URL("./fleet.command.ts", import.meta.url));
const LONG = { timeout: 180_000 };

let temporary: string;
beforeEach(async () => {
  temporary = await mkdtemp(join(tmpdir(), "fleet-test-"));
});
afterEach(() => rm(temporary, { recursive: true, force: true }));

function start(...given: string[]) {
  const env = { ...childEnvironment(), TMPDIR: temporary };
  const child = spawn(process.execPath, [COMMAND, ...given], { env });
  let printed = "";
  for (const output of [child.stdout, child.stderr]) output.on("data", (chunk) => (printed += chunk));
  const ended = once(child, "close").then(([code]) => code as number | null);
  return { child, ended, printed: () => printed };
}

async function fleet(...given: string[]) {
  const { ended, printed } = start(...given);
  return { code: await ended, printed: printed() };
}

test("[FL1] a wrong option is reported with the usage, and nothing is started", async () => {
  const { code, printed } = await fleet("--clusters", "none");
  expect(code, printed).toBe(2);
  expect(printed).toContain("--clusters must be a whole number from 1 to 10000.");
  expect(printed).toContain("Usage: npm run fleet");
});

describe("a fleet with a control plane of its own", () => {
  test("[FL6] [FL7] a fleet converges, also after a kill, loses nothing and leaves nothing behind", LONG, async () => {
    const { code, printed } = await fleet("--clusters", "3", "--apps", "2", "--processes", "2");
    expect(code, printed).toBe(0);
    for (const figure of ["connects a second", "commit → ready, p50 / p99", "memory of all clusters at the end"]) {
      expect(printed).toContain(figure);
    }
    expect(printed).toMatch(/memory of its database at the end +[1-9]/);
    expect(printed).toMatch(/killing the control plane/);
    expect(printed).toMatch(/all operators back, after the kill +\d/);
    expect(printed).toMatch(/accepted changes that were lost or differ +0\n/);
    // The database, too, which has outlived the kill.
    expect(descendantsOf(0).filter(({ command }) => command.includes(temporary))).toEqual([]);
    expect(await readdir(temporary)).toEqual([]);
  });

  test("[FL7] a fleet that is broken off leaves nothing behind, and ends with exit code 1", LONG, async () => {
    const { child, ended, printed } = start("--clusters", "2", "--processes", "1");
    const isUnderWay = () => printed().includes("registering");
    while (!isUnderWay()) await Promise.race([once(child.stdout, "data"), ended.then(() => expect.fail(printed()))]);
    const started = descendantsOf(child.pid ?? 0);
    expect(started.length).toBeGreaterThan(1);
    child.kill("SIGTERM");
    expect(await ended, printed()).toBe(1);
    expect(printed()).toContain("Broken off by SIGTERM.");
    expect(started.filter(({ pid }) => isAlive(pid))).toEqual([]);
    expect(await readdir(temporary)).toEqual([]);
  });
});

describe("a fleet on a control plane that runs already", () => {
  let data: Awaited<ReturnType<typeof dataFolder>>;
  let server: ServerProcess;
  let admin: Client;
  beforeAll(async () => {
    data = await dataFolder();
    server = await startServer({ BINNACLE_DATA_DIR: data.path });
    const api = new Client(`${server.url}/api/v1`);
    const { body } = await api.send("POST", "/login", { form: { username: "admin", password: "binnacle" } });
    admin = api.with({ authorization: `Bearer ${body.access_token}` });
  });
  afterAll(async () => {
    server?.signal("SIGTERM");
    await server?.exited;
    await data?.remove();
  });

  const orgNames = async (): Promise<string[]> =>
    (await admin.get("/orgs?items_per_page=100")).body.data.map(({ name }: { name: string }) => name);

  test("[FL7] a fleet does not kill a running control plane, and removes what it has made there", LONG, async () => {
    const before = await orgNames();
    const { code, printed } = await fleet("--url", server.url, "--clusters", "2", "--processes", "1");
    expect(code, printed).toBe(0);
    expect(printed).not.toContain("killing");
    expect(await orgNames()).toEqual(before);
    expect((await admin.get("/projects")).body.total_count).toBe(0);
  });

  test("[FL7] a fleet on a running control plane keeps its organization with --keep", LONG, async () => {
    const { code, printed } = await fleet("--url", server.url, "--clusters", "1", "--processes", "1", "--keep");
    expect(code, printed).toBe(0);
    const name = /The organization "(fleet [0-9a-f]{8})" is kept/.exec(printed)?.[1];
    expect(await orgNames()).toContain(name);
  });

  test("[FL6] a fleet ends with 1 where it cannot sign in", LONG, async () => {
    const { code, printed } = await fleet("--url", server.url, "--username", "nobody", "--clusters", "1");
    expect(code, printed).toBe(1);
    expect(printed).toContain("Nobody could sign in");
  });
});
