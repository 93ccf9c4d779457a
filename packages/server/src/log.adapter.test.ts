import { Writable } from "node:stream";
import type { LogLevel } from "@binnacle/process";
import { expect, test } from "vitest";
import { createLog } from "./log.adapter.ts";

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

test("[OP5] a line is one JSON object with a level in words and a time in UTC", () => {
  const { log, lines, last } = startLog();
  log.warn({ cluster: "a" }, "two\nlines");
  expect(lines).toHaveLength(1);
  expect(lines[0]?.trimEnd()).not.toContain("\n");
  expect(last()).toEqual({ level: "warn", time: expect.stringMatching(/Z$/), cluster: "a", msg: "two\nlines" });
});

test("[OP5] what is below the configured level is not written", () => {
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
])("[OP7] a secret that comes along is left out: %j", (fields) => {
  const { log, lines } = startLog();
  log.info(fields, "x");
  expect(lines.join()).toContain("(secret)");
  expect(lines.join()).not.toContain("hush");
});
