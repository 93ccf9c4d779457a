import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { copyFile, link, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import { cliDownloads } from "../../packages/server/src/images/cli-downloads.adapter.ts";
import {
  blobFile,
  type ImageStore,
  imageOf,
  openImageStore,
  readManifest,
} from "../../packages/server/src/images/image-store.adapter.ts";
import { loadChart } from "../../packages/server/src/operator-chart/operator-chart.adapter.ts";
import { serialNumberOf } from "../images/bill.ts";
import { CLI } from "../images/definitions.ts";
import { readTar } from "../images/tar.ts";
import { cliPackage } from "./cli-package.adapter.ts";
import type { Subject } from "./provenance.ts";

const run = promisify(execFile);

/** Takes images that were built before. Blobs are linked where that is possible, because they are large. */
export async function takeImages(from: string, output: string): Promise<void> {
  for (const path of await filesIn(from)) {
    const [source, target] = [join(from, path), join(output, path)];
    await mkdir(dirname(target), { recursive: true });
    // A link cannot lead to another disk.
    await link(source, target).catch(() => copyFile(source, target));
  }
}

/** Writes everything of a release that is made from its images and its sources; images are in `<output>/images`. */
export async function writeArtifacts(root: string, output: string): Promise<void> {
  const store = await openImageStore(join(output, "images"));
  await writeCharts(join(output, "charts"));
  await writePackages(root, join(output, "packages"));
  await writeCli(store, join(output, "cli"));
  await writeBills(root, store, join(output, "sbom"));
}

async function writeCharts(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const name of ["binnacle", "binnacle-operator"] as const) {
    const { fileName, archive } = await loadChart(name);
    await writeFile(join(folder, fileName), archive);
  }
}

/** The packages for npm, packed by npm, which gives all files in them the same time. */
async function writePackages(root: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const work = await mkdtemp(join(tmpdir(), "binnacle-packages-"));
  try {
    const [client, cli] = [join(work, "client"), join(work, "cli")];
    await run(process.execPath, ["scripts/build-client.ts", "--out", client], { cwd: root });
    await mkdir(cli);
    for (const [name, content] of await cliPackage(root)) await writeFile(join(cli, name), content);
    for (const source of [client, cli])
      await run("npm", ["pack", "--silent", "--ignore-scripts", `--pack-destination=${folder}`], { cwd: source });
  } finally {
    await rm(work, { recursive: true });
  }
}

/** The executables are those of the image, so that everybody runs the same program, wherever it comes from. */
async function writeCli(store: ImageStore, folder: string): Promise<void> {
  const repository = store.get("binnacle/cli");
  const downloads = await cliDownloads(store);
  if (!repository || !downloads)
    throw new Error("The images have no executables of the command line. Build them anew.");
  await mkdir(folder, { recursive: true });
  const write = async (digest: string, path: string, name: string) => {
    const entry = readTar(gunzipSync(await readFile(join(repository.blobs, blobFile(digest))))).get(path);
    if (entry?.type !== "file") throw new Error(`The layer ${digest} has no file ${path}.`);
    await writeFile(join(folder, name), entry.content, { mode: 0o755 });
  };
  for (const [architecture, digest] of downloads.executables)
    await write(digest, `usr/local/bin/${CLI.command}`, `binnacle-linux-${architecture}`);
  await write(downloads.file, `app/${CLI.bundle}`, CLI.bundle);
}

/** The bill of each image, and one of everything that production needs on any platform. */
async function writeBills(root: string, store: ImageStore, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, { tags, blobs }] of store) {
    const [, descriptor] = [...tags].find(([tag]) => tag.endsWith(".sbom")) ?? [];
    if (!descriptor) continue;
    const [bill] = (await readManifest(blobs, descriptor)).layers ?? [];
    if (!bill) throw new Error(`The bill of materials of ${name} is empty.`);
    await copyFile(join(blobs, blobFile(bill.digest)), join(folder, `${name.replace("/", "-")}.cdx.json`));
  }
  const { stdout } = await run(process.execPath, ["scripts/sbom.ts", "-"], { cwd: root, maxBuffer: 64 << 20 });
  const { serialNumber: _, ...bill } = JSON.parse(stdout);
  // npm writes another time and number each time.
  delete bill.metadata.timestamp;
  const text = JSON.stringify({ ...bill, serialNumber: serialNumberOf(JSON.stringify(bill)) }, null, 2);
  await writeFile(join(folder, "binnacle.cdx.json"), `${text}\n`);
}

/** The images of a release, as others name them. */
export async function imageSubjects(output: string): Promise<Subject[]> {
  const store = await openImageStore(join(output, "images"));
  return [...store].flatMap(([name, repository]) => {
    const [tag, artifact] = imageOf(repository) ?? [...repository.tags][0] ?? [];
    return artifact ? [{ name: `${name}:${tag}`, sha256: blobFile(artifact.digest) }] : [];
  });
}

/** All files of a folder with their digests, sorted by path. */
export async function fileSubjects(folder: string): Promise<Subject[]> {
  const subjects: Subject[] = [];
  for (const name of await filesIn(folder)) subjects.push({ name, sha256: await sha256Of(join(folder, name)) });
  return subjects;
}

export async function sha256Of(file: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
}
