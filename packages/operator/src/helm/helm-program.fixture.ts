import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { binaryFolder } from "../../../../test/kube/binaries.ts";

const folder = binaryFolder();
/** The real program, which `test/kube/build.sh helm` builds; null where there is none. */
export const HELM = folder && existsSync(join(folder, "helm")) ? join(folder, "helm") : null;

/** Helm with somebody who writes down each call before it begins: its process, its arguments, its variables. */
export async function watchedHelm() {
  const home = await mkdtemp(join(tmpdir(), "watched-helm-"));
  const calls = join(home, "calls");
  const program = join(home, "helm");
  const temporary = join(home, "temporary");
  await mkdir(temporary);
  await mkdir(calls);
  // Under its name only when it is whole.
  const note = `{ echo "$$ $*"; env; } >"${calls}/.$$" && mv "${calls}/.$$" "${calls}/$(date +%s%N)-$$"`;
  await writeFile(program, `#!/bin/sh\n${note}\nexec "${HELM ?? "helm"}" "$@"\n`);
  await chmod(program, 0o755);
  const before = process.env["TMPDIR"];
  process.env["TMPDIR"] = temporary;
  return {
    program,
    async calls(): Promise<{ readonly pid: number; readonly args: string; readonly text: string }[]> {
      const names = (await readdir(calls)).filter((name) => !name.startsWith(".")).sort();
      const texts = await Promise.all(names.map((name) => readFile(join(calls, name), "utf8")));
      return texts.map((text) => {
        const [first = ""] = text.split("\n");
        const [pid = ""] = first.split(" ");
        return { pid: Number(pid), args: first.slice(pid.length + 1), text };
      });
    },
    /** Lists the folders of Helm that were not removed. */
    leftovers: () => readdir(temporary),
    async remove() {
      if (before === undefined) delete process.env["TMPDIR"];
      else process.env["TMPDIR"] = before;
      await rm(home, { recursive: true, force: true });
    },
  };
}
export type WatchedHelm = Awaited<ReturnType<typeof watchedHelm>>;
