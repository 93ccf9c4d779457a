import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { Client } from "../world/client.ts";
import { runServerCommand } from "../world/server-command.ts";
import { dataFolder, isAlive, postmasterPid, refusedServer, startServer } from "../world/server-process.ts";

async function adminOf(url: string): Promise<Client> {
  const api = new Client(`${url}/api/v1`);
  const { body } = await api.send("POST", "/login", { form: { username: "admin", password: "binnacle" } });
  return api.with({ authorization: `Bearer ${body.access_token}` });
}

describe("the server as a process", () => {
  let data: Awaited<ReturnType<typeof dataFolder>>;
  beforeAll(async () => {
    data = await dataFolder();
  });
  afterAll(() => data.remove());

  test("[ST1] the server starts on an empty folder, prints how to sign in, and has its data when it starts again", async () => {
    const env = { BINNACLE_DATA_DIR: data.path };
    const first = await startServer(env);
    await vi.waitFor(() => expect(first.printed()).toMatch(/Console:.*sign in as admin \/ binnacle/));
    const admin = await adminOf(first.url);
    const seeded = await admin.get("/user/me");
    expect(seeded.body).toMatchObject({
      username: "admin",
      email: "admin@binnacle.local",
      is_superuser: true,
      organizations: [{ name: "demo", role: "admin" }],
    });
    await admin.post("/orgs", { name: "Kept" });
    first.signal("SIGTERM");
    expect(await first.exited).toBe(0);

    const again = await startServer(env);
    const { body } = await (await adminOf(again.url)).get("/orgs");
    expect(body.data.map((org: { name: string }) => org.name)).toEqual(["Kept", "demo"]);
    // Keys are kept too: a token of the first run still counts in the second.
    expect((await new Client(`${again.url}/api/v1`).get("/version")).status).toBe(401);
    again.signal("SIGINT");
    expect(await again.exited).toBe(0);
  });

  test("[ST2] a signal that comes twice at once, as through npm, stops the server as cleanly", async () => {
    const server = await startServer({ BINNACLE_DATA_DIR: data.path });
    const postmaster = await postmasterPid(data.path);
    server.signal("SIGINT");
    server.signal("SIGINT");
    expect(await server.exited).toBe(0);
    expect(isAlive(postmaster)).toBe(false);
  });

  test("[ST2] the server leaves no process behind when it stops", async () => {
    const server = await startServer({ BINNACLE_DATA_DIR: data.path });
    const postmaster = await postmasterPid(data.path);
    expect(isAlive(postmaster)).toBe(true);
    server.signal("SIGTERM");
    await server.exited;
    expect(isAlive(postmaster)).toBe(false);
  });

  test("[ST3] a second server on the same data folder is refused in one line, and the first one serves on", async () => {
    const env = { BINNACLE_DATA_DIR: data.path };
    const first = await startServer(env);
    const second = await refusedServer(env);
    expect(second.exitCode).toBe(1);
    expect(second.printed).toContain(data.path);
    expect(second.printed.trim().split("\n")).toHaveLength(1);
    expect((await fetch(`${first.url}/readyz`)).status).toBe(200);
    first.signal("SIGTERM");
    await first.exited;
  });

  test("[ST4] a configuration that cannot work stops the start with all that is wrong, and shows no secret", async () => {
    const refused = await refusedServer({
      BINNACLE_ENVIRONMENT: "production",
      BINNACLE_SECRET_KEY: "too-short-secret",
      BINNACLE_PROT: "80",
      BINNACLE_LOG_LEVEL: "loud",
    });
    expect(refused.exitCode).toBe(1);
    for (const name of [
      "BINNACLE_PROT",
      "BINNACLE_LOG_LEVEL",
      "BINNACLE_SECRET_KEY",
      "BINNACLE_VAULT_KEYS",
      "DATABASE_URL",
    ]) {
      expect(refused.printed).toContain(name);
    }
    expect(refused.printed).not.toContain("too-short-secret");
  });

  test("[DB601] a database of the PostgreSQL before is refused in one line, and everything in it comes along by the commands that it names", async () => {
    const folder = await dataFolder();
    onTestFinished(() => folder.remove());
    const env = { BINNACLE_DATA_DIR: folder.path };
    const [database, before, backup] = ["postgres", "postgres-17", "backup.gz"].map((name) => join(folder.path, name));
    const first = await startServer(env);
    await (await adminOf(first.url)).post("/orgs", { name: "Kept" });
    await runServerCommand(env, "backup", backup ?? "");
    first.signal("SIGTERM");
    await first.exited;
    const version = join(database ?? "", "PG_VERSION");
    const own = (await readFile(version, "utf8")).trim();
    await writeFile(version, "17\n");

    const refused = await refusedServer(env);
    expect([refused.exitCode, refused.printed.trim().split("\n").length]).toEqual([1, 1]);
    for (const word of ["PostgreSQL 17", `PostgreSQL ${own}`, "binnacle-server backup", "binnacle-server restore"]) {
      expect(refused.printed).toContain(word);
    }
    await rename(database ?? "", before ?? "");
    await runServerCommand(env, "restore", backup ?? "");
    const again = await startServer(env);
    const { body } = await (await adminOf(again.url)).get("/orgs");
    expect(body.data.map((org: { name: string }) => org.name)).toEqual(["Kept", "demo"]);
    again.signal("SIGTERM");
    await again.exited;
    // Three servers and two commands are started one after another.
  }, 180_000);
});
