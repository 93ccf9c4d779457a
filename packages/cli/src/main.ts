#!/usr/bin/env node
import { COMMANDS, GROUPS } from "./commands.ts";
import { processHost } from "./host.adapter.ts";
import { runCli } from "./program.ts";

// The exit code is set rather than forced, so that everything that was written reaches a pipe.
runCli(process.argv.slice(2), processHost(), COMMANDS, GROUPS).then(
  (code) => {
    process.exitCode = code;
    process.stdin.unref?.();
  },
  (error: unknown) => {
    process.stderr.write(`error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exitCode = 1;
  },
);
