import { runTofu } from "./tofu.adapter.ts";

/** A worker in a process of its own, for tests that kill it: it runs a program and prints what the program prints. */
const [folder = "", silenceSeconds = "6", ...args] = process.argv.slice(2);
const never = new AbortController().signal;

await runTofu({
  binary: "/bin/sh",
  args,
  folder,
  env: { PATH: process.env["PATH"] ?? "" },
  onLines: (lines) => void process.stdout.write(`${lines.join("\n")}\n`),
  interrupt: never,
  graceMs: 1_000,
  kill: never,
  silenceSeconds: Number(silenceSeconds),
});
