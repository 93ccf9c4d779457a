import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runWithSandbox, type SandboxRun } from "../world/sandbox-run.ts";
import { dataFolder } from "../world/server-process.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const ADDRESS = "http://127.0.0.1:8080";

/** The blocks of commands in a section of the README. */
function commandsOf(section: string): string[] {
  const text = readFileSync(`${ROOT}README.md`, "utf8");
  const [, after = ""] = text.split(`\n## ${section}\n`);
  const [own = ""] = after.split("\n## ");
  return [...own.matchAll(/```sh\n(.*?)```/gs)].map(([, block = ""]) => block);
}

let data: Awaited<ReturnType<typeof dataFolder>>;
let run: SandboxRun;
beforeAll(async () => {
  data = await dataFolder();
  run = await runWithSandbox(data.path);
});
afterAll(async () => {
  run?.server.signal("SIGTERM");
  await run?.server.exited;
  await data.remove();
});

test("[SB9] the commands of the README's first session lead to an app that runs, logs and is scaled", async () => {
  const blocks = commandsOf("A first session");
  expect(blocks).toHaveLength(4);
  // One shell for all, as a person has; an answer that is no success ends it.
  const marked = blocks.map((block) => `${block}printf '\\n=====\\n'\n`).join("");
  const script = `curl() { command curl --fail-with-body "$@"; }\nset -e\n${marked.replaceAll(ADDRESS, run.server.url)}`;
  const { stdout } = await promisify(execFile)("sh", ["-c", script], { cwd: ROOT, timeout: 100_000 });
  const [cluster, deployed, logs, scaled] = stdout.split("\n=====\n");
  expect(cluster).toContain('"name":"sandbox"');
  expect(deployed).toContain('"message":"web-app is being deployed."');
  expect(logs).toMatch(/event: log\ndata: \{"component":"web"/);
  expect(scaled).toContain('"operation":"scale"');
}, 120_000);
