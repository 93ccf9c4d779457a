import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { blocksOf, commandOf, commandsOf, readPage } from "../world/guide.ts";
import { runWithSandbox, type SandboxRun } from "../world/sandbox-run.ts";
import { dataFolder } from "../world/server-process.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const ADDRESS = "http://127.0.0.1:8080";

/** The blocks of commands in a text. */
const scriptsOf = (text: string) => blocksOf(text, "sh");

/** A section of the README. */
function section(name: string): string {
  const [, after = ""] = readPage("README.md").split(`\n## ${name}\n`);
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
  const [block = "", ...others] = scriptsOf(section("A first session"));
  expect(others).toEqual([]);
  expect(block.trimEnd().split("\n")).toHaveLength(5);
  const config = mkdtempSync(join(tmpdir(), "binnacle-first-"));
  // npx without the network, as after `npm ci`; what it warns of is the machine's own configuration.
  const env = { ...process.env, XDG_CONFIG_HOME: config, npm_config_offline: "true", npm_config_loglevel: "error" };
  const script = `set -e\n${block.replaceAll(ADDRESS, run.server.url)}`;
  const { stdout, stderr } = await promisify(execFile)("sh", ["-c", script], { cwd: ROOT, env, timeout: 100_000 });
  rmSync(config, { recursive: true });
  expect(stdout).toContain("level=info");
  expect(stderr).toContain("shop is ready.");
  expect(stderr).toContain("shop/web-app is running (revision 1).");
  expect(stderr).toContain("shop/web-app is running (revision 2).");
}, 120_000);

test("[SB9] the same first session with curl leads to an app that runs, logs and is scaled", async () => {
  const blocks = scriptsOf(readPage("docs/curl.md"));
  expect(blocks).toHaveLength(4);
  // One shell for all, as a person has; an answer that is not a success ends it.
  const marked = blocks.map((block) => `${block}printf '\\n=====\\n'\n`).join("");
  const script = `curl() { command curl --fail-with-body "$@"; }\nset -e\n${marked.replaceAll(ADDRESS, run.server.url)}`;
  const { stdout } = await promisify(execFile)("sh", ["-c", script], { cwd: ROOT, timeout: 100_000 });
  const [cluster, deployed, logs, scaled] = stdout.split("\n=====\n");
  expect(cluster).toContain('"name":"sandbox"');
  expect(deployed).toContain('"message":"web-app is being deployed."');
  expect(logs).toMatch(/event: log\ndata: \{"component":"web"/);
  expect(scaled).toContain('"operation":"scale"');
}, 120_000);

test("[SB1812] the commands on the pages about the concepts lead from a project to an app with an export, a rollback and its end", async () => {
  const folder = mkdtempSync(join(tmpdir(), "binnacle-concepts-"));
  const structure = readPage("docs/concepts/structure.md");
  const [manifest = "", ...others] = blocksOf(structure, "yaml");
  expect(others).toEqual([]);
  writeFileSync(join(folder, "binnacle.yaml"), manifest);
  const [login = ""] = scriptsOf(section("A first session"));
  const signIn = login.split("\n")[0]?.replace("npx ", "").replaceAll(ADDRESS, run.server.url);
  const blocks = [structure, readPage("docs/concepts/changes.md")].flatMap(scriptsOf);
  const env = { ...process.env, XDG_CONFIG_HOME: folder, PATH: `${ROOT}node_modules/.bin:${process.env["PATH"]}` };
  const script = ["set -e", signIn, ...blocks].join("\n");
  const { stdout, stderr } = await promisify(execFile)("sh", ["-c", script], { cwd: folder, env, timeout: 200_000 });
  rmSync(folder, { recursive: true });
  expect(stderr).toContain("concepts/store is running (revision 1).");
  expect(stderr).toContain("concepts/store is running (revision 3).");
  expect(stdout).toContain("store-web");
}, 240_000);

test("[SB1812] the backup of the guide for one machine is taken beside the running server", async () => {
  const backup = scriptsOf(readPage("docs/install/one-machine.md")).find((block) => block.includes("npm run backup"));
  const folder = mkdtempSync(join(tmpdir(), "binnacle-backup-"));
  const script = (backup ?? "").trim().replace("binnacle.gz", join(folder, "binnacle.gz"));
  const env = { ...process.env, BINNACLE_DATA_DIR: data.path };
  const { stderr } = await promisify(execFile)("sh", ["-c", script], { cwd: ROOT, env, timeout: 60_000 });
  expect(stderr).toContain("The backup is complete.");
  expect(statSync(join(folder, "binnacle.gz")).size).toBeGreaterThan(1_000);
  rmSync(folder, { recursive: true });
}, 90_000);

test("[SP3115] the lines with curl of the guides on policies and tokens change settings and make a token", async () => {
  const session = commandsOf("docs/curl.md").map((command) => command.replace('"store"', '"policies"'));
  const names = session.filter((command) => /^[a-z_]+=/.test(command) && !command.startsWith("app="));
  const lines = [
    ...commandsOf("docs/operations/namespace-policies.md"),
    commandOf("docs/operations/automation.md", "curl -s").replace("<PROJECT_ID>", `'"$project"'`),
  ];
  const script = ['curl() { command curl --silent --fail-with-body "$@"; }', "set -e", ...names, ...lines].join("\n");
  const { stdout } = await promisify(execFile)("sh", ["-c", script.replaceAll(ADDRESS, run.server.url)]);
  for (const set of ['"pod_security":"restricted"', '"isolation":"none"', '"token":"bnc_'])
    expect(stdout).toContain(set);
}, 60_000);

test("[SP3115] the lines that connect a cluster, close it to commands, look at upgrades and remove it do so", async () => {
  const folder = mkdtempSync(join(tmpdir(), "binnacle-guides-"));
  const [login = ""] = scriptsOf(section("A first session"));
  const signIn = login.split("\n")[0]?.replace("npx ", "").replaceAll(ADDRESS, run.server.url) ?? "";
  const lines = [
    commandOf("docs/install/connect-a-cluster.md", "binnacle clusters register"),
    commandOf("docs/operations/exec.md", "echo 'exec_enabled").replace("<cluster>", "eu-prod"),
    commandOf("docs/operations/upgrade.md", "binnacle clusters upgrades list"),
    commandOf("docs/operations/upgrade.md", "binnacle clusters instructions"),
    // Without a terminal nobody can be asked.
    `${commandOf("docs/install/kubernetes.md", "binnacle clusters delete")} --yes`,
  ];
  const env = { ...process.env, XDG_CONFIG_HOME: folder, PATH: `${ROOT}node_modules/.bin:${process.env["PATH"]}` };
  const script = ["set -e", signIn, ...lines].join("\n");
  const { stdout, stderr } = await promisify(execFile)("sh", ["-c", script], { cwd: folder, env, timeout: 100_000 });
  rmSync(folder, { recursive: true });
  expect(stderr).toContain("helm upgrade --install binnacle-operator");
  expect(stdout).toMatch(/exec_enabled +false|exec_enabled: false/i);
}, 120_000);
