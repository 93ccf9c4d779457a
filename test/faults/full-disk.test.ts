import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, type TestContext, test, vi } from "vitest";
import { locateFolders } from "../../packages/server/src/database/embedded/folders.adapter.ts";
import { query } from "../../packages/server/src/database/embedded/harness.fixture.ts";
import { until } from "../../packages/server/src/database/embedded/leftovers.fixture.ts";
import { Supervisor } from "../../packages/server/src/database/embedded/supervisor.adapter.ts";
import { type Answer, Client } from "../world/client.ts";
import { startServer } from "../world/server-process.ts";
import { smallDisk } from "../world/small-disk.ts";

const MEGABYTES = 160;
const FULL = expect.stringContaining("disk of the database is full");

/** A data folder on a disk that can be filled to the last byte, and emptied again. */
async function folderToFill(skip: TestContext["skip"]) {
  const disk = await smallDisk(MEGABYTES).catch((error: Error) =>
    skip(`It takes a disk of its own, and this machine mounts none: ${error.message}`),
  );
  onTestFinished(() => disk.remove());
  const filler = join(disk.folder, "filler");
  return {
    path: join(disk.folder, "data"),
    fill: () => writeFile(filler, Buffer.alloc(MEGABYTES * 2 ** 20)).catch(() => undefined),
    empty: () => rm(filler),
  };
}

/** Writes more than the log of changes has room for, which ends all of PostgreSQL. */
async function endByFullLog(folder: string): Promise<void> {
  const message = "select pg_logical_emit_message(true, 'test', repeat('x', 60000000))";
  const connection = { host: folder, port: 5432, user: "binnacle", database: "postgres" };
  await expect(query(connection, message)).rejects.toMatchObject({ code: "53100" });
}

interface Said {
  readonly detail: string;
}

interface Names {
  readonly data: readonly { readonly name: string }[];
  readonly next_cursor: string | null;
}

async function everyOrgName(api: Client): Promise<string[]> {
  const names: string[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const { body }: Answer<Names> = await api.get(`/orgs?items_per_page=100${cursor && `&cursor=${cursor}`}`);
    names.push(...body.data.map(({ name }) => name));
    cursor = body.next_cursor;
  }
  return names;
}

test("[DB600] while the disk of the built-in database is full, each change is a 503 that says so, also when PostgreSQL has ended for it, and everything acknowledged is there when there is room", async ({
  skip,
}) => {
  const data = await folderToFill(skip);
  const server = await startServer({ BINNACLE_DATA_DIR: data.path });
  onTestFinished(async () => {
    server.signal("SIGTERM");
    await server.exited;
  });
  const anyone = new Client(`${server.url}/api/v1`);
  const { body } = await anyone.send("POST", "/login", { form: { username: "admin", password: "binnacle" } });
  const api = anyone.with({ authorization: `Bearer ${body.access_token}` });
  const answers: { readonly name: string; readonly answer: Answer<Said> }[] = [];
  const change = async () => {
    const name = `org ${answers.length}`;
    const answer = await api.post("/orgs", { name, description: "x".repeat(400) });
    answers.push({ name, answer });
    return answer;
  };
  const refused = () => vi.waitFor(async () => expect((await change()).body.detail).toEqual(FULL), { timeout: 20_000 });

  expect((await change()).status).toBe(201);
  await data.fill();
  await refused();
  expect((await api.get("/orgs")).status).toBe(200);

  await endByFullLog(join(data.path, "postgres"));
  await refused();
  expect(await api.get("/orgs")).toMatchObject({ status: 503, body: { detail: FULL } });
  const ready = await fetch(`${server.url}/readyz`);
  expect([ready.status, await ready.json()]).toEqual([503, { status: "database out of disk space" }]);

  await data.empty();
  await vi.waitFor(async () => expect((await change()).status).toBe(201), { timeout: 20_000 });
  expect(new Set(answers.map(({ answer }) => answer.status))).toEqual(new Set([201, 503]));
  const stored = await everyOrgName(api);
  const named = (isWanted: (answer: Answer<Said>) => boolean) =>
    answers.filter(({ answer }) => isWanted(answer)).map(({ name }) => name);
  expect(named(({ status }) => status === 201).filter((name) => !stored.includes(name))).toEqual([]);
  const notStored = named(({ status, body }) => status === 503 && body.detail.includes("was not stored"));
  expect(notStored.filter((name) => stored.includes(name))).toEqual([]);
});

test("[DB600] a database that has ended for a full disk is not given up, however long it takes until there is room", async ({
  skip,
}) => {
  const data = await folderToFill(skip);
  const logged: string[] = [];
  const lost: Error[] = [];
  const givenUpAfterMs = 2_000;
  const folders = await locateFolders(data.path);
  const supervisor = new Supervisor(
    folders,
    (message) => logged.push(message),
    (error) => lost.push(error),
    givenUpAfterMs,
  );
  onTestFinished(() => supervisor.stop());
  const { socket } = await supervisor.start();
  await data.fill();
  await endByFullLog(socket.folder);
  await until(() => supervisor.isOutOfRoom);
  const fullSince = performance.now();
  await until(() => performance.now() - fullSince > 1.5 * givenUpAfterMs);
  expect([supervisor.isOutOfRoom, lost]).toEqual([true, []]);
  expect(logged.filter((message) => message.includes("disk of the database is full"))).toHaveLength(1);

  await data.empty();
  await until(() => logged.includes("the database is back"));
  expect(supervisor.isOutOfRoom).toBe(false);
});
