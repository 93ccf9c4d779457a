import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runWithSandbox, type SandboxRun } from "../world/sandbox-run.ts";
import { dataFolder } from "../world/server-process.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const ADDRESS = "http://127.0.0.1:8080";

const read = (file: string) => readFileSync(`${ROOT}${file}`, "utf8");

/** The blocks of commands in a text. */
const commandsOf = (text: string) => [...text.matchAll(/```sh\n(.*?)```/gs)].map(([, block = ""]) => block);

/** A section of the README. */
function section(name: string): string {
  const [, after = ""] = read("README.md").split(`\n## ${name}\n`);
  const [own = ""] = after.split("\n## ");
  return own;
}

let data: Awaited<ReturnType<typeof dataFolder>>;
let run: SandboxRun;
beforeAll(async () => {
  data = await dataFolder();
  run = await runWithSandbox(data.path);
  await run.connected();
});
afterAll(async () => {
  run?.server.signal("SIGTERM");
  await run?.server.exited;
  await data.remove();
});

test("[SB9] the five commands of the README's first session lead to an app that runs, logs and is scaled", async () => {
  const [block = "", ...others] = commandsOf(section("A first session"));
  expect(others).toEqual([]);
  expect(block.trimEnd().split("\n")).toHaveLength(5);
  const config = mkdtempSync(join(tmpdir(), "binnacle-first-"));
  // npx without the network, as after `npm ci`; what it warns of is the machine's own configuration.
  const env = { ...process.env, XDG_CONFIG_HOME: config, npm_config_offline: "true", npm_config_loglevel: "error" };
  const script = `set -e\n${block.replaceAll(ADDRESS, run.server.url)}`;
  const { stdout, stderr } = await promisify(execFile)("sh", ["-c", script], { cwd: ROOT, env, timeout: 100_000 });
  rmSync(config, { recursive: true });
  expect(stdout).toMatch(/^NAME +shop$/m);
  expect(stdout).toContain("level=info");
  expect(stderr).toContain("shop/web-app is running (revision 1).");
  expect(stderr).toContain("shop/web-app is running (revision 2).");
}, 120_000);

test("[SB9] the same session with curl leads there too", async () => {
  const blocks = commandsOf(read("docs/curl.md"));
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
