import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import { optionalTool } from "../tofu/tools.ts";
import { readPage } from "../world/guide.ts";

const HERE = new URL(".", import.meta.url).pathname;
const SCRIPT = join(HERE, "run.sh");
const PAGE = readPage("docs/operations/aws-proof.md");
const SCRIPTS = ["run.sh", "steps.sh", "cleanup.sh"].map((name) => join(HERE, name));
const ACCOUNT = "123456789012";
const folder = mkdtempSync(join(tmpdir(), "aws-proof-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** An account as files: what exists is a file, and every call a line of `calls`. It refuses what `refused` matches. */
const AWS = `#!/usr/bin/env bash
echo "aws $*" >>"$STAGE/calls"
if [ -n "$REFUSED" ] && [[ "$*" =~ $REFUSED ]]; then echo "An error occurred (AccessDenied)" >&2; exit 254; fi
is_there() { [ -e "$STAGE/$1" ] || { echo "An error occurred (NoSuchEntity)" >&2; exit 254; }; }
case "$1 $2" in
  "sts get-caller-identity") echo "$SIGNED_IN" ;;
  "s3api create-bucket") touch "$STAGE/bucket" ;;
  "s3api head-bucket") is_there bucket ;;
  "s3 rb") rm "$STAGE/bucket" ;;
  "ec2 create-volume") touch "$STAGE/disk"; echo vol-1 ;;
  "ec2 delete-volume") rm "$STAGE/disk" ;;
  "ec2 describe-volumes") if [ -e "$STAGE/disk" ]; then echo vol-1; fi ;;
  "iam create-user") touch "$STAGE/user" ;;
  "iam get-user") is_there user ;;
  "iam delete-user") rm "$STAGE/user" ;;
  "iam create-policy") touch "$STAGE/policy"; echo "arn:aws:iam::${ACCOUNT}:policy/$4" ;;
  "iam get-policy") is_there policy ;;
  "iam delete-policy") rm -f "$STAGE/policy" ;;
  "iam create-access-key") printf 'AKIAPROOF\\ts3cret-of-the-user\\n' ;;
  "iam list-access-keys") echo AKIAPROOF ;;
esac
`;
/** A control plane that takes credentials, and has no cluster. */
const BINNACLE = `#!/usr/bin/env bash
echo "binnacle $*" >>"$STAGE/calls"
if [ -n "$REFUSED" ] && [[ "binnacle $*" =~ $REFUSED ]]; then exit 1; fi
if [ "$1 $2" = "clusters show" ]; then exit 3; fi
`;

let stage: string;
beforeEach(() => {
  stage = mkdtempSync(join(folder, "stage-"));
  mkdirSync(join(stage, "bin"));
  // Nobody waits for a cloud that is a folder.
  const programs = { aws: AWS, binnacle: BINNACLE, curl: "#!/bin/sh\n", sleep: "#!/bin/sh\n" };
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(join(stage, "bin", name), text);
    chmodSync(join(stage, "bin", name), 0o755);
  }
});

interface Run {
  readonly typed?: string;
  readonly refused?: string;
  readonly signedIn?: string;
}

function run(args: readonly string[], { typed = "", refused = "", signedIn = ACCOUNT }: Run = {}) {
  const { status, stdout, stderr } = spawnSync("bash", [SCRIPT, ...args], {
    encoding: "utf8",
    input: typed,
    env: {
      PATH: [join(stage, "bin"), dirname(process.execPath), "/usr/bin", "/bin"].join(delimiter),
      HOME: stage,
      TMPDIR: stage,
      STAGE: stage,
      REFUSED: refused,
      SIGNED_IN: signedIn,
      BINNACLE_URL: "http://127.0.0.1:1",
      BINNACLE_TOKEN: "token",
      BINNACLE_ORG: "demo",
    },
  });
  return { status, out: stdout, err: stderr };
}

const calls = () =>
  existsSync(join(stage, "calls")) ? readFileSync(join(stage, "calls"), "utf8").trim().split("\n") : [];
const left = () => ["bucket", "disk", "policy", "user"].filter((name) => existsSync(join(stage, name)));
const really = (...more: string[]) => ["--output", join(stage, "run"), "--really", ACCOUNT, ...more];
const report = () => readFileSync(join(stage, "run", "report.md"), "utf8");
const claimed = [...PAGE.matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, step]) => step);

test("[PN160] without --really the proof on AWS prints its steps, time and cost, and calls nothing", () => {
  const { status, out } = run([]);
  expect(status).toBe(0);
  expect([...out.matchAll(/^ {2}([a-z-]+) +up to +\d+ min {2}\S/gm)].map(([, step]) => step)).toEqual(claimed);
  expect(out).toMatch(/The price is at most \d+\.\d\d USD \(prices of \d{4}-\d\d-\d\d\)/);
  expect(out).toContain("Nothing was changed.");
  expect(calls()).toEqual([]);
  expect(readdirSync(stage)).toEqual(["bin"]);
  expect(run(["--region", "mars-1"]).out).toContain("The price is not known");
});

test("[PN160] a step or an option that the proof does not have is refused before anything is called", () => {
  expect(run(["--steps", "boot,fly"])).toMatchObject({
    status: 2,
    err: expect.stringContaining("There is no step fly"),
  });
  expect(run(["--force", "x"])).toMatchObject({
    status: 2,
    err: expect.stringContaining("There is no option --force"),
  });
  expect(run(["--really"])).toMatchObject({ status: 2, err: expect.stringContaining("--really takes a value") });
  expect(calls()).toEqual([]);
});

test("[PN161] every claim of the page has a step with a function, and every step a claim", () => {
  const steps = readFileSync(join(HERE, "steps.sh"), "utf8");
  const list = /^STEPS=\((.*)\)$/m.exec(steps)?.[1]?.split(" ") ?? [];
  expect(list.length).toBeGreaterThan(10);
  expect(claimed).toEqual(list);
  const functions = [...steps.matchAll(/^prove_(\w+)\(\) \{/gm)].map(([, name = ""]) => name.replaceAll("_", "-"));
  expect(functions).toEqual(list);
});

test("[PN161] the scripts of the proof have no syntax errors", () => {
  for (const script of SCRIPTS) expect(spawnSync("bash", ["-n", script], { encoding: "utf8" }).stderr).toBe("");
});

const shellcheck = optionalTool("shellcheck");
test.runIf(shellcheck)("[PN161] shellcheck finds nothing in the scripts of the proof", () => {
  expect(spawnSync(shellcheck ?? "", ["-x", SCRIPT], { encoding: "utf8", cwd: HERE }).stdout).toBe("");
});

test.each([
  ["another id is typed", { typed: "210987654321\n" }, "That is not 123456789012"],
  ["nothing is typed", { typed: "" }, "That is not 123456789012"],
  [
    "the AWS CLI is signed in elsewhere",
    { typed: `${ACCOUNT}\n`, signedIn: "210987654321" },
    "signed in to 210987654321",
  ],
])("[PN162] the proof changes nothing where %s", (_case, given, words) => {
  expect(run(really(), given)).toMatchObject({ status: 2, err: expect.stringContaining(words) });
  expect(calls().filter((call) => !call.startsWith("aws sts get-caller-identity"))).toEqual([]);
  expect(existsSync(join(stage, "run"))).toBe(false);
});

test("[PN163] a proof that is refused in its preparation removes what it has made, and fails", () => {
  const { status, err } = run(really(), { typed: `${ACCOUNT}\n`, refused: "iam create-policy" });
  expect(status).toBe(1);
  expect(err).toContain("AccessDenied");
  expect(calls()).toContainEqual(expect.stringMatching(/^aws iam create-user .*Key=binnacle:proof,Value=proof-/));
  expect(left()).toEqual([]);
  expect(report()).toContain("| `boot` | not reached |");
  expect(report()).toContain("Cleanup: nothing is left");
});

test("[PN163] a proof whose step fails removes the rest too, names the step, and keeps no secret", () => {
  const { status } = run(really("--steps", "policy,boot"), {
    typed: `${ACCOUNT}\n`,
    refused: "^binnacle clusters register",
  });
  expect(status).toBe(1);
  expect(report()).toMatch(/\| `policy` \| proved \|/);
  expect(report()).toMatch(/\| `boot` \| failed \|/);
  expect(left()).toEqual([]);
  expect(calls()).toContainEqual(expect.stringMatching(/^binnacle credentials delete proof-\w+ --yes$/));
  const kept = readdirSync(join(stage, "run")).map((file) => readFileSync(join(stage, "run", file), "utf8"));
  expect([...kept, ...calls()].join("\n")).not.toContain("s3cret-of-the-user");
  expect(readdirSync(stage).filter((name) => name.startsWith("tmp."))).toEqual([]);
});

test("[PN163] what the proof cannot remove is named, and `--clean` removes it later", () => {
  const { status, err } = run(really("--steps", "policy"), { typed: `${ACCOUNT}\n`, refused: "ec2 delete-volume" });
  expect(status).toBe(1);
  expect(left()).toEqual(["disk"]);
  expect(err).toContain("vol-1");
  expect(err).toContain(`fix: test/aws/run.sh --clean ${join(stage, "run")}`);
  expect(run(["--clean", join(stage, "run")], { signedIn: "210987654321" }).status).toBe(2);
  expect(left()).toEqual(["disk"]);
  expect(run(["--clean", join(stage, "run")])).toMatchObject({ status: 0 });
  expect(left()).toEqual([]);
});

test("[PN163] a cloud that cannot be asked whether something is left counts as one where something is", () => {
  const { status, err } = run(really("--steps", "policy"), {
    typed: `${ACCOUNT}\n`,
    refused: "describe-volumes|get-user",
  });
  expect(status).toBe(1);
  expect(err).toContain("unknown:ec2:describe-volumes");
  expect(err).toMatch(/unknown:user:proof-\w+/);
});
