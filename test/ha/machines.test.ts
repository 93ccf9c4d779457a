import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { Client } from "../world/client.ts";
import { dataFolder, startServer } from "../world/server-process.ts";
import { smallDisk } from "../world/small-disk.ts";
import { changesArrive, install } from "./installation.ts";
import { signedIn } from "./load.ts";
import { DATABASE_USER, startPostgres } from "./services.ts";

test("[HA6] on a full disk nothing is acknowledged that is not stored, the answer says why, and writes work again with room", async () => {
  const disk = await smallDisk(96, DATABASE_USER);
  onTestFinished(() => disk.remove());
  const postgres = await startPostgres(disk.folder, { wal_level: "minimal", max_wal_senders: 0, max_wal_size: "32MB" });
  onTestFinished(() => postgres.kill("SIGINT"));
  const data = await dataFolder();
  onTestFinished(() => data.remove());
  const server = await startServer({
    BINNACLE_DATA_DIR: data.path,
    DATABASE_URL: `postgres://binnacle@127.0.0.1:${postgres.port}/postgres`,
  });
  onTestFinished(async () => {
    server.signal("SIGTERM");
    await server.exited;
  });
  const anyone = new Client(`${server.url}/api/v1`);
  const { body } = await anyone.send("POST", "/login", { form: { username: "admin", password: "binnacle" } });
  const api = anyone.with({ authorization: `Bearer ${body.access_token}` });

  const filler = join(disk.folder, "filler");
  await writeFile(filler, Buffer.alloc(96 * 2 ** 20)).catch(() => undefined);
  const acknowledged: string[] = [];
  let refused: { status: number; body: { detail?: string } } | null = null;
  for (let count = 0; count < 3_000 && refused === null; count++) {
    const made = await api.post("/orgs", { name: `org ${count}`, description: "x".repeat(400) });
    if (made.status === 201) acknowledged.push(made.body.id);
    else refused = made;
  }
  expect(refused).toMatchObject({
    status: 503,
    body: { detail: expect.stringContaining("the disk of the database is full") },
  });
  expect((await api.get("/orgs")).status).toBe(200);

  await rm(filler);
  await vi.waitFor(async () => expect((await api.post("/orgs", { name: "with room again" })).status).toBe(201));
  for (const id of acknowledged) expect((await api.get(`/orgs/${id}`)).status).toBe(200);
});

test.each([
  ["ahead of", 600_000],
  ["behind", -600_000],
])(
  "[HA7] a process whose clock is 10 minutes %s that of the database works beside another: sessions stay, and each takes the tokens of the other",
  async (where, offMs) => {
    const skewed = new URL(`skewed-clock.ts?ms=${offMs}`, import.meta.url).href;
    const installation = await install({ loading: { nodeArguments: ["--import", skewed] } });
    onTestFinished(() => installation.stop());
    const [right, wrong] = installation.servers;
    expect(wrong?.printed()).toContain(`600 seconds ${where} that of the database`);
    for (const [issuer, reader] of [
      [right, wrong],
      [wrong, right],
    ]) {
      const { session } = await signedIn(issuer?.url ?? "");
      const api = new Client(`${reader?.url}/api/v1`, { authorization: `Bearer ${session?.accessToken}` });
      const made = await api.post("/orgs", { name: `by ${reader?.url}` });
      expect(made.status).toBe(201);
      expect((await api.get(`/orgs/${made.body.id}`)).status).toBe(200);
    }
    await changesArrive(installation.clusters, await signedIn(installation.url));
    expect(installation.operators.every(({ link }) => link.isLive)).toBe(true);
  },
);
