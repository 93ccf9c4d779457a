import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { masker } from "../provisioning/provisioning-run.ts";
import { lineSplitter, readLine as readMasked, readPlan, readState } from "./tofu-output.ts";

const readLine = (text: string) => readMasked(text, (same) => same);

const message = (fields: object) => JSON.stringify({ "@level": "info", "@message": "words", ...fields });
const hook = { resource: { addr: 'aws_instance.agent["agent-1"]' }, action: "create", id_value: "i-1" };

describe("a line", () => {
  test.each([
    ["a message", message({ type: "version" }), ["words"], false],
    [
      "a planned change",
      message({ type: "planned_change", "@message": "a: Plan to create" }),
      ["a: Plan to create"],
      false,
    ],
    ["a begun resource", message({ type: "apply_start", hook }), ["words"], false],
    ["a done resource", message({ type: "apply_complete", hook }), ["words"], true],
    ["a failed resource", message({ type: "apply_errored", hook }), ["words"], true],
    ["outputs, whose values are nobody's business", message({ type: "outputs", outputs: { a: 1 } }), [], false],
    ["text of a shell", "hello", ["hello"], false],
    ["JSON of somebody else", '{"a":1}', ['{"a":1}'], false],
    ["broken JSON", '{"@message":', ['{"@message":'], false],
    ["an array", "[1]", ["[1]"], false],
    ["nothing", "", [], false],
    ["several lines in one", message({ "@message": "a\nb" }), ["a", "b"], false],
    ["colours and NUL", "\u001b[31mred\u001b[0m\u0000", ["red"], false],
    ["half a character", "\ud800", ["\ufffd"], false],
  ])("[PN1] %s in OpenTofu's output is put into words", (_, text, lines, isStep) => {
    expect(readLine(text)).toEqual({ lines, error: null, isStep });
  });

  test("[PN1] an error of OpenTofu is put into words with its detail and its resource, without values of the configuration", () => {
    const diagnostic = {
      severity: "error",
      summary: "creating EC2 Instance",
      detail: "api error UnauthorizedOperation\nYou are not authorized.",
      address: "aws_instance.control_plane",
      snippet: { values: [{ traversal: "var.token", statement: 'is "secret"' }] },
    };
    const { lines, error, isStep } = readLine(message({ "@level": "error", type: "diagnostic", diagnostic }));
    expect(lines).toEqual([
      "Error: creating EC2 Instance (aws_instance.control_plane)",
      "  api error UnauthorizedOperation",
      "  You are not authorized.",
    ]);
    const { summary, detail, address } = diagnostic;
    expect([error, isStep]).toEqual([{ summary, detail, address }, false]);
  });

  test("[PN1] a warning of OpenTofu is not an error", () => {
    const text = message({ type: "diagnostic", diagnostic: { severity: "warning", summary: "old", detail: "" } });
    expect(readLine(text)).toEqual({ lines: ["Warning: old"], error: null, isStep: false });
  });

  test("[PN34] a secret is masked before a line or an error is cut, so that no part of it is left", () => {
    const secret = "wJalrXUtnFEMIbPxRfiCYEXAMPLEKEY";
    const mask = masker([secret]);
    const long = `${"x".repeat(3_990)}${secret} and more`;
    const detail = `${"y".repeat(390)}${secret}`;
    const diagnostic = { severity: "error", summary: secret, detail };
    for (const text of [long, message({ "@message": long }), message({ type: "diagnostic", diagnostic })]) {
      const { lines, error } = readMasked(text, mask);
      expect(JSON.stringify([lines, error])).toContain("****");
      expect(JSON.stringify([lines, error])).not.toContain(secret.slice(0, 6));
    }
  });

  test("[PN1] a huge line of OpenTofu's output is cut", () => {
    const { lines } = readLine(message({ "@message": "x".repeat(3_000_000) }));
    expect(lines.map((line) => line.length)).toEqual([4_007]);
  });

  test("[PN1] the lines of OpenTofu's output have no NUL, a bounded length and are well-formed, whatever is printed", () => {
    const texts = fc.oneof(
      fc.string({ unit: "binary", maxLength: 200 }),
      fc.json(),
      fc.json().map((value) => `{"@message":"m","type":"diagnostic","diagnostic":${value}}`),
    );
    fc.assert(
      fc.property(texts, (text) => {
        for (const line of readLine(text).lines) {
          expect(line.includes("\n") || line.includes("\0") || line.length > 4_010 || !line.isWellFormed()).toBe(false);
        }
      }),
    );
  });
});

describe("output", () => {
  test("[PN2] output is split into the same lines however it arrives", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: fc.constantFrom("a", "b", "\n") })), (chunks) => {
        const splitter = lineSplitter();
        const lines = [...chunks.flatMap((chunk) => splitter.push(chunk)), ...splitter.end()];
        const whole = chunks.join("").split("\n");
        expect(lines).toEqual(whole.at(-1) === "" ? whole.slice(0, -1) : whole);
      }),
    );
  });

  test("[PN2] output without a line end does not fill the memory", () => {
    const splitter = lineSplitter(10);
    const lines = ["a".repeat(8), "b".repeat(8), "c".repeat(8), "d\nnext\n"].flatMap((chunk) => splitter.push(chunk));
    expect(lines).toEqual(["aaaaaaaabb", "next"]);
    expect(splitter.end()).toEqual([]);
  });
});

const planned = (address: string, actions: string[], more: object = {}) => ({
  address,
  mode: "managed",
  type: "t",
  change: {
    actions,
    before: actions.includes("create") && actions.length === 1 ? null : { id: `${address}-id` },
    ...more,
  },
});

describe("a plan", () => {
  test("[PN3] a plan says which resources are added, changed and removed", () => {
    const plan = readPlan(
      JSON.stringify({
        format_version: "1.2",
        variables: { token: { value: "secret" } },
        resource_changes: [
          planned("a", ["create"]),
          planned("b", ["update"]),
          planned("c", ["delete", "create"]),
          planned("d", ["delete"]),
          planned("e", ["no-op"]),
          planned("f", ["read"]),
          planned("g", ["no-op"], { importing: { id: "g-cloud" } }),
          planned("h", ["update"], { importing: { id: "h-cloud" } }),
          { ...planned("i", ["create"]), mode: "data" },
        ],
      }),
    );
    expect(plan).toEqual({
      summary: { add: 2, change: 2, remove: 2 },
      steps: 6,
      changes: [
        { action: "create", address: "a", type: "t", id: null },
        { action: "update", address: "b", type: "t", id: "b-id" },
        { action: "replace", address: "c", type: "t", id: "c-id" },
        { action: "delete", address: "d", type: "t", id: "d-id" },
        { action: "import", address: "g", type: "t", id: "g-cloud" },
        { action: "import", address: "h", type: "t", id: "h-cloud" },
      ],
      updates: { b: expect.stringMatching(/^[0-9a-f]{64}$/), h: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
    expect(JSON.stringify(plan)).not.toContain("secret");
  });

  test("[PN170] an update is known by what it changes, without the values of secrets and the tag of the job", () => {
    const hashOf = (change: object) =>
      readPlan(JSON.stringify({ format_version: "1.2", resource_changes: [planned("b", ["update"], change)] })).updates[
        "b"
      ];
    const update = { before: { id: "b", cidr: "10.0.0.0/8" }, after: { id: "b", cidr: "10.0.0.0/16" } };
    const hash = hashOf(update);
    expect(hashOf({ before: { ...update.before, name: "n" }, after: { name: "n", ...update.after } })).toBe(hash);
    expect(hashOf({ ...update, after: { ...update.after, cidr: "0.0.0.0/0" } })).not.toBe(hash);
    expect(hashOf({ ...update, after: { id: "b" }, after_unknown: { cidr: true } })).not.toBe(hash);
    expect(hashOf({ ...update, after: { ...update.after, tags_all: { job: "j" } } })).toBe(hash);
    for (const after_sensitive of [{ password: true }, { password: [{ value: true }] }]) {
      const [one, other] = ["hush", "other"].map((password) =>
        hashOf({ ...update, after: { ...update.after, password }, after_sensitive }),
      );
      expect(one).toBe(other);
      expect(one).not.toBe(hash);
    }
    expect(hashOf({ ...update, after_sensitive: true })).toBe(
      hashOf({ ...update, after: { id: "b", cidr: "0.0.0.0/0" }, after_sensitive: true }),
    );
  });

  test("[PN3] a plan without changes is empty", () => {
    const empty = { summary: { add: 0, change: 0, remove: 0 }, changes: [], updates: {}, steps: 0 };
    expect(readPlan('{"format_version":"1.2"}')).toEqual(empty);
  });

  test.each(["", "Error", "{}", "[]", "null"])("[PN3] the text %j is refused as a plan", (text) => {
    expect(() => readPlan(text)).toThrow("not a plan");
  });
});

describe("a state", () => {
  const state = {
    version: 4,
    serial: 7,
    lineage: "l",
    resources: [
      { mode: "managed", type: "aws_vpc", instances: [{ attributes: { id: "vpc-1", tags: { id: "x" } } }] },
      { mode: "managed", type: "aws_iam_role", instances: [{ attributes: { id: "r", name: "role-1" } }] },
      { mode: "data", type: "aws_ami", instances: [{ attributes: { id: "ami-1" } }] },
    ],
  };

  test.each([
    ["aws_vpc", "vpc-1", true],
    ["aws_vpc", "vpc-2", false],
    ["aws_subnet", "vpc-1", false],
    ["aws_iam_role", "role-1", true],
    ["aws_vpc", "x", false],
    ["aws_ami", "ami-1", false],
  ])("[PN4] whether a state has the resource %s %s is found by type and id", (type, id, known) => {
    expect(readState(JSON.stringify(state))?.knows(type, id)).toBe(known);
  });

  test("[PN46] a state names its unfinished resources by address and id", () => {
    const instances = [
      { index_key: "agent-1", status: "tainted", attributes: { id: "i-1" } },
      { index_key: "agent-2", attributes: { id: "i-2" } },
      { index_key: "agent-2", status: "tainted", deposed: "ab12", attributes: { id: "i-0" } },
    ];
    const resources = [
      { mode: "managed", type: "aws_instance", name: "agent", instances },
      {
        mode: "managed",
        type: "aws_vpc",
        name: "cluster",
        instances: [{ status: "tainted", attributes: { id: "v" } }],
      },
    ];
    const tainted = readState(JSON.stringify({ ...state, resources }))?.tainted ?? [];
    expect(tainted.map(({ address }) => address)).toEqual(['aws_instance.agent["agent-1"]', "aws_vpc.cluster"]);
    expect(tainted[0]?.hasId("aws_instance", "i-1")).toBe(true);
    expect(tainted[0]?.hasId("aws_instance", "i-2")).toBe(false);
  });

  test("[PN4] a state has a serial and a lineage", () => {
    expect(readState(JSON.stringify(state))).toMatchObject({ serial: 7, lineage: "l" });
  });

  test.each(["", "{}", "[]", "null", '{"serial":1}', '{"serial":"1","lineage":"l"}', '{"serial":1.5,"lineage":"l"}'])(
    "[PN4] the text %j is not read as a state",
    (text) => {
      expect(readState(text)).toBeNull();
    },
  );
});
