import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { billOf } from "../../scripts/images/bill.ts";
import { IMAGES, runConfigOf } from "../../scripts/images/definitions.ts";
import { digestOf, type Layer, LayoutWriter, layoutFiles } from "../../scripts/images/oci.ts";
import { DEBIAN_PACKAGES } from "../../scripts/images/pins.ts";
import { sizeTable } from "../../scripts/images/sizes.ts";

const release = { version: "1.2.3", revision: null };
const [server] = IMAGES;
if (!server) throw new Error("There is no image.");
const layer = (name: string): Layer => ({ name, content: Buffer.from(name), diffId: `sha256:${name}` });

function layoutOfTwo(): LayoutWriter {
  const layout = new LayoutWriter();
  const run = runConfigOf(server as (typeof IMAGES)[number], release);
  const manifests = ["amd64", "arm64"].map((architecture) =>
    layout.addImage(
      { os: "linux", architecture },
      [layer(architecture), layer("program")],
      run,
      "1970-01-01T00:00:00Z",
    ),
  );
  const index = layout.addIndex(manifests, {});
  layout.tag("1.2.3", index);
  layout.tag("bill", layout.addArtifact("application/vnd.cyclonedx+json", Buffer.from("{}\n"), index));
  return layout;
}

const read = (layout: LayoutWriter, digest: string) => JSON.parse(layout.blobs.get(digest)?.toString() ?? "null");

test("[IM1] a layout names its image by the version, and the bill of materials has the image as its subject", () => {
  const layout = layoutOfTwo();
  const files = layoutFiles(layout);
  expect(JSON.parse(files.get("oci-layout")?.toString() ?? "")).toEqual({ imageLayoutVersion: "1.0.0" });
  const { manifests } = JSON.parse(files.get("index.json")?.toString() ?? "");
  const names = manifests.map((entry: { annotations: object }) => Object.values(entry.annotations)[0]);
  expect(names).toEqual(["1.2.3", "bill"]);
  expect(read(layout, manifests[1].digest).subject.digest).toBe(manifests[0].digest);
});

test("[IM1] every blob of a layout has the digest that it is named by, and every descriptor the size of its blob", () => {
  const layout = layoutOfTwo();
  for (const [path, content] of layoutFiles(layout)) {
    if (path.startsWith("blobs/")) expect(path).toBe(`blobs/${digestOf(content).replace(":", "/")}`);
  }
  const [index] = layout.tagged;
  const described = read(layout, index?.digest ?? "").manifests.flatMap((manifest: { digest: string }) => {
    const { config, layers } = read(layout, manifest.digest);
    return [manifest, config, ...layers];
  });
  for (const { digest, size } of described) expect(layout.blobs.get(digest)).toHaveLength(size);
  expect(described).toHaveLength(8);
});

test("[IM2] the image of each platform has its own libraries, and shares the layer of the program with the others", () => {
  const layout = layoutOfTwo();
  const { manifests } = read(layout, layout.tagged[0]?.digest ?? "");
  const layers = manifests.map(({ digest }: { digest: string }) => read(layout, digest).layers);
  expect(manifests.map(({ platform }: { platform: object }) => platform)).toEqual([
    { os: "linux", architecture: "amd64" },
    { os: "linux", architecture: "arm64" },
  ]);
  expect(layers[0][0].digest).not.toBe(layers[1][0].digest);
  expect(layers[0][1].digest).toBe(layers[1][1].digest);
});

test.each(IMAGES.map((image) => [image.name, image] as const))(
  "[IM7] the image %s starts its program as a user that is not root, in /app",
  (_, image) => {
    const run = runConfigOf(image, release);
    expect(run).toMatchObject({ User: "65532:65532", WorkingDir: "/app" });
    expect(run.Entrypoint[0]).toMatch(/^\/usr\/local\/bin\/(node|binnacle)$/);
  },
);

test.each(IMAGES.map((image) => [image.name, image] as const))(
  "[IM15] the Dockerfile of %s starts its program as the image does, on a base of one's own",
  (name, image) => {
    const lines = readFileSync(new URL(`../../deploy/images/${name}.Dockerfile`, import.meta.url), "utf8").split("\n");
    const given = (instruction: string) =>
      lines.filter((line) => line.startsWith(`${instruction} `)).map((line) => line.slice(instruction.length + 1));
    const { User, Env, Entrypoint, WorkingDir } = runConfigOf(image, release);
    expect([given("ENV"), given("USER"), given("WORKDIR")]).toEqual([Env, [User], [WorkingDir]]);
    expect(JSON.parse(given("ENTRYPOINT").join())).toEqual(Entrypoint);
    expect(given("EXPOSE").join().split(" ").filter(Boolean).map(Number)).toEqual(image.ports);
    expect(given("ADD")).toEqual([`${name}-\${TARGETARCH}.tar.gz /`]);
  },
);

test("[IM14] an image has labels for its title, version and licence, and for the commit where the build names it", () => {
  const { Labels, Env } = runConfigOf(server, { ...release, revision: "0a1b2c" });
  expect(Labels).toEqual({
    "org.opencontainers.image.title": "Binnacle server",
    "org.opencontainers.image.description": "The control plane: API, hub, worker and console.",
    "org.opencontainers.image.version": "1.2.3",
    "org.opencontainers.image.licenses": "Apache-2.0",
    "org.opencontainers.image.revision": "0a1b2c",
  });
  expect(Env).toContain("BINNACLE_BUILD=0a1b2c");
  expect(runConfigOf(server, release).Labels).not.toHaveProperty("org.opencontainers.image.revision");
});

test("[IM10] the bill of materials of an image lists its packages with their digests, and the same contents give the same bytes", () => {
  const contents = {
    image: "server",
    version: "1.2.3",
    digest: "sha256:abc",
    npm: [
      { path: "", name: "@fastify/cors", version: "1.0.0", license: "MIT", integrity: "sha512-AQID" },
      { path: "", name: "dual", version: "2.0.0", license: "(MIT OR Apache-2.0)", integrity: "sha512-AQID" },
    ],
    debian: DEBIAN_PACKAGES,
    hasHelm: true,
  };
  const bill = JSON.parse(billOf(contents).toString());
  expect(billOf({ ...contents, npm: contents.npm.toReversed() })).toEqual(billOf(contents));
  expect(bill.serialNumber).toMatch(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(bill.components.find(({ name }: { name: string }) => name === "@fastify/cors")).toEqual({
    "bom-ref": "pkg:npm/%40fastify/cors@1.0.0",
    type: "library",
    name: "@fastify/cors",
    version: "1.0.0",
    purl: "pkg:npm/%40fastify/cors@1.0.0",
    hashes: [{ alg: "SHA-512", content: "010203" }],
    licenses: [{ license: { id: "MIT" } }],
  });
  const purls = bill.components.map(({ purl }: { purl: string }) => purl);
  expect(purls.filter((purl: string) => purl.includes("/libc6@"))).toHaveLength(2);
  expect(purls.filter((purl: string) => purl.includes("ca-certificates"))).toHaveLength(1);
  expect(purls.filter((purl: string) => purl.startsWith("pkg:golang/helm.sh"))).toHaveLength(2);
});

test("[IM9] the table has a line for each image and platform, with sizes, idle memory and their limits", () => {
  const size = { platform: "linux/arm64", bytes: 47_800_000, unpackedBytes: 129e6, digest: "sha256:a" };
  const cli = { ...size, image: "cli", limitMb: 50, memory: null, memoryLimitMb: null };
  const server = { ...size, image: "server", limitMb: 75, memory: { ownMb: 76, mappedMb: 61 }, memoryLimitMb: 160 };
  expect(sizeTable([server, cli])).toBe(
    "image   platform     compressed MB  limit MB  unpacked MB  idle MB  limit MB  mapped MB  digest\n" +
      "server  linux/arm64           47.8        75        129.0       76       160         61  sha256:a\n" +
      "cli     linux/arm64           47.8        50        129.0        -         -          -  sha256:a\n",
  );
});
