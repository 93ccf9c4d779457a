import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzipSync, gzip } from "node:zlib";
import { debMembers } from "./deb.ts";
import type { ImageDefinition } from "./definitions.ts";
import { debianFile, decompressXz, npmArchive } from "./downloads.adapter.ts";
import { type Lockfile, lockedPackage } from "./lockfile.ts";
import { digestOf, EXECUTABLE, type Layer } from "./oci.ts";
import { type Architecture, DEBIAN_PACKAGES, HELM, NAMES_OF } from "./pins.ts";
import { programBlob } from "./program-blob.adapter.ts";
import { baseFiles, executableFiles, file, nativeFiles, nodeFiles, type UnpackedPackage } from "./root-filesystem.ts";
import { type Entry, readTar, writeTar } from "./tar.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

/** Entries that become one layer. */
interface Part {
  readonly name: string;
  readonly entries: () => Promise<readonly Entry[]>;
}

/** Where parts come from that are not in this repository. */
export interface PartSources {
  readonly lockfile: Lockfile;
  /** The folder with Helm for each architecture. */
  readonly helm: string;
}

/** The libraries that Node.js needs of an operating system. */
export const debianPart = (architecture: Architecture): Part => ({
  name: "libraries of Debian",
  entries: async () => baseFiles(architecture, await debianPackages(architecture)),
});

/** Node.js and everything else in machine code that is made for the image. */
export function platformParts(
  { lockfile, helm }: PartSources,
  architecture: Architecture,
  image: ImageDefinition,
): Part[] {
  const npmFiles = async (name: string) =>
    readTar(gunzipSync(await npmArchive(lockedPackage(lockfile, `node_modules/${name}`))));
  const natives = image.native.map((name) => nativePackage(name, architecture));
  const node = () => npmFiles(nodePackage(architecture));
  const { command } = image;
  return [
    command
      ? {
          name: EXECUTABLE,
          entries: async () => executableFiles(command, await node(), await programBlob(ROOT, image)),
        }
      : { name: "Node.js", entries: async () => nodeFiles(await node()) },
    ...(image.hasHelm ? [{ name: "Helm", entries: () => helmFiles(helm, architecture) }] : []),
    ...natives.map((name) => ({ name, entries: async () => nativeFiles(name, await npmFiles(name)) })),
  ];
}

/** The paths in the lockfile of the packages in them. */
export function platformPackages(architecture: Architecture, image: ImageDefinition): string[] {
  const names = [nodePackage(architecture), ...image.native.map((name) => nativePackage(name, architecture))];
  return names.map((name) => `node_modules/${name}`);
}

export type SizedLayer = Layer & { readonly unpackedBytes: number };

/** Makes layers of parts. One that several images have is made once. */
export class Layers {
  readonly #made = new Map<string, Promise<SizedLayer>>();

  of(architecture: Architecture, { name, entries }: Part): Promise<SizedLayer> {
    const key = `${architecture} ${name}`;
    const layer = this.#made.get(key) ?? entries().then((all) => layerOf(name, all));
    this.#made.set(key, layer);
    return layer;
  }
}

const nodePackage = (architecture: Architecture) => `node-linux-${NAMES_OF[architecture].npm}`;
const nativePackage = (name: string, architecture: Architecture) => `${name}-linux-${NAMES_OF[architecture].npm}-gnu`;

async function debianPackages(architecture: Architecture): Promise<UnpackedPackage[]> {
  return Promise.all(
    DEBIAN_PACKAGES.map(async ({ name, files }) => {
      const { control, data } = debMembers(await debianFile(files[architecture]));
      const [described, entries] = [await decompressXz(control.content), await decompressXz(data.content)].map(readTar);
      const about = described?.get("control");
      if (about?.type !== "file" || !entries) throw new Error(`The Debian package ${name} describes nothing.`);
      return { name, control: about.content, entries };
    }),
  );
}

async function helmFiles(folder: string, architecture: Architecture): Promise<Entry[]> {
  const path = join(folder, `helm-linux-${architecture}`);
  const build = `test/kube/build.sh helm-linux-${architecture}`;
  const content = await readFile(path).catch(() => {
    throw new Error(`Helm ${HELM.version} is not at ${path}. Build it by ${build}, or name its folder by --helm.`);
  });
  const digest = createHash("sha256").update(content).digest("hex");
  if (digest !== HELM.sha256[architecture]) {
    throw new Error(
      `${path} has the SHA-256 ${digest}, not ${HELM.sha256[architecture]}. Remove it and build it by ${build}.`,
    );
  }
  return [file("usr/local/bin/helm", content, 0o755)];
}

const compress = promisify(gzip);
/** The highest level takes more than twice the time and saves a third of a percent. */
const LEVEL = 6;
/** For what is compressed already, and does not get smaller. */
export const STORED = 0;
const OPERATING_SYSTEM_BYTE = 9;
const UNKNOWN_SYSTEM = 255;

export async function layerOf(name: string, entries: readonly Entry[], level = LEVEL): Promise<SizedLayer> {
  const tar = writeTar(entries);
  const content = await compress(tar, { level });
  // zlib writes the system that it runs on.
  content[OPERATING_SYSTEM_BYTE] = UNKNOWN_SYSTEM;
  return { name, content, diffId: digestOf(tar), unpackedBytes: tar.length };
}
