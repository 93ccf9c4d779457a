import { expect, test } from "vitest";
import { simulatedCommand } from "./shell.ts";

function ran(command: readonly string[], tty: boolean, typed: readonly string[] = [], isEnded = false) {
  const seen = { stdout: "", stderr: "", code: null as number | null };
  const input = simulatedCommand({ pod: "web-0", container: "web", command, tty })({
    write: (channel, text) => {
      seen[channel] += text;
    },
    exit: (code) => {
      seen.code = code;
    },
  });
  for (const text of typed) input.input(text);
  if (isEnded) input.end();
  return seen;
}

test.each<[readonly string[], string, string, number]>([
  [["/bin/sh", "-c", "echo hello; exit 3"], "hello\n", "", 3],
  [["echo", "a", "b c"], "a b c\n", "", 0],
  [["/bin/sh", "-c", "echo 'a  b' \"c d\""], "a  b c d\n", "", 0],
  [["stty", "size"], "24 80\n", "", 0],
  [["ls"], "", "ls: not found: this container is simulated and knows echo, exit and stty size\n", 127],
  [["sh", "-c"], "", "", 0],
])("[EX18] the sandbox runs %j", (command, stdout, stderr, code) => {
  expect(ran(command, false)).toEqual({ stdout, stderr, code });
});

test("[EX18] the sandbox's shell says that it is simulated, shows what is typed, and ends with `exit`", () => {
  const { stdout, code } = ran(["/bin/sh"], true, ["echo hx\u007fi\r", "\u0003", "exit 4\r", "echo after\r"]);
  expect(stdout).toMatch(/^The container web of the pod web-0 is simulated/);
  expect(stdout).toContain("echo hx\b \bi\r\nhi\r\n$ ^C\r\n$ exit 4\r\n");
  expect(stdout).not.toContain("after");
  expect(code).toBe(4);
  expect(ran(["/bin/sh"], true, ["\u0004"]).code).toBe(0);
});

test("[EX18] the sandbox's shell reads lines from a pipe to their end", () => {
  expect(ran(["sh"], false, ["echo one\nec", "ho two"], true)).toEqual({ stdout: "one\ntwo\n", stderr: "", code: 0 });
});
