import { describe, expect, test } from "vitest";
import { codedConflict, notFound } from "../fault.ts";
import { someApp } from "./app.fixture.ts";
import { closingOf, type ExecReason, execProblem, readClientFrame, reasonOf } from "./exec.ts";

test.each([
  ["a running app", {}, "web", true, null],
  ["an unknown component", {}, "db", true, { kind: "not_found" }],
  ["an app that is being deleted", { phase: "deleting" }, "web", true, { detail: { code: "app_deleting" } }],
  ["a cluster where it is switched off", {}, "web", false, { detail: { code: "exec_disabled" } }],
] as const)(
  "[EX9] a command in %s is permitted or refused with its reason",
  (_what, changes, component, isEnabled, problem) => {
    const found = execProblem(someApp(changes), component, isEnabled);
    if (problem) expect(found).toMatchObject(problem);
    else expect(found).toBeNull();
  },
);

const sized = (text: string) => Buffer.concat([Buffer.of(4), Buffer.from(text)]);

test.each([
  [Buffer.from("\0ls"), true, { input: Buffer.from("ls") }],
  [Buffer.from("\0"), true, { end: true }],
  [sized('{"cols":80,"rows":24}'), true, { size: { cols: 80, rows: 24 } }],
  [sized('{"cols":80,"rows":24,"more":1}'), true, { size: { cols: 80, rows: 24 } }],
])("[EX4] the client frame %j is read", (data, isBinary, read) => {
  expect(readClientFrame(data, isBinary)).toEqual(read);
});

test.each([
  [Buffer.from("\0ls"), false],
  [Buffer.alloc(0), true],
  [Buffer.of(1), true],
  [Buffer.of(3, 1), true],
  [sized('{"cols":1001,"rows":24}'), true],
  [sized('{"cols":1.5,"rows":24}'), true],
  [sized('{"cols":"80","rows":24}'), true],
  [sized("[]"), true],
  [sized("null"), true],
  [sized(`{"cols":80,"rows":24${" ".repeat(100)}}`), true],
])("[EX4] the client frame %j is refused", (data, isBinary) => {
  expect(readClientFrame(data, isBinary)).toEqual({ problem: expect.any(String) });
});

describe("the end of a session", () => {
  const reasons: ExecReason[] = ["exited", "idle", "too_long", "credential_ended", "access_lost", "app_gone"];
  test.each(reasons)(
    "[EX8] an exec session that ends by %s has a code and a reason that fits into a close frame",
    (reason) => {
      const [code, words] = closingOf(reason) ?? [];
      expect(code).toBeGreaterThanOrEqual(1000);
      expect(Buffer.byteLength(words ?? "")).toBeLessThanOrEqual(123);
    },
  );

  test("[EX8] a close frame has the given reason unless it is too long, and a client that is gone gets none", () => {
    expect(closingOf("failed", "no such file")).toEqual([4502, "no such file"]);
    expect(closingOf("failed", "é".repeat(62))).toEqual([4502, "The command could not be run."]);
    expect(closingOf("client_lost")).toBeNull();
  });

  test("[EX8] the reason why an exec session ends follows from the problem of the app", () => {
    expect(reasonOf(codedConflict("exec_disabled", "Off."))).toBe("exec_disabled");
    expect(reasonOf(codedConflict("app_deleting", "It goes."))).toBe("app_gone");
    expect(reasonOf(notFound("App"))).toBe("app_gone");
  });
});
