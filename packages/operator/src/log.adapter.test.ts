import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { createLog } from "./log.adapter.ts";

const JWT = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJjbHVzdGVyIn0.c2lnbmF0dXJlLXNpZ25hdHVyZQ";

function startLog() {
  const lines: string[] = [];
  const sink = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  return { log: createLog("info", sink), lines, last: () => JSON.parse(lines.at(-1) ?? "null") };
}

test("[OL5] a log line is one JSON object with a level in words and a time in UTC", () => {
  const { log, lines, last } = startLog();
  log.warn({ key: "app/shop/web" }, "two\nlines");
  log.debug("below the level");
  expect(lines).toHaveLength(1);
  expect(lines[0]?.trimEnd()).not.toContain("\n");
  expect(last()).toEqual({ level: "warn", time: expect.stringMatching(/Z$/), key: "app/shop/web", msg: "two\nlines" });
});

test("[OL5] a field that is named like a secret is masked at any depth of a log line", () => {
  const { log, lines } = startLog();
  log.info({ token: "hush", frame: { body: { spec: "hush" } }, list: [{ password: "hush" }] }, "x");
  expect(lines.join()).not.toContain("hush");
});

test("[OL5] an error is logged with its stack and its cause, and without a token", () => {
  const { log, lines, last } = startLog();
  const cause = Object.assign(new Error(`refused ${JWT}`), { code: "ECONNREFUSED", config: { headers: "hush" } });
  log.error({ err: new Error("failed", { cause }) }, "x");
  expect(last().err).toMatchObject({ message: "failed", stack: expect.stringContaining("log.adapter.test.ts") });
  expect(last().err.cause).toMatchObject({ message: "refused [masked]", code: "ECONNREFUSED" });
  expect(lines.join()).not.toContain("hush");
  expect(lines.join()).not.toContain(JWT);
});
