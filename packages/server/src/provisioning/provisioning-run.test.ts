import { execFile } from "node:child_process";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CloudRefusal, type CloudResource } from "../cloud/provider.ts";
import { LeaseLost, WorkerStops } from "../jobs/job.ts";
import { readState } from "../tofu/tofu-output.ts";
import { newSshKeyPair } from "./cluster-secrets.adapter.ts";
import {
  agentNames,
  applied,
  causeOf,
  controlPlaneProblem,
  decideOrphans,
  finalFailure,
  incomplete,
  initFailure,
  isToBeReplaced,
  keptDespiteTaint,
  leavingAgents,
  leftoversFailure,
  masker,
  nodeNames,
  orphansOf,
  ProgramKilled,
  RunFailed,
} from "./provisioning-run.ts";

test.each([
  [
    "an unreachable registry",
    [
      "Error: Failed to query available provider packages",
      "could not connect to registry.opentofu.org: dial",
      "tcp: lookup failed",
    ],
    /^The plugin of the provider could not be fetched from its registry\. The cloud was not asked/,
  ],
  [
    "a plugin with another checksum",
    [
      "Error: Failed to install provider",
      "the local package doesn't match any of the checksums recorded in the dependency lock file",
    ],
    /^The plugin of the provider is not the one that Binnacle was released with/,
  ],
  [
    "anything else",
    ["Error: Unsupported block type"],
    /^OpenTofu could not be prepared\. .* Error: Unsupported block type$/,
  ],
])("[PN143] a failed init by %s is reported as init_failed and not as a failure of the cloud", (_, words, message) => {
  expect(initFailure(words)).toEqual({ code: "init_failed", message: expect.stringMatching(message) });
});

describe("progress", () => {
  test.each([
    [0, 4, 15],
    [1, 4, 31],
    [4, 4, 80],
    [9, 4, 80],
    [0, 0, 80],
  ])("[PN32] the progress of %i of %i operations is %i percent", (ended, planned, percent) => {
    expect(applied(ended, planned)).toEqual({ phase: "apply", percent });
  });
});

describe("the end of a run", () => {
  const refused = { code: "quota_exceeded", message: "The quota is used up." } as const;
  const unreachable = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });

  test.each<[string, unknown, ReturnType<typeof finalFailure>]>([
    ["a failure that was explained", new RunFailed(refused), refused],
    ["a refusal of the cloud", new CloudRefusal(refused), refused],
    ["an error that nobody expected", new Error("Oops."), { code: "failed", message: "Oops." }],
    ["something that is not an error", undefined, { code: "failed", message: "The job failed." }],
  ])("[PN28] a run that ends by %s has failed for good", (_, cause, failure) => {
    expect(finalFailure(cause)).toEqual(failure);
  });

  test.each<[string, unknown]>([
    ["a worker that stops", new WorkerStops("The worker stops.")],
    ["a worker that was replaced", new LeaseLost("Another worker has claimed the job.")],
    ["a program that was killed", new ProgramKilled("OpenTofu was killed from outside.")],
    ["a database that is away", unreachable],
    ["a database whose disk is full", Object.assign(new Error("could not extend file"), { code: "53100" })],
  ])("[PN28] a run that ends by %s has not failed for good", (_, cause) => {
    expect(finalFailure(cause)).toBeNull();
  });

  test("[PN28] the end of a run has the first cause: a lost job before a stop, a stop before the error", () => {
    const [error, running] = [new Error("It broke."), new AbortController().signal];
    const [stopped, lost] = [AbortSignal.abort("stopped"), AbortSignal.abort("lost")];
    expect(causeOf(error, running, running)).toBe(error);
    expect(causeOf(error, running, stopped)).toBe("stopped");
    expect(causeOf(error, lost, stopped)).toBe("lost");
  });
});

describe("names", () => {
  test("[PN33] the names of machines are numbered from one", () => {
    expect(nodeNames(2)).toEqual(["control-plane", "agent-1", "agent-2"]);
    expect(nodeNames(0)).toEqual(["control-plane"]);
  });

  test.each([
    [1, 3, ["agent-2", "agent-3"]],
    [3, 3, []],
    [3, 1, []],
  ])("[PN33] a change from %i to %i agents names the new ones", (from, to, names) => {
    expect(agentNames(from, to)).toEqual(names);
  });
});

describe("a log", () => {
  test.each([
    ["a secret", ["topsecret"], "a topsecret b topsecret", "a **** b ****"],
    ["a line of a longer one", ["first-line\nsecond-line\n"], "x second-line", "x ****"],
    ["one that holds another", ["secret-1", "secret-1-long"], "secret-1-long", "****"],
    ["a part that is too short to tell", ["abc\nlong-enough"], "abc", "abc"],
    ["one as JSON spells it", ['quote"and\\back'], 'a quote\\"and\\\\back b', "a **** b"],
    ["one as Go spells it in JSON", ["less<more>&"], "a less\\u003cmore\\u003e\\u0026 b", "a **** b"],
    ["nothing", [], "text", "text"],
  ])("[PN34] the log masks %s", (_, secrets, text, masked) => {
    expect(masker(secrets)(text)).toBe(masked);
  });

  test("[PN34] the log never shows a secret, wherever in the text it is", () => {
    const secret = fc
      .string({ minLength: 6, maxLength: 40 })
      .filter((text) => text.trim().length >= 6 && !text.includes("*"));
    fc.assert(
      fc.property(secret, fc.string(), fc.string(), (hidden, before, after) => {
        expect(masker([hidden])(`${before}${hidden}${after}`)).not.toContain(hidden.trim());
      }),
    );
  });
});

test("[CR295] a job whose credential lacks fields fails with their names, and is not run again by itself", () => {
  const failure = incomplete(["project_id", "passphrase"]);
  expect(failure).toMatchObject({
    code: "bad_credentials",
    message: expect.stringContaining("project_id, passphrase"),
  });
  expect(finalFailure(new RunFailed(failure))).toEqual(failure);
});

const resource = (id: string, address: string | null): CloudResource => ({ type: "t", id, address });
const state = readState(
  JSON.stringify({
    serial: 1,
    lineage: "l",
    resources: [{ mode: "managed", type: "t", instances: [{ attributes: { id: "known" } }] }],
  }),
);

describe("orphans", () => {
  const existing = [resource("known", "t.a"), resource("lost", "t.b"), resource("lb", null)];

  test("[PN35] orphans are resources that the module has made and no state knows", () => {
    expect(orphansOf(existing, state, false)).toEqual([resource("lost", "t.b")]);
    expect(orphansOf(existing, null, false).map(({ id }) => id)).toEqual(["known", "lost"]);
  });

  test("[PN35] while a cluster is destroyed, orphans are also the resources that Kubernetes has made", () => {
    expect(orphansOf(existing, state, true).map(({ id }) => id)).toEqual(["lost", "lb"]);
  });

  test("[PN35] orphans are imported where the plan would create them again, once for each place, and removed otherwise", () => {
    const changes = [
      { action: "create", address: "t.b", type: "t", id: null },
      { action: "update", address: "t.c", type: "t", id: "c" },
    ] as const;
    const orphans = [resource("b1", "t.b"), resource("b2", "t.b"), resource("c1", "t.c"), resource("lb", null)];
    expect(decideOrphans(orphans, { changes })).toEqual({
      imported: [{ to: "t.b", id: "b1" }],
      removed: [resource("b2", "t.b"), resource("c1", "t.c"), resource("lb", null)],
    });
  });

  test.each(["$", "%"])("[PN45] orphans with an id that OpenTofu would evaluate are removed: %s{", (sign) => {
    const id = `net-${sign}{file("/etc/passwd")}`;
    const changes = [{ action: "create", address: "t.b", type: "t", id: null }] as const;
    const [hostile, honest] = [resource(id, "t.b"), resource("b1", "t.b")];
    expect(decideOrphans([hostile, honest], { changes })).toEqual({
      imported: [{ to: "t.b", id: "b1" }],
      removed: [hostile],
    });
  });

  test("[PN26] leftovers of a destroy are named with type and id", () => {
    expect(leftoversFailure([resource("i-1", null), resource("v-2", null)])).toMatchObject({
      code: "leftovers",
      message: expect.stringContaining("t i-1, t v-2"),
    });
  });
});

test("[PN23] the agents to drain are those that the plan removes, and those among the removed orphans", () => {
  const change = (action: "create" | "delete" | "replace", address: string) => ({
    action,
    address,
    type: "t",
    id: null,
  });
  const changes = [
    change("delete", 't.agent["agent-10"]'),
    change("replace", 't.agent["agent-2"]'),
    change("create", 't.agent["agent-3"]'),
    change("delete", 't.subnet["zone-1"]'),
    change("delete", "t.control_plane"),
  ];
  const removed = [resource("o", 't.agent["agent-4"]'), resource("p", 't.agent["agent-2"]'), resource("lb", null)];
  expect(leavingAgents({ changes }, removed)).toEqual(["agent-2", "agent-4", "agent-10"]);
});

const planned = (action: "create" | "update" | "replace" | "delete" | "import", address: string) => ({
  action,
  address,
  type: "t",
  id: null,
});
test.each([
  ["replaces it", [planned("replace", "t.control_plane")], [], /it would replace it\./],
  ["deletes it", [planned("delete", "t.control_plane")], [], /it would delete it\./],
  ["makes it anew", [planned("create", "t.control_plane")], [], /it would make it anew\./],
  ["removes another that says that it is it", [], [resource("i-2", "t.control_plane")], /^A second machine i-2 says/],
  ["imports it", [planned("import", "t.control_plane")], [], null],
  ["changes it in place", [planned("update", "t.control_plane")], [], null],
  ["replaces an agent", [planned("replace", 't.agent["agent-1"]')], [resource("o", null)], null],
] as const)("[PN149] a plan that %s is refused for the control plane or not", (_, changes, removed, message) => {
  const problem = controlPlaneProblem("t.control_plane", { changes }, removed);
  if (message === null) expect(problem).toBeNull();
  else expect(problem).toEqual({ code: "control_plane_protected", message: expect.stringMatching(message) });
});

test("[PN151] a chosen machine is replaced until it is gone, and its successor is not", () => {
  const existing = [resource("i-old", 't.agent["agent-1"]'), resource("i-2", 't.agent["agent-2"]')];
  const isOnce = (node: string | null, replaced_machine: string | null) =>
    isToBeReplaced({ node, replaced_machine }, existing);
  expect([isOnce("agent-1", null), isOnce("agent-1", "i-old")]).toEqual([true, true]);
  expect([isOnce("agent-1", "i-gone"), isOnce("agent-1", "none"), isOnce(null, null)]).toEqual([false, false, false]);
});

test("[PN46] a resource that exists is kept although its creation did not end", () => {
  const instance = (name: string) => ({ index_key: name, status: "tainted", attributes: { id: `i-${name}` } });
  const resources = [{ mode: "managed", type: "t", name: "agent", instances: ["a", "b", "c"].map(instance) }];
  const interrupted = readState(JSON.stringify({ serial: 1, lineage: "l", resources }));
  // The second is another one by now, and the third is being terminated.
  const existing = [resource("i-a", 't.agent["a"]'), resource("i-x", 't.agent["b"]'), resource("i-c", null)];
  expect(keptDespiteTaint(existing, interrupted)).toEqual(['t.agent["a"]']);
  expect(keptDespiteTaint(existing, null)).toEqual([]);
});

const hasSshKeygen = await promisify(execFile)("ssh-keygen", ["-?"]).then(
  () => true,
  (error: NodeJS.ErrnoException) => error.code !== "ENOENT",
);

test.skipIf(!hasSshKeygen)(
  "[PN21] ssh-keygen reads a cluster's private key, which belongs to the public one",
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "ssh-"));
    // The length of the comment moves the padding through all of its lengths.
    for (let length = 1; length <= 8; length++) {
      const { publicKey, privateKey } = newSshKeyPair("c".repeat(length));
      const file = join(folder, `key-${length}`);
      await writeFile(file, privateKey, { mode: 0o600 });
      const { stdout } = await promisify(execFile)("ssh-keygen", ["-y", "-f", file]);
      expect(stdout.trim()).toBe(publicKey);
    }
  },
);
