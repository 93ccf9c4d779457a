import { spawn } from "node:child_process";
import { constants } from "node:fs";
import { chmod, mkdir, mkdtemp, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { homedir, hostname, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { clearScreenDown, moveCursor } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { processConsole } from "./console.adapter.ts";
import { CliError, EXIT, type Host, type ProgramEnd, type Sink } from "./host.ts";

const sinkOf = (stream: NodeJS.WriteStream): Sink => ({
  isTerminal: stream.isTTY === true,
  get columns() {
    return stream.columns || 80;
  },
  write: (text) => void stream.write(text),
});

/** This process, its terminal and its files. */
export function processHost(): Host {
  const interruption = new AbortController();
  process.on("SIGINT", () => {
    // A second Ctrl-C ends a command that does not end by itself.
    if (interruption.signal.aborted) process.exit(EXIT.interrupted);
    interruption.abort(new CliError("Interrupted.", EXIT.interrupted));
  });
  // The reader of a pipe may leave early, as `head` does.
  process.stdout.on("error", (error: NodeJS.ErrnoException) =>
    process.exit(error.code === "EPIPE" ? EXIT.ok : EXIT.failed),
  );
  let drawn = 0;
  return {
    env: process.env,
    hostname: hostname(),
    out: sinkOf(process.stdout),
    err: sinkOf(process.stderr),
    console: processConsole(),
    isInteractive: process.stdin.isTTY === true && process.stderr.isTTY === true,
    interrupted: interruption.signal,
    fetch: (...args) => globalThis.fetch(...args),
    now: () => Date.now(),
    sleep: (ms, signal) => delay(ms, undefined, signal ? { signal } : {}),
    async readInput() {
      const chunks: Buffer[] = [];
      for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk as Buffer));
      return Buffer.concat(chunks).toString("utf8");
    },
    readFile: (path) =>
      readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => Promise.reject(fileError(path, error))),
    writeFile: (path, text, replace) =>
      writeFile(path, text, { flag: replace ? "w" : "wx" }).catch((error: NodeJS.ErrnoException) =>
        Promise.reject(fileError(path, error)),
      ),
    readState: () =>
      readFile(stateFile(), "utf8").catch((error: NodeJS.ErrnoException) =>
        error.code === "ENOENT" ? null : Promise.reject(fileError(stateFile(), error)),
      ),
    writeState,
    async confirm(question) {
      const { confirm, isCancel } = await import("@clack/prompts");
      const answer = await confirm({ message: question, initialValue: false, output: process.stderr });
      return isCancel(answer) ? null : answer;
    },
    async password(question) {
      const { password, isCancel } = await import("@clack/prompts");
      const answer = await password({ message: question, output: process.stderr });
      return isCancel(answer) ? null : answer;
    },
    openPage,
    edit,
    kubectl,
    draw(lines, isNew) {
      if (isNew) drawn = 0;
      if (drawn > 0) moveCursor(process.stderr, 0, -drawn);
      clearScreenDown(process.stderr);
      process.stderr.write(lines.map((line) => `${line}\n`).join(""));
      drawn = lines.length;
    },
  };
}

const stateFile = () => join(process.env["XDG_CONFIG_HOME"] || join(homedir(), ".config"), "binnacle", "contexts.json");

/** It holds tokens, so nobody else may read it; and a run that is killed leaves the old file or the new one. */
async function writeState(text: string): Promise<void> {
  const file = stateFile();
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await chmod(dirname(file), 0o700);
  const next = `${file}.${process.pid}`;
  try {
    const handle = await open(
      next,
      constants.O_CREAT | constants.O_WRONLY | constants.O_TRUNC | constants.O_NOFOLLOW,
      0o600,
    );
    try {
      await handle.chmod(0o600);
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(next, file);
  } catch (error) {
    await rm(next, { force: true });
    throw fileError(file, error as NodeJS.ErrnoException);
  }
}

function fileError(path: string, { code }: NodeJS.ErrnoException): CliError {
  if (code === "ENOENT") return new CliError(`There is no file ${path}.`);
  if (code === "EEXIST") return new CliError(`${path} exists already.`, EXIT.conflict, "add --force to replace it");
  if (code === "EACCES" || code === "EPERM") return new CliError(`${path} may not be opened.`, EXIT.failed);
  return new CliError(`${path} could not be used: ${code ?? "unknown error"}.`, EXIT.failed);
}

/** In a file of a folder that only this person can read. The variable may hold options, so a shell reads it. */
async function edit(text: string, name: string): Promise<string | null> {
  const editor = process.env["VISUAL"] || process.env["EDITOR"] || "vi";
  const folder = await mkdtemp(join(tmpdir(), "binnacle-"));
  const file = join(folder, name);
  try {
    await writeFile(file, text, { mode: 0o600 });
    const command = process.platform === "win32" ? `${editor} "%EDITED_FILE%"` : `${editor} "$EDITED_FILE"`;
    const env = { ...process.env, EDITED_FILE: file };
    const code = await new Promise<number | null>((resolve, reject) => {
      const child = spawn(command, { shell: true, stdio: "inherit", env });
      child.on("error", reject).on("close", resolve);
    });
    if (code !== 0) throw new CliError(`The editor ${editor} has failed. Set EDITOR to another one.`, EXIT.failed);
    return (await readFile(file, "utf8")).trim() === "" ? null : await readFile(file, "utf8");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Without a shell. */
function kubectl(args: readonly string[], input = ""): Promise<ProgramEnd> {
  return new Promise((resolve, reject) => {
    const child = spawn("kubectl", args, { stdio: "pipe" });
    const [out, err]: [Buffer[], Buffer[]] = [[], []];
    child.stdout.on("data", (data: Buffer) => out.push(data));
    child.stderr.on("data", (data: Buffer) => err.push(data));
    child.on("error", () =>
      reject(new CliError("kubectl cannot be started. Install it, and give it access to the cluster.")),
    );
    child.on("close", (code) =>
      resolve({ code: code ?? EXIT.failed, out: Buffer.concat(out).toString(), err: Buffer.concat(err).toString() }),
    );
    // It may end without reading.
    child.stdin.on("error", () => undefined).end(input);
  });
}

const OPENERS: Partial<Record<NodeJS.Platform, string>> = { darwin: "open", linux: "xdg-open", win32: "explorer" };

/** The address is given to the program as one argument, without a shell. */
function openPage(url: string): Promise<boolean> {
  const opener = OPENERS[process.platform];
  if (!opener || !/^https?:\/\//.test(url)) return Promise.resolve(false);
  return new Promise((resolve) => {
    const child = spawn(opener, [url], { stdio: "ignore", detached: true });
    child.on("error", () => resolve(false));
    child.on("spawn", () => {
      child.unref();
      resolve(true);
    });
  });
}
