import { execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { inject, vi } from "vitest";
import { PATHS } from "./registry-clients.ts";

/** Folders that guides write into. What is written there is seen by the machine of the test alone. */
const OWN_FOLDERS = ["/etc", "/opt", "/usr/local", "/var/lib", "/var/log", "/var/backups"];

/** `docker compose` is a program of its own where Docker comes without its plugin, as Debian's does. */
const COMPOSE = `
docker() {
  if [ "$1" != compose ] || command docker compose version >/dev/null 2>&1; then command docker "$@"; return; fi
  shift
  docker-compose "$@"
}
`;

/** Where the guides have the checkout: this one, whatever is written there. */
export const CHECKOUT = "/opt/binnacle";
const ROOT = new URL("../../", import.meta.url).pathname;

const START = `
mount --make-rprivate / && mount -t proc proc /proc && mount -t tmpfs tmpfs /run
own=$1 && shift
for folder in ${OWN_FOLDERS.join(" ")}; do
  mkdir -p "$own$folder/upper" "$own$folder/work"
  mount -t overlay overlay -o "lowerdir=$folder,upperdir=$own$folder/upper,workdir=$own$folder/work" "$folder"
done
mkdir -p "$own/checkout/upper" "$own/checkout/work" "${CHECKOUT}"
mount -t overlay overlay -o "lowerdir=$1,upperdir=$own/checkout/upper,workdir=$own/checkout/work" "${CHECKOUT}"
mkdir -p "${CHECKOUT}/build/images" && mount --bind "$2" "${CHECKOUT}/build/images"
shift 2
ip link set lo up
exec "$@"
`;

const has = (program: string) => spawnSync("sh", ["-c", 'command -v "$0"', program]).status === 0;

/** Why no Docker engine can be started here; null where one can. */
export function missingForDocker(): string | null {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return "it takes root on Linux";
  if (spawnSync("unshare", ["--mount", "--net", "--pid", "--fork", "true"]).status !== 0)
    return "this machine allows no namespaces";
  const missing = ["dockerd", "skopeo", "busybox"].filter((name) => !has(name));
  if (!has("docker-compose") && spawnSync("docker", ["compose", "version"]).status !== 0)
    missing.push("docker-compose");
  if (!existsSync("/usr/lib/postgresql")) missing.push("postgresql");
  return missing.length > 0 ? `these are missing: ${missing.join(", ")}` : null;
}

/**
 * A machine in which the lines of a guide are run as they stand: with processes, a network and mounts of its own, the programs of this
 * machine, a checkout with its images, and a Docker engine with a stand-in for the image of PostgreSQL. Nothing of it stays.
 */
export class OwnMachine {
  readonly #folder: string;
  readonly #groups: string;
  readonly #child: ReturnType<typeof spawn>;

  private constructor() {
    this.#folder = mkdtempSync(join(tmpdir(), "binnacle-machine-"));
    this.#groups = `binnacle-machine-${process.pid}`;
    const overlays = join(this.#folder, "own");
    // Docker's layers cannot be on one of the folders above, which are made of layers themselves.
    const engine = ["dockerd", `--data-root=${join(this.#folder, "docker")}`, `--cgroup-parent=/${this.#groups}`];
    const start = ["sh", "-ec", START, "sh", overlays, ROOT, inject("images"), ...engine];
    const own = ["--mount", "--net", "--pid", "--fork", "--kill-child"];
    this.#child = spawn("unshare", [...own, ...start], { stdio: ["ignore", "ignore", "pipe"] });
    mkdirSync(join(this.#folder, "home"));
  }

  /** Starts the machine and waits for its engine. */
  static async start(): Promise<OwnMachine> {
    const machine = new OwnMachine();
    let said = "";
    machine.#child.stderr?.on("data", (bytes) => {
      said = (said + bytes).slice(-2_000);
    });
    try {
      await vi.waitFor(
        async () => {
          if (machine.#child.exitCode !== null) throw new Error(`The engine has ended.\n${said}`);
          await machine.run("docker info");
        },
        { timeout: 60_000, interval: 250 },
      );
      await machine.run("test/images/postgres-image.sh postgres:17 /opt/postgres.tar", CHECKOUT);
      await machine.run("docker load --input /opt/postgres.tar && rm /opt/postgres.tar");
      return machine;
    } catch (error) {
      await machine.stop();
      throw error;
    }
  }

  /** Runs lines in a folder, as a person who copies them, and returns what they print. */
  async run(lines: string, folder = "/", env: Readonly<Record<string, string>> = {}): Promise<string> {
    const of = (kind: string, file = kind) => `--${kind}=/proc/${this.#child.pid}/ns/${file}`;
    // The process that was started is itself outside of the new processes.
    const inside = [of("mount", "mnt"), of("net"), of("pid", "pid_for_children")];
    const script = `cd "$0"\n${COMPOSE}\n${lines}`;
    const { stdout } = await promisify(execFile)("nsenter", [...inside, "bash", "-ec", script, folder], {
      env: { PATH: PATHS.join(":"), HOME: join(this.#folder, "home"), ...env },
      maxBuffer: 64 << 20,
    });
    return stdout;
  }

  /** Writes a file that only root reads, as the guides ask for where it has secrets. */
  async write(path: string, text: string): Promise<void> {
    const source = join(this.#folder, "written");
    await writeFile(source, text);
    await this.run(`install -D -m 0600 ${source} ${path}`);
  }

  /** Ends its first process, and with it all others. Control groups are of the whole machine and can be removed once they are empty. */
  async stop(): Promise<void> {
    const ended = once(this.#child, "close");
    if (this.#child.exitCode === null && this.#child.kill("SIGKILL")) await ended;
    const remove = `find /sys/fs/cgroup/ -depth -type d -path '*/${this.#groups}*' -exec rmdir {} +`;
    await vi.waitFor(() => promisify(execFile)("sh", ["-c", remove]), { timeout: 20_000, interval: 100 });
    await rm(this.#folder, { recursive: true });
  }
}
