import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeRunFolder, removeAbandonedRuns, removeRun } from "./run-folder.ts";
import { isAlive, postmasterPid } from "./server-process.ts";

const EMBEDDED = new URL("../../packages/server/src/database/embedded/embedded.adapter.ts", import.meta.url).href;

/** Starts a database and a program, as a test does, and never ends them. */
const WORKER = `
  import { spawn } from "node:child_process";
  import { startEmbeddedPostgres } from ${JSON.stringify(EMBEDDED)};
  await startEmbeddedPostgres({ dataDir: process.argv[1], log: () => undefined });
  const program = spawn("sleep", ["3600"], { env: { ...process.env, KUBECONFIG: process.argv[1] + "/kubeconfig" } });
  process.stdout.write(String(program.pid));
`;

test("[DB23] a run whose worker was killed leaves no process and no folder", async () => {
  const run = await makeRunFolder(tmpdir());
  const dataDir = join(run, "data");
  const worker = spawn(process.execPath, ["--input-type=module", "-e", WORKER, dataDir], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(worker, "exit");
  const program = Number((await once(worker.stdout, "data"))[0]);
  const postmaster = await postmasterPid(dataDir);
  worker.kill("SIGKILL");
  await exited;
  expect([program, postmaster].map(isAlive)).toEqual([true, true]);

  await removeRun(run);
  expect([program, postmaster].map(isAlive)).toEqual([false, false]);
  expect(existsSync(run)).toBe(false);
}, 60_000);

test("[DB23] a run that was killed is cleared away by the next one, and a run that goes on is not touched", async () => {
  const place = await mkdtemp(join(tmpdir(), "place-"));
  const [ended] = [spawn("true")];
  await once(ended, "exit");
  const dead = join(place, `bt-${ended.pid}-abcdef`);
  const others = join(place, "somebody-elses");
  for (const folder of [dead, others]) await mkdir(folder);
  await writeFile(join(dead, "file"), "");
  const going = await makeRunFolder(place);
  await removeAbandonedRuns(place);
  expect([dead, others, going].map((folder) => existsSync(folder))).toEqual([false, true, true]);
  await rm(place, { recursive: true });
});
