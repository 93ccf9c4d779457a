import { execFile } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { LockedPackage } from "./lockfile.ts";
import type { PinnedFile } from "./pins.ts";

const run = promisify(execFile);

/** Where Debian's packages are asked for, in this order. A snapshot keeps versions that the mirrors have dropped. */
const DEBIAN_MIRRORS = ["https://deb.debian.org", "https://snapshot.debian.org/archive"];
const SNAPSHOT_DATE = "20261118T000000Z";

const cacheFolder = () => join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "binnacle/images");

/** The bytes with the digest: from the cache, or downloaded. A download with another digest is refused and never kept. */
async function cached(
  digest: { readonly algorithm: "sha256" | "sha512"; readonly hex: string },
  name: string,
  download: () => Promise<Buffer>,
): Promise<Buffer> {
  const isWanted = (content: Buffer) => createHash(digest.algorithm).update(content).digest("hex") === digest.hex;
  const file = join(cacheFolder(), digest.hex);
  const kept = await readFile(file).catch(() => null);
  if (kept && isWanted(kept)) return kept;
  const content = await download();
  if (!isWanted(content)) throw new Error(`${name} does not have its ${digest.algorithm} digest ${digest.hex}.`);
  await mkdir(cacheFolder(), { recursive: true });
  const unfinished = `${file}.${randomUUID()}`;
  await writeFile(unfinished, content);
  await rename(unfinished, file);
  return content;
}

/** A Debian package, from the mirror of `DEBIAN_MIRROR` where it is set. The mirror does not have to be trusted. */
export function debianFile({ path, sha256 }: PinnedFile): Promise<Buffer> {
  return cached({ algorithm: "sha256", hex: sha256 }, path, async () => {
    const own = process.env["DEBIAN_MIRROR"];
    const failures: string[] = [];
    for (const mirror of own ? [own] : DEBIAN_MIRRORS) {
      const url = addressAt(mirror, path);
      const answer = await fetch(url).catch((error: Error) => error);
      if (answer instanceof Response && answer.ok) return Buffer.from(await answer.arrayBuffer());
      failures.push(`${url}: ${answer instanceof Error ? reasonOf(answer) : answer.status}`);
    }
    throw new Error(
      `A Debian package cannot be downloaded. Set DEBIAN_MIRROR to a mirror that has it.\n${failures.join("\n")}`,
    );
  });
}

/** The error itself says only that the request has failed. */
const reasonOf = ({ cause, message }: Error): string => (cause instanceof Error ? cause.message : message);

/** A snapshot has a date between the archive and the path in it. */
function addressAt(mirror: string, path: string): string {
  const [archive = "", ...steps] = path.split("/");
  const below = mirror.includes("snapshot.debian.org") ? [archive, SNAPSHOT_DATE, ...steps] : [archive, ...steps];
  return [mirror.replace(/\/+$/, ""), ...below].join("/");
}

/**
 * The archive of an npm package, from the registry that npm is set up for. npm downloads it, whatever platform it is made
 * for, and the lockfile's digest decides whether it is used.
 */
export async function npmArchive({ name, version, integrity }: LockedPackage): Promise<Buffer> {
  if (!integrity) throw new Error(`The lockfile has no digest of ${name}.`);
  const hex = Buffer.from(integrity.replace(/^sha512-/, ""), "base64").toString("hex");
  return cached({ algorithm: "sha512", hex }, `${name}@${version}`, async () => {
    await mkdir(cacheFolder(), { recursive: true });
    const folder = await mkdtemp(join(cacheFolder(), "npm-"));
    try {
      const options = ["--silent", "--ignore-scripts", `--pack-destination=${folder}`];
      const { stdout } = await run("npm", ["pack", `${name}@${version}`, ...options], { cwd: folder });
      return await readFile(join(folder, stdout.trim().split("\n").at(-1) ?? ""));
    } finally {
      await rm(folder, { recursive: true });
    }
  });
}

/** Node.js has no decoder for xz, which Debian's packages are compressed with. */
export async function decompressXz(content: Buffer): Promise<Buffer> {
  const pending = run("xz", ["--decompress", "--stdout"], { encoding: "buffer", maxBuffer: 1 << 30 });
  pending.child.stdin?.on("error", () => {}).end(content);
  try {
    return (await pending).stdout;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw new Error("The program xz is needed to read Debian's packages; install xz-utils.");
  }
}
