import { execFileSync } from "node:child_process";
import { Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { LogLevel } from "@binnacle/process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createLog, terminalFormat } from "./log.adapter.ts";

function startLog(level: LogLevel = "info") {
  const lines: string[] = [];
  const sink = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  return { log: createLog(level, sink), lines, last: () => JSON.parse(lines.at(-1) ?? "null") };
}

test("[OP5] a log line is one JSON object with a level in words and a time in UTC", () => {
  const { log, lines, last } = startLog();
  log.warn({ cluster: "a" }, "two\nlines");
  expect(lines).toHaveLength(1);
  expect(lines[0]?.trimEnd()).not.toContain("\n");
  expect(last()).toEqual({ level: "warn", time: expect.stringMatching(/Z$/), cluster: "a", msg: "two\nlines" });
});

test("[OP5] a log line below the configured level is not written", () => {
  const { log, lines } = startLog("warn");
  log.info("quiet");
  log.error("loud");
  expect(lines).toHaveLength(1);
});

test("[OP6] an error is logged with its stack, its code and its cause", () => {
  const { log, last } = startLog();
  const cause = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
  log.error({ err: new Error("failed", { cause }) }, "x");
  expect(last().err).toMatchObject({
    name: "Error",
    message: "failed",
    stack: expect.stringContaining("log.adapter.test.ts"),
    cause: { message: "refused", code: "ECONNREFUSED" },
  });
});

test("[OP6] the row that a database error is about is not logged", () => {
  const { log, lines, last } = startLog();
  const error = Object.assign(new Error('duplicate key value violates unique constraint "users_email_taken"'), {
    code: "23505",
    constraint: "users_email_taken",
    detail: "Key (email)=(hush@example.com) already exists.",
    where: "PL/pgSQL function with hush",
    internalQuery: "select 'hush'",
    parameters: ["hush"],
  });
  log.error({ err: new Error("outer", { cause: error }) }, "x");
  expect(last().err.cause).toMatchObject({ code: "23505", constraint: "users_email_taken" });
  expect(lines.join()).not.toContain("hush");
});

test("[OP6] a value that a database error quotes is not logged", () => {
  const { log, lines, last } = startLog();
  const error = Object.assign(new Error('invalid input syntax for type uuid: "hush $& hush"'), { code: "22P02" });
  log.error({ err: error }, "x");
  expect(last().err).toMatchObject({ message: "a value was refused by the database", code: "22P02" });
  expect(last().err.stack).toContain("log.adapter.test.ts");
  expect(lines.join()).not.toContain("hush");
});

test.each([
  { password: "hush" },
  { user: { current_password: "hush" } },
  { request: { headers: { authorization: "hush", cookie: "hush" } } },
  { answer: { access_token: "hush", token: "hush", connection_token: "hush", private_key: "hush" } },
])("[OP7] the secrets in the log fields %j are left out", (fields) => {
  const { log, lines } = startLog();
  log.info(fields, "x");
  expect(lines.join()).toContain("(secret)");
  expect(lines.join()).not.toContain("hush");
});

/** Logs through the format for people, and returns the lines as they reach the terminal. */
async function startTerminal(hasColors = false) {
  const format = await terminalFormat(hasColors);
  let text = "";
  const log = createLog("info", {
    write: (line) => {
      text += format(line);
    },
  });
  return { log, lines: () => text.replace(/\n$/, "").split("\n"), text: () => text };
}
const TIME = String.raw`\[\d\d:\d\d:\d\d\.\d{3}\]`;

test("[OP27] a log line for people has the time, the level, the message and the fields by name", async () => {
  const { log, lines } = await startTerminal();
  log.info({ name: "sandbox", cluster_id: "c1", hostname: "h", pid: 7, seen: ["a b"], none: null }, "it has connected");
  log.warn("bare");
  expect(lines()).toEqual([
    expect.stringMatching(
      new RegExp(
        `^${TIME} INFO: it has connected name=sandbox cluster_id=c1 hostname=h pid=7 seen=\\["a b"\\] none=null$`,
      ),
    ),
    expect.stringMatching(new RegExp(`^${TIME} WARN: bare$`)),
  ]);
});

test("[OP27] in a log for people a request is one sentence, and an error has its stack and causes below it", async () => {
  const { log, lines } = await startTerminal();
  log.info({ request_id: "r1", method: "GET", route: "/api/v1/orgs", status: 200, ms: 3.1, source: "::1" }, "request");
  const cause = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
  log.error({ err: new Error("failed", { cause }), cluster_id: "c1" }, "it failed");
  const [request, failure, ...below] = lines();
  expect(request).toMatch(/ INFO: GET \/api\/v1\/orgs 200 in 3\.1 ms request_id=r1 source=::1$/);
  expect(failure).toMatch(/ ERROR: it failed cluster_id=c1$/);
  expect(below[0]).toBe("    Error: failed");
  expect(below).toContain("    caused by: Error: refused");
  expect(below.filter((line) => !line.startsWith("    "))).toEqual([]);
  expect(below.join()).toContain("(ECONNREFUSED)");
});

test("[OP27] a log for people has no colours if the terminal has none", async () => {
  const [plain, coloured] = [await startTerminal(false), await startTerminal(true)];
  for (const { log } of [plain, coloured]) log.warn({ cluster_id: "c1" }, "x");
  expect(plain.text()).not.toContain("\u001B");
  expect(coloured.text()).toContain("\u001B[33mWARN");
});

test("[OP27] a log that is not on a terminal does not load the library for terminal lines", () => {
  const adapter = fileURLToPath(new URL("log.adapter.ts", import.meta.url));
  const program = `
    const { openLog } = await import(${JSON.stringify(adapter)});
    const { cache } = (await import("node:module")).createRequire(${JSON.stringify(adapter)});
    const tell = () => console.log("loaded:", Object.keys(cache).some((file) => file.includes("pino-pretty")));
    (await openLog("info", "local", { isTTY: false })).info("in local");
    (await openLog("info", "production", { isTTY: true })).info("in production");
    tell();
    (await openLog("info", "local", { isTTY: true })).info("on a terminal");
    tell();`;
  const printed = execFileSync(process.execPath, ["--input-type=module", "--eval", program], { encoding: "utf8" });
  const lines = printed.trim().split("\n");
  expect(lines.filter((line) => line.startsWith("loaded"))).toEqual(["loaded: false", "loaded: true"]);
  const written = lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line).msg);
  expect(written).toEqual(["in local", "in production"]);
  expect(lines.find((line) => line.endsWith("on a terminal"))).toMatch(new RegExp(`^${TIME} INFO: on a terminal$`));
});

const HOSTILE = "x\n[00:00:00.000] INFO: forged\r\u001B[2J\u009B1A\u0007\u007F\u2028\u202E\u200B\b";

test.each<[string, () => [object, string]]>([
  ["a value", () => [{ account: HOSTILE }, "x"]],
  ["a name", () => [{ [HOSTILE]: 1 }, "x"]],
  ["a nested value", () => [{ seen: [{ [HOSTILE]: HOSTILE }] }, "x"]],
  ["a message", () => [{}, HOSTILE]],
  ["an error", () => [{ err: new Error(HOSTILE, { cause: new Error(HOSTILE) }) }, "x"]],
  ["the code of an error", () => [{ err: Object.assign(new Error("x"), { code: HOSTILE }) }, "x"]],
  ["a time", () => [{ time: HOSTILE }, "x"]],
  ["a level", () => [{ level: HOSTILE }, "x"]],
  ["a route", () => [{ method: HOSTILE, route: HOSTILE }, "request"]],
])("[OP28] %s with control characters moves no cursor and forges no line of the log", async (_, logged) => {
  const { log, lines } = await startTerminal();
  log.info(...logged());
  expect(lines().filter((line) => /^\S/.test(line))).toHaveLength(1);
  expect(lines().join("")).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
});

test("[OP28] no logged text writes a control character or a second line", async () => {
  const { log, text } = await startTerminal();
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.jsonValue(), (message, value) => {
      const before = text().length;
      log.info({ value }, message);
      expect(text().slice(before)).toMatch(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+\n$/u);
    }),
  );
});
