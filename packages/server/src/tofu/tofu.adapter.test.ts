import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { isAlive } from "@binnacle/world/server-process";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { findTofu, runTofu, type TofuCall } from "./tofu.adapter.ts";

const SOON = { timeout: 20_000, interval: 20 };
const PATH = process.env["PATH"] ?? "";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tofu-"));
});

/** A shell script in the place of OpenTofu. `until` is called with each line. */
function run(script: string, more: Partial<TofuCall> & { onLine?: (line: string) => void } = {}) {
  const never = new AbortController().signal;
  const lines: string[] = [];
  const end = runTofu({
    binary: "/bin/sh",
    args: ["-c", script],
    folder,
    env: { PATH },
    interrupt: never,
    graceMs: 60_000,
    kill: never,
    onLines(printed) {
      lines.push(...printed);
      for (const line of printed) more.onLine?.(line);
    },
    ...more,
  });
  return { end, lines };
}

describe("a run of the program", () => {
  test("[PN12] a run of the program gives its lines and its exit code", async () => {
    const { end, lines } = run("echo one; echo two; printf three; exit 3");
    expect(await end).toEqual({ code: 3, output: "" });
    expect(lines).toEqual(["one", "two", "three"]);
  });

  test("[PN12] a run of the program gives its output as one text if requested, and errors as lines", async () => {
    const { end, lines } = run("echo one; echo two; echo bad >&2", { collects: true });
    expect(await end).toEqual({ code: 0, output: "one\ntwo\n" });
    expect(lines).toEqual(["bad"]);
  });

  test("[PN13] the program sees the given environment and nothing else", async () => {
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "inherited");
    const { end, lines } = run("env", { env: { PATH, GIVEN: "1" } });
    await end;
    vi.unstubAllEnvs();
    const names = lines.map((line) => line.split("=")[0]);
    expect(names).toContain("GIVEN");
    // The shell sets the last three by itself.
    expect(names.filter((name) => !["PATH", "GIVEN", "PWD", "SHLVL", "_", "OLDPWD"].includes(name ?? ""))).toEqual([]);
  });

  test("[PN12] a run of the program gives no further output until the lines are taken", async () => {
    let isTaking = false;
    let isBeside = false;
    const { end } = run("i=0; while [ $i -lt 2000 ]; do echo $i; i=$((i+1)); done", {
      async onLines() {
        isBeside ||= isTaking;
        isTaking = true;
        await new Promise(setImmediate);
        isTaking = false;
      },
    });
    await end;
    expect(isBeside).toBe(false);
  });

  test("[PN14] a program that is asked to end may save its state before it ends", async () => {
    const stop = new AbortController();
    const { end, lines } = run("trap 'echo saved; exit 1' INT; echo ready; while :; do sleep 0.05; done", {
      interrupt: stop.signal,
      onLine: (line) => line === "ready" && stop.abort(),
    });
    expect(await end).toEqual({ code: 1, output: "" });
    expect(lines).toEqual(["ready", "saved"]);
  });

  test("[PN14] a program that does not end within its grace is killed", async () => {
    const stop = new AbortController();
    const { end } = run("trap '' INT; echo ready; while :; do sleep 0.05; done", {
      interrupt: stop.signal,
      graceMs: 50,
      onLine: (line) => line === "ready" && stop.abort(),
    });
    expect((await end).code).toBeNull();
  });

  test("[PN15] a program that is killed leaves none of its children", async () => {
    const kill = new AbortController();
    const { end, lines } = run("sleep 600 & echo $!; sh -c 'echo $$; exec sleep 600' & wait", {
      kill: kill.signal,
      onLine: () => lines.length === 2 && kill.abort(),
    });
    expect((await end).code).toBeNull();
    await vi.waitFor(() => expect(lines.map(Number).filter(isAlive)).toEqual([]), SOON);
  });

  test("[PN15] a program that has ended leaves none of its children", async () => {
    const { end, lines } = run("sleep 600 & echo $!");
    expect((await end).code).toBe(0);
    await vi.waitFor(() => expect(lines.map(Number).filter(isAlive)).toEqual([]), SOON);
  });

  test("[PN12] a run that is aborted beforehand is not started", async () => {
    const { end } = run("echo ready", { kill: AbortSignal.abort(new Error("lost")) });
    await expect(end).rejects.toThrow("lost");
  });

  test("[PN12] a run fails with the error of the reader of its lines", async () => {
    const { end } = run("echo a; sleep 600", { onLines: () => Promise.reject(new Error("no room")) });
    await expect(end).rejects.toThrow("no room");
  });
});

describe("a worker", () => {
  let worker: ChildProcess;
  afterEach(() => void worker.kill("SIGKILL"));

  /** Starts a worker whose program prints its own process id and those of two children. */
  async function startedWorker(silenceSeconds: number): Promise<number[]> {
    const script = "echo $$; sleep 600 & echo $!; sh -c 'echo $$; exec sleep 600' & wait";
    const program = fileURLToPath(new URL("./tofu.process.fixture.ts", import.meta.url));
    worker = spawn(process.execPath, [program, folder, String(silenceSeconds), "-c", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    if (!worker.stdout) throw new Error("The worker has no output.");
    const pids: number[] = [];
    const output = createInterface(worker.stdout);
    output.on("line", (line) => pids.push(Number(line)));
    await vi.waitFor(() => expect(pids).toHaveLength(3), SOON);
    expect(pids.filter(isAlive)).toEqual(pids);
    return pids;
  }

  test("[PN16] a worker that is killed takes the program and all its children with it", async () => {
    const pids = await startedWorker(600);
    worker.kill("SIGKILL");
    await once(worker, "exit");
    await vi.waitFor(() => expect(pids.filter(isAlive)).toEqual([]), SOON);
  });

  test("[PN16] a worker that stands still loses the program before another worker may begin", async () => {
    const pids = await startedWorker(2);
    worker.kill("SIGSTOP");
    await vi.waitFor(() => expect(pids.filter(isAlive)).toEqual([]), SOON);
    worker.kill("SIGCONT");
  });
});

describe("the program", () => {
  test("[PN17] the program is the configured one, or tofu, or terraform on the search path", async () => {
    const place = await mkdtemp(join(tmpdir(), "path-"));
    const install = async (name: string) => {
      await writeFile(join(place, name), "#!/bin/sh\n");
      await chmod(join(place, name), 0o755);
      return join(place, name);
    };
    expect(await findTofu(null, place)).toBeNull();
    const terraform = await install("terraform");
    expect(await findTofu(null, `relative:${place}`)).toBe(terraform);
    const tofu = await install("tofu");
    expect(await findTofu(null, place)).toBe(tofu);
    expect(await findTofu("terraform", place)).toBe(terraform);
    expect(await findTofu(terraform, "")).toBe(terraform);
    await chmod(tofu, 0o644);
    expect(await findTofu("tofu", place)).toBeNull();
    expect(await readFile(tofu, "utf8")).toContain("sh");
  });
});
