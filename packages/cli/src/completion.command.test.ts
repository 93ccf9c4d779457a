import { spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { startWorld } from "@binnacle/world";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { childEnvironment } from "../../../test/world/child-environment.ts";
import { EVENTUALLY } from "../../../test/world/sandbox-run.ts";

const ROOT = new URL("../../../", import.meta.url).pathname;
const LONG = 120_000;
const TAB = "\t";

const world = await startWorld();
let folder: string;
let env: Record<string, string>;

/** Runs the real program for completions; a line that is entered is printed instead, word by word, so that a test sees what it has become. */
const stub = (program: string) => `#!/bin/sh
case "$1" in
  completion) exec '${process.execPath}' '${program}' "$@" ;;
  __complete)
    '${process.execPath}' '${program}' "$@"
    echo >> '${program}.answered'
    exit ;;
esac
printf 'RAN'
for word in "$@"; do printf ' <%s>' "$word"; done
echo ' END'
`;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "binnacle-completion-"));
  const build = ["scripts/build-cli.ts", "--out", join(folder, "build")];
  expect(spawnSync(process.execPath, build, { cwd: ROOT, encoding: "utf8" }).stderr).toBe("");
  mkdirSync(join(folder, "bin"));
  mkdirSync(join(folder, "home/binnacle"), { recursive: true });
  writeFileSync(join(folder, "bin/binnacle"), stub(join(folder, "build/binnacle.mjs")));
  chmodSync(join(folder, "bin/binnacle"), 0o755);
  for (const file of ["manifest.yaml", "build/binnacle.mjs.answered"]) writeFileSync(join(folder, file), "");
  const context = { url: world.url, token: world.admin.token };
  const state = { current: "127.0.0.1:8080", contexts: { "127.0.0.1:8080": context, production: context } };
  writeFileSync(join(folder, "home/binnacle/contexts.json"), JSON.stringify(state));
  env = {
    ...childEnvironment(),
    HOME: join(folder, "home"),
    XDG_CONFIG_HOME: join(folder, "home"),
    PATH: `${join(folder, "bin")}:${process.env["PATH"] ?? ""}`,
    TERM: "xterm",
  };
  const { api } = world.admin;
  const cluster = (await api.post(`/orgs/${world.demoOrgId}/clusters`, { name: "edge" })).body;
  const project = (await api.post("/projects", { name: "wares", cluster_id: cluster.id })).body;
  const components = [{ name: "web", workload_spec: { image: "nginx:1.29" } }];
  await api.post("/apps", { name: "storefront", project_id: project.id, components });
}, LONG);
afterAll(async () => {
  await world.stop();
  rmSync(folder, { recursive: true, force: true });
});

interface Shell {
  /** Types the keys and Enter, and returns the words of the line that was then run. */
  enter(keys: string): Promise<string>;
  leave(): Promise<void>;
}

/** An interactive shell on a terminal of its own, with the completion loaded. */
async function shellOn(command: string, load: string): Promise<Shell> {
  const child = spawn("script", ["-qfec", `stty cols 200 rows 50; exec ${command}`, "/dev/null"], {
    cwd: folder,
    env,
    stdio: ["pipe", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.on("data", (chunk) => (text += chunk));
  const shows = (what: RegExp | string) =>
    vi.waitFor(() => expect(stripVTControlCharacters(text)).toMatch(what), EVENTUALLY);
  // The shell shows what is typed, which is not what it prints.
  child.stdin.write(`${load}; echo READY''42\r`);
  await shows("READY42");
  return {
    async enter(keys) {
      text = "";
      const before = answered();
      child.stdin.write(keys);
      // What follows a Tab is typed when the completion has answered: shells may throw away what comes before.
      await vi.waitFor(() => expect(answered()).toBeGreaterThan(before), EVENTUALLY);
      child.stdin.write("\r");
      await shows(/RAN.* END\s/);
      return /RAN ?(.*) END\s/.exec(stripVTControlCharacters(text))?.[1] ?? "";
    },
    async leave() {
      child.stdin.write("\u0003exit\r");
      child.stdin.end();
      child.kill();
    },
  };

  /** How often the program has answered a Tab. */
  function answered(): number {
    return readFileSync(join(folder, "build/binnacle.mjs.answered"), "utf8").length;
  }
}

const SHELLS = [
  ["bash", "bash --norc --noprofile -i", `PS1='$ '; eval "$(binnacle completion bash)"`],
  ["zsh", "zsh -f -i", `PS1='$ '; unsetopt beep; eval "$(binnacle completion zsh)"`],
  ["fish", "fish --no-config -i", "binnacle completion fish | source"],
] as const;

describe.each(SHELLS)("Tab in %s", { timeout: LONG }, (name, command, load) => {
  const isThere = spawnSync("sh", ["-c", `command -v ${name} && command -v script`]).status === 0;

  test.skipIf(!isThere)(
    `[BC28] Tab in ${name} completes commands, options, values and names, and destroys nothing`,
    async () => {
      const shell = await shellOn(command, load);
      try {
        const lines: Record<string, string> = {};
        const typed = {
          command: `binnacle clus${TAB}`,
          verb: `binnacle apps roll${TAB}`,
          option: `binnacle apps deploy --dr${TAB}`,
          value: `binnacle apps list -o ya${TAB}`,
          app: `binnacle apps show store${TAB}`,
          path: `binnacle apps show wares/st${TAB}`,
          short: `binnacle logs store${TAB}`,
          project: `binnacle apps list --project wa${TAB}`,
          cluster: `binnacle clusters show ed${TAB}`,
          context: `binnacle context use prod${TAB}`,
          address: `binnacle context use 127.0.0.1:80${TAB}`,
          file: `binnacle apps deploy -f mani${TAB}`,
          unknown: `binnacle apps show nothing-like-it${TAB}`,
          complete: `binnacle apps deploy --dry-run --yes${TAB}`,
        };
        for (const [what, keys] of Object.entries(typed)) lines[what] = await shell.enter(keys);
        expect(lines).toEqual({
          command: "<clusters>",
          verb: "<apps> <rollback>",
          option: "<apps> <deploy> <--dry-run>",
          value: "<apps> <list> <-o> <yaml>",
          app: "<apps> <show> <storefront>",
          path: "<apps> <show> <wares/storefront>",
          short: "<logs> <storefront>",
          project: "<apps> <list> <--project> <wares>",
          cluster: "<clusters> <show> <edge>",
          context: "<context> <use> <production>",
          address: "<context> <use> <127.0.0.1:8080>",
          file: "<apps> <deploy> <-f> <manifest.yaml>",
          unknown: "<apps> <show> <nothing-like-it>",
          complete: "<apps> <deploy> <--dry-run> <--yes>",
        });
      } finally {
        await shell.leave();
      }
    },
  );
});
