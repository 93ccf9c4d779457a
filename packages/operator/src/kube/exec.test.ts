import { expect, test } from "vitest";
import { execQuery, readExecFrame, resizeFrame, stdinEndFrame, stdinFrame } from "./exec.ts";

const size = { cols: 80, rows: 24 };
const frame = (channel: number, text: string) => Buffer.concat([Buffer.of(channel), Buffer.from(text)]);
const failure = (changes: object) => JSON.stringify({ status: "Failure", ...changes });

test("[EX16] every word of a command is a query parameter of its own, and a terminal has one output", () => {
  const query = new URLSearchParams(
    execQuery({ container: "web", command: ["sh", "-c", "echo a&b=c"], tty: true, size }),
  );
  expect(query.getAll("command")).toEqual(["sh", "-c", "echo a&b=c"]);
  expect(Object.fromEntries(query)).toMatchObject({ container: "web", stdin: "true", stderr: "false", tty: "true" });
  expect(execQuery({ container: "web", command: ["ls"], tty: false, size })).toContain("stderr=true&tty=false");
});

test("[EX16] the input, the end of the input and terminal sizes are encoded as frames of the API server", () => {
  expect(stdinFrame(Buffer.from("ls")).toString()).toBe("\u0000ls");
  expect([...stdinEndFrame()]).toEqual([255, 0]);
  expect(resizeFrame(size).toString()).toBe('\u0004{"Width":80,"Height":24}');
});

test.each([
  [frame(1, "out"), { channel: "stdout", data: Buffer.from("out") }],
  [frame(2, "err"), { channel: "stderr", data: Buffer.from("err") }],
  [frame(1, ""), { channel: "stdout", data: Buffer.alloc(0) }],
  [frame(3, '{"status":"Success"}'), { ending: { exitCode: 0 } }],
  [
    frame(
      3,
      failure({ reason: "NonZeroExitCode", details: { causes: [{ reason: "ExitCode", message: "3" }] }, message: "x" }),
    ),
    { ending: { exitCode: 3 } },
  ],
  [frame(3, failure({ reason: "InternalError", message: "no such file" })), { ending: { error: "no such file" } }],
  [frame(3, failure({ reason: "NonZeroExitCode" })), { ending: { error: "The command could not be run." } }],
  [frame(3, "broken"), { ending: { error: "The command could not be run." } }],
  [frame(3, "null"), { ending: { error: "The command could not be run." } }],
  [frame(9, "?"), null],
  [Buffer.alloc(0), null],
])("[EX16] a frame %j is read", (bytes, read) => {
  expect(readExecFrame(bytes)).toEqual(read);
});
