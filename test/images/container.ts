import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, vi } from "vitest";
import { IMAGES } from "../../scripts/images/definitions.ts";
import type { IdleMemory } from "../../scripts/images/sizes.ts";
import { blobPath, imageOf } from "./layout.ts";

/** Containers change their root folder and mount it anew, which only root may do. */
export const CAN_RUN = process.platform === "linux" && process.getuid?.() === 0;

const MACHINES: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" };

export interface Container {
  readonly child: ChildProcess;
  printed(): string;
  readonly exited: Promise<number | null>;
  memory(): IdleMemory;
}

/** On a read-only root with nothing of the machine in it but the network, as a pod with restricted rights has it. */
const START = `
root=$1 && shift
mount --bind "$root" "$root" && mount -o remount,bind,ro "$root" && mount -t tmpfs tmpfs "$root/tmp"
exec env -i "$@"
`;

interface Start {
  readonly env?: Record<string, string>;
  /** Texts by their paths, as a pod has them from a volume. */
  readonly files?: Record<string, string>;
  /** Replaces the program. */
  readonly entrypoint?: readonly string[];
  readonly args?: readonly string[];
}

/** Starts the program of an image as its user, for the platform of this machine. */
export function startContainer(name: string, { env = {}, files = {}, entrypoint, args = [] }: Start = {}): Container {
  const { layers, config } = imageOf(name, MACHINES[process.arch] ?? process.arch);
  const root = mkdtempSync(join(tmpdir(), `binnacle-${name}-`));
  // It is the root folder of the container's user too.
  chmodSync(root, 0o755);
  for (const { digest } of layers) execFileSync("tar", ["-xzpf", blobPath(name, digest), "-C", root]);
  for (const [path, text] of Object.entries(files)) writeFileSync(join(root, path), text);
  const { Env, Entrypoint, User } = config.config;
  const variables = [...Env, ...Object.entries(env).map(([variable, value]) => `${variable}=${value}`)];
  const chroot = [CHROOT, `--userspec=${User}`, root, ...(entrypoint ?? Entrypoint), ...args];
  const child = spawn("unshare", ["--mount", "sh", "-ec", START, "sh", root, ...variables, ...chroot], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes) => (output += String(bytes)));
  const exited = once(child, "exit").then(([code]) => code as number | null);
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await exited;
    rmSync(root, { recursive: true });
  });
  const memory = () => {
    const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
    const megabytes = (part: string) =>
      (Number(new RegExp(`^Rss${part}:\\s+(\\d+) kB$`, "m").exec(status)?.[1]) * 1024) / 1e6;
    return { ownMb: megabytes("Anon") + megabytes("Shmem"), mappedMb: megabytes("File") };
  };
  return { child, printed: () => output, exited, memory };
}

const SAMPLES = 10;
const SETTLED_WITHIN_MB = 2;

/**
 * The memory of a container once it has settled: the largest of ten samples, one each second, that are the same but for two
 * megabytes. What a start takes and releases is not in it.
 */
function settledMemory({ memory }: Container): Promise<IdleMemory> {
  const samples: IdleMemory[] = [];
  const settled = () => {
    samples.push(memory());
    const last = samples.slice(-SAMPLES).sort((one, other) => one.ownMb - other.ownMb);
    const [least, most] = [last[0], last.at(-1)];
    const isSettled = last.length === SAMPLES && least && most && most.ownMb - least.ownMb <= SETTLED_WITHIN_MB;
    if (!isSettled)
      throw new Error(`It has not settled: ${samples.map(({ ownMb }) => Math.round(ownMb)).join(", ")} MB.`);
    return { ownMb: Math.round(most.ownMb), mappedMb: Math.round(most.mappedMb) };
  };
  return vi.waitFor(settled, { timeout: 60_000, interval: 1_000 });
}

const MEASURED = new URL("../../scripts/images/idle-memory.json", import.meta.url);
/** How far a measurement may be from the stored one. */
const DEVIATION = 0.25;

/** Compares the settled memory with the limit, and with what `npm run images` prints; UPDATE=1 stores it. */
export async function requireIdleMemory(name: string, container: Container): Promise<void> {
  const memory = await settledMemory(container);
  const limitMb = IMAGES.find((image) => image.name === name)?.memoryLimitMb ?? 0;
  expect(memory.ownMb).toBeLessThan(limitMb);
  const stored = JSON.parse(readFileSync(MEASURED, "utf8"));
  const platform = `linux/${MACHINES[process.arch]}`;
  if (process.env["UPDATE"]) {
    const images = { ...(stored.platform === platform ? stored.images : {}), [name]: memory };
    writeFileSync(MEASURED, `${JSON.stringify({ platform, images }, null, 2)}\n`);
  } else if (platform === stored.platform) {
    const { ownMb } = stored.images[name];
    const message = "Store what is measured now: UPDATE=1 npm run test:images -- test/images/run.built.test.ts";
    expect(Math.abs(memory.ownMb - ownMb) / ownMb, message).toBeLessThan(DEVIATION);
  }
}

// By its path, because programs are looked for where the image says.
const CHROOT = CAN_RUN ? execFileSync("sh", ["-c", "command -v chroot"], { encoding: "utf8" }).trim() : "";
