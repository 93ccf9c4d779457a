import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { HELM } from "../../scripts/images/pins.ts";
import { blobPath, imageOf, VERSION } from "./layout.ts";

const EMULATOR = "qemu-aarch64-static";
const hasOther = process.arch === "x64" && inject("architectures").includes("arm64");
const runsOther = hasOther && spawnSync(EMULATOR, ["--version"]).status === 0;
if (hasOther && !runsOther)
  process.stderr.write("SKIPPED: nothing runs what is in the images for arm64 (apt-get install qemu-user-static).\n");

/** By its path, because the package that chooses among the platforms is bundled. */
const ARGON2 = "node_modules/@node-rs/argon2-linux-arm64-gnu";
const HASH = `require("ROOT/app/${ARGON2}").hashSync("any", { memoryCost: 64, timeCost: 1 })`;

interface Asked {
  readonly image: string;
  readonly program: string;
  /** With `ROOT` for the folder of the image. */
  readonly args: readonly string[];
  readonly code: number;
  readonly said: string;
}

const ASKED: readonly Asked[] = [
  { image: "cli", program: "binnacle", args: ["--version"], code: 0, said: `${VERSION}\n` },
  { image: "server", program: "node", args: ["ROOT/app/server.js", "help"], code: 0, said: "upgrade-check" },
  { image: "server", program: "node", args: ["--print", HASH], code: 0, said: "$argon2id$" },
  { image: "operator", program: "node", args: ["ROOT/app/operator.js"], code: 1, said: "BINNACLE_HUB_URL" },
  { image: "operator", program: "helm", args: ["version"], code: 0, said: `v${HELM.version}` },
];

describe.skipIf(!runsOther)("the images for arm64", { timeout: 120_000 }, () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "binnacle-arm64-"));
    for (const name of new Set(ASKED.map(({ image }) => image))) {
      const root = join(folder, name);
      execFileSync("mkdir", [root]);
      for (const { digest } of imageOf(name, "arm64").layers)
        execFileSync("tar", ["-xzf", blobPath(name, digest), "-C", root]);
    }
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test.each(ASKED)(
    "[IM2117] the program $program of the image $image for arm64 runs with $args, in an emulator",
    (asked) => {
      const root = join(folder, asked.image);
      const args = asked.args.map((arg) => arg.replace("ROOT", root));
      // The emulator takes libraries from the folder in the place of those of the machine.
      const ran = spawnSync(EMULATOR, ["-L", root, join(root, "usr/local/bin", asked.program), ...args], {
        encoding: "utf8",
        env: { HOME: "/tmp" },
      });
      expect(ran.status, ran.stderr).toBe(asked.code);
      expect(ran.stdout + ran.stderr).toContain(asked.said);
    },
  );
});
