import { execFile, execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { startWorld } from "@binnacle/world";
import Fastify from "fastify";
import { afterAll, afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type BundledCli, bundledCli } from "./cli-downloads.adapter.ts";
import { writeCliLayout } from "./cli-layout.fixture.ts";
import { registerInstallScript } from "./install-script.routes.ts";
import { installScript, refusingScript } from "./install-script.ts";

const VERSION = "0.1.0";
const executableFor = (architecture: string) => `#!/bin/sh\n# ${architecture}\necho ${VERSION}\n`;
/** Runs on Node.js as the real file does. */
const FILE = `#!/usr/bin/env node\nconsole.log("${VERSION}");\n`;

const images = mkdtempSync(join(tmpdir(), "binnacle-images-"));
const { blobs, executables } = writeCliLayout(
  join(images, "cli"),
  VERSION,
  { amd64: executableFor("amd64"), arm64: executableFor("arm64") },
  FILE,
);
const world = await startWorld({ env: { BINNACLE_ROLES: "api", BINNACLE_IMAGES_DIR: images } });
afterAll(async () => {
  await world.stop();
  rmSync(images, { recursive: true });
});

/** The programs that a machine has, so that the script is run with these alone. */
const BUSYBOX = which("busybox");
const [DASH, CURL] = [which("dash"), which("curl")];
const ARCHITECTURE = process.arch === "arm64" ? "arm64" : "amd64";

function which(program: string): string | null {
  const { status, stdout } = spawnSync("sh", ["-c", `command -v ${program}`], { encoding: "utf8" });
  return status === 0 ? stdout.trim() : null;
}

let home: string;
let programs: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "binnacle-home-"));
  programs = join(home, "programs");
  mkdirSync(programs);
});
afterEach(() => rmSync(home, { recursive: true }));

/** A machine with the programs of BusyBox, and those that are given by their paths or as scripts. */
function machine(given: Readonly<Record<string, string | null>> = {}) {
  execFileSync(BUSYBOX ?? "", ["--install", "-s", programs]);
  for (const [name, program] of Object.entries(given)) {
    rmSync(join(programs, name), { force: true });
    if (program?.startsWith("#!")) writeFileSync(join(programs, name), program, { mode: 0o755 });
    else if (program) symlinkSync(program, join(programs, name));
  }
}

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs the script as `… | sh` does. The server is in this process, so nothing may wait for the shell. */
async function install(shell: readonly string[], env: Record<string, string> = {}, script?: string): Promise<Ran> {
  const [program = "", ...args] = shell;
  const text = script ?? (await (await fetch(`${world.url}/install.sh`)).text());
  const running = promisify(execFile)(program, args, { env: { PATH: programs, HOME: home, ...env } });
  running.child.stdin?.end(text);
  return running.then(
    ({ stdout, stderr }) => ({ code: 0, out: stdout, err: stderr }),
    ({ code, stdout, stderr }) => ({ code, out: stdout, err: stderr }),
  );
}

/** BusyBox's shell takes its own programs before those on the PATH, so tests that replace one use dash. */
const unameOf = (system: string) => `#!/bin/sh\nset -- $1 ${system}\n[ "$1" = -s ] && echo "$2" || echo "$3"\n`;
async function serving(bundled: BundledCli | null): Promise<string> {
  const app = Fastify();
  onTestFinished(() => app.close());
  let url = "";
  await registerInstallScript(app, () => url, null, bundled);
  url = await app.listen({ host: "127.0.0.1", port: 0 });
  return url;
}

const BUSYBOX_SHELL = [BUSYBOX ?? "", "sh"];
const SHELLS: readonly (readonly [string, readonly string[], Readonly<Record<string, string | null>>])[] = [
  ["dash with curl", [DASH ?? ""], { curl: CURL, wget: null }],
  ["the shell and the wget of BusyBox", BUSYBOX_SHELL, {}],
];

describe.skipIf(!BUSYBOX || !DASH || !CURL)("install.sh", () => {
  const installed = () => readFileSync(join(home, ".local/bin/binnacle"), "utf8");

  test.each(SHELLS)(
    "[IR2109] %s installs the command line to ~/.local/bin, in the version of the control plane",
    async (_, shell, given) => {
      machine(given);
      const ran = await install(shell);
      expect(ran).toEqual({
        code: 0,
        out: [
          `Downloading binnacle ${VERSION} from ${world.url}`,
          `Installed ${home}/.local/bin/binnacle`,
          `This folder is not on your PATH. Add it: export PATH="${home}/.local/bin:$PATH"`,
          `Sign in: binnacle login ${world.url}`,
          "",
        ].join("\n"),
        err: "",
      });
      expect(installed()).toBe(executableFor(ARCHITECTURE));
      expect(readdirSync(join(home, ".local/bin"))).toEqual(["binnacle"]);
    },
  );

  test("[IR2109] install.sh installs to the folder of BINNACLE_INSTALL_DIR, and replaces the program that is there", async () => {
    machine();
    const folder = join(home, "a folder");
    mkdirSync(folder);
    writeFileSync(join(folder, "binnacle"), "older");
    const ran = await install(BUSYBOX_SHELL, { BINNACLE_INSTALL_DIR: folder, PATH: `${programs}:${folder}` });
    expect([ran.code, ran.err]).toEqual([0, ""]);
    expect(ran.out).not.toContain("PATH");
    expect(readFileSync(join(folder, "binnacle"), "utf8")).toBe(executableFor(ARCHITECTURE));
  });

  // A machine of the other architecture has no loader for it here, as Alpine has none for any.
  test.each(["Darwin arm64", `Linux ${ARCHITECTURE === "amd64" ? "aarch64" : "x86_64"}`])(
    "[IR2111] where no executable runs, as on %s without the loader of glibc, install.sh takes the file for Node.js",
    async (system) => {
      machine({ uname: unameOf(system), node: process.execPath });
      expect(await install([DASH ?? ""])).toMatchObject({ code: 0, err: "" });
      expect(installed()).toBe(FILE);
    },
  );

  test.each([
    [
      "without Node.js",
      {},
      "error: There is no executable for this system (Darwin on arm64). Install Node.js 20.12 or newer, and run this again.\n",
    ],
    [
      "with an older Node.js",
      { node: "#!/bin/sh\nexit 1\n" },
      "error: There is no executable for this system (Darwin on arm64), and its Node.js is older than 20.12. Install a newer one, and run this again.\n",
    ],
  ])("[IR2111] %s a system without an executable is told what to install", async (_, given, err) => {
    machine({ uname: unameOf("Darwin arm64"), ...given });
    expect(await install([DASH ?? ""])).toEqual({ code: 1, out: "", err });
    expect(existsSync(join(home, ".local"))).toBe(false);
  });

  test("[IR2112] a download that was changed is refused, and the program that is there stays", async () => {
    machine();
    mkdirSync(join(home, ".local/bin"), { recursive: true });
    writeFileSync(join(home, ".local/bin/binnacle"), "older");
    const blob = join(blobs, executables[ARCHITECTURE]?.slice("sha256:".length) ?? "");
    const whole = readFileSync(blob);
    writeFileSync(blob, Buffer.from(whole).fill(0, whole.length - 4));
    try {
      const ran = await install(BUSYBOX_SHELL);
      expect(ran.code).toBe(1);
      expect(ran.err).toMatch(
        /^error: The download is damaged or was changed: its SHA-256 is \w{64}, not \w{64}\. Nothing is installed\.\n$/,
      );
    } finally {
      writeFileSync(blob, whole);
    }
    expect(installed()).toBe("older");
    expect(readdirSync(join(home, ".local/bin"))).toEqual(["binnacle"]);
  });

  test("[IR2112] a program that does not run as the version of the control plane is not installed", async () => {
    machine();
    const script = (await (await fetch(`${world.url}/install.sh`)).text()).replace(
      `version='${VERSION}'`,
      "version='9.9.9'",
    );
    const ran = await install(BUSYBOX_SHELL, {}, script);
    expect([ran.code, ran.err]).toEqual([
      1,
      expect.stringMatching(/^error: The program does not run here .* Nothing is installed\.\n$/),
    ]);
    expect(readdirSync(join(home, ".local/bin"))).toEqual([]);
  });

  test("[IR2112] install.sh says which folder it cannot write to, and what cannot be downloaded", async () => {
    machine();
    writeFileSync(join(home, "file"), "");
    const taken = await install(BUSYBOX_SHELL, { BINNACLE_INSTALL_DIR: join(home, "file") });
    expect([taken.code, taken.err]).toEqual([1, expect.stringContaining("Set BINNACLE_INSTALL_DIR to another one.")]);
    const body = readFileSync(new URL("./install.sh", import.meta.url), "utf8");
    const downloads = {
      version: VERSION,
      path: "/nothing/",
      executables: new Map([[ARCHITECTURE, "sha256:00"]]),
      file: "sha256:00",
    };
    const gone = await install(BUSYBOX_SHELL, {}, installScript(body, world.url, downloads));
    expect([gone.code, gone.err]).toEqual([
      1,
      expect.stringContaining(`error: The download of ${world.url}/nothing/00 has failed.\n`),
    ]);
  });

  test("[IR2112] a script that arrives in part does nothing", async () => {
    machine();
    const whole = await (await fetch(`${world.url}/install.sh`)).text();
    const ran = await install(BUSYBOX_SHELL, {}, whole.slice(0, whole.lastIndexOf("\nmain")));
    expect([ran.out, existsSync(join(home, ".local"))]).toEqual(["", false]);
  });

  test("[IR2113] without images install.sh takes the file for Node.js, which the server's image has", async () => {
    machine({ node: process.execPath });
    const built = join(home, "binnacle.mjs");
    writeFileSync(built, FILE);
    const url = await serving(await bundledCli(pathToFileURL(built)));
    const script = await (await fetch(`${url}/install.sh`)).text();
    expect(await install(BUSYBOX_SHELL, {}, script)).toMatchObject({ code: 0, err: "" });
    expect(installed()).toBe(FILE);
  });

  test("[IR2113] without images and without that file install.sh says so and fails", async () => {
    machine();
    const url = await serving(await bundledCli(pathToFileURL(join(home, "missing.mjs"))));
    const script = await (await fetch(`${url}/install.sh`)).text();
    expect(await install(BUSYBOX_SHELL, {}, script)).toEqual({
      code: 1,
      out: "",
      err: expect.stringMatching(/^error: This control plane has no command line to download\..*BINNACLE_IMAGES_DIR/),
    });
  });
});

test("[IR2110] install.sh names the configured address alone, whatever Host header asks for it", async () => {
  const fromOther = await new Promise<string>((resolve, reject) => {
    const headers = { host: "localhost:1", "x-forwarded-host": "evil.example", "x-forwarded-proto": "https" };
    request(`${world.url}/install.sh`, { headers }, (answer) => {
      let text = "";
      answer.on("data", (chunk) => (text += chunk)).on("end", () => resolve(text));
    })
      .on("error", reject)
      .end();
  });
  expect(fromOther).toContain(`url='${world.url}'\n`);
  expect(fromOther).not.toMatch(/localhost:1|evil/);
  expect(fromOther).toBe(await (await fetch(`${world.url}/install.sh`)).text());
});

test("[IR2110] values are quoted, so that none of them is run", () => {
  const downloads = { version: "1';touch x;'", path: "/", executables: new Map(), file: "sha256:$(id)" };
  const script = installScript("", "https://binnacle.example.com/`id`", downloads);
  const { stdout } = spawnSync("sh", ["-c", `${script}\nprintf '%s|' "$url" "$version" "$any" "$amd64"`], {
    encoding: "utf8",
  });
  expect(stdout).toBe("https://binnacle.example.com/`id`|1';touch x;'|$(id)||");
  expect(spawnSync("sh", ["-c", refusingScript("it's $(id)")], { encoding: "utf8" })).toMatchObject({
    status: 1,
    stderr: "error: it's $(id)\n",
  });
});

test("[IR2109] install.sh is a text that is asked for again each time, and takes no other method", async () => {
  const answer = await fetch(`${world.url}/install.sh`);
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    "content-type": "text/plain; charset=utf-8",
    "cache-control": "no-cache",
    "x-content-type-options": "nosniff",
  });
  const written = await fetch(`${world.url}/install.sh`, { method: "POST" });
  expect([written.status, written.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
});
