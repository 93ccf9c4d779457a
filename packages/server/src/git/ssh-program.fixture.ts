import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "./git-program.fixture.ts";

export interface SshProgram {
  /** With this program before the machine's own. */
  readonly searchPath: string;
  /** What it was called with: its arguments, its configuration and its environment. */
  readonly calls: () => string;
  /** Does something else instead, as a shell script. */
  readonly does: (script: string) => void;
}

/** A program `ssh` that runs the command on this machine, as a host without any keys would. */
export function sshProgram(): SshProgram {
  const folder = temporaryFolder();
  const path = join(folder, "ssh");
  const calls = join(folder, "calls");
  const does = (script: string) => {
    const record = `{ echo "args: $*"; cat "$2"; ls -l "$(dirname "$2")"; ls -ld "$(dirname "$2")"; env; } >>'${calls}'`;
    writeFileSync(path, `#!/bin/sh\n${record}\nfor last; do :; done\n${script}\n`);
    chmodSync(path, 0o755);
  };
  does('exec sh -c "$last"');
  return {
    searchPath: `${folder}:${process.env["PATH"] ?? ""}`,
    calls: () => (existsSync(calls) ? readFileSync(calls, "utf8") : ""),
    does,
  };
}
