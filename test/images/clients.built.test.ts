import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, inject, onTestFinished, test } from "vitest";
import { loadOperatorChart } from "../../packages/server/src/operator-chart/operator-chart.adapter.ts";
import type { Descriptor } from "../../scripts/images/oci.ts";
import { artifact, blobPath, readBlob, VERSION } from "./layout.ts";
import { requireProgram, runClient, serveImages, startDistribution } from "./registry-clients.ts";

const SERVER = new URL("../../packages/server/src/binnacle-server.command.ts", import.meta.url).pathname;
const OPERATOR = `binnacle/operator:${VERSION}`;

function folderOf(): string {
  const folder = mkdtempSync(join(tmpdir(), "binnacle-client-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Everything that the image consists of, for all platforms. */
function digestsOf(name: string): string[] {
  const index = artifact(name, VERSION);
  const { manifests } = JSON.parse(readBlob(name, index).toString()) as { manifests: Descriptor[] };
  const inner = manifests.flatMap((manifest) => {
    const { config, layers } = JSON.parse(readBlob(name, manifest).toString()) as {
      config: Descriptor;
      layers: Descriptor[];
    };
    return [manifest, config, ...layers];
  });
  return [index, ...inner].map(({ digest }) => digest);
}

/** The layout that a client has written holds the image, byte for byte. */
function requirePulled(layout: string): void {
  for (const digest of digestsOf("operator")) {
    const path = join(layout, "blobs", digest.replace(":", "/"));
    expect(readFileSync(path).equals(readFileSync(blobPath("operator", digest)))).toBe(true);
  }
}

test("[IR2414] skopeo pulls an image from the control plane, for all platforms", async ({ skip }) => {
  requireProgram("skopeo", skip);
  const [host, folder] = [await serveImages(), folderOf()];
  const places = [`docker://${host}/${OPERATOR}`, `oci:${folder}/operator:${VERSION}`];
  await runClient(folder, "skopeo", "copy", "--all", "--src-tls-verify=false", "--insecure-policy", ...places);
  requirePulled(join(folder, "operator"));
});

test("[IR2414] crane pulls an image from the control plane, for all platforms", async ({ skip }) => {
  requireProgram("crane", skip);
  const [host, folder] = [await serveImages(), folderOf()];
  await runClient(folder, "crane", "pull", "--format=oci", `${host}/${OPERATOR}`, join(folder, "operator"));
  requirePulled(join(folder, "operator"));
});

test("[IR2414] regctl copies an image of the control plane with its bill of materials", async ({ skip }) => {
  requireProgram("regctl", skip);
  const [host, folder] = [await serveImages(), folderOf()];
  const copy = ["image", "copy", "--digest-tags", `${host}/${OPERATOR}`, `ocidir://${folder}/operator:${VERSION}`];
  await runClient(folder, "regctl", "--host", `reg=${host},tls=disabled`, ...copy);
  requirePulled(join(folder, "operator"));
  const { manifests } = JSON.parse(readFileSync(join(folder, "operator/index.json"), "utf8"));
  const { digest } = artifact("operator", ".sbom");
  expect(manifests.map((one: { digest: string }) => one.digest)).toContain(digest);
});

test.for(["helm", "helm3"])(
  "[IR2414] %s pulls the operator's chart from the control plane",
  async (program, { skip }) => {
    requireProgram(program, skip);
    const [host, folder] = [await serveImages(), folderOf()];
    const chart = `oci://${host}/binnacle/charts/binnacle-operator`;
    await runClient(folder, program, "pull", chart, "--version", VERSION, "--plain-http", "--destination", folder);
    const { archive } = await loadOperatorChart();
    expect(readFileSync(join(folder, `binnacle-operator-${VERSION}.tgz`)).equals(archive)).toBe(true);
  },
);

test("[IR2415] a push fills the registry of the distribution project with all images, charts and bills, and does nothing the second time", async ({
  skip,
}) => {
  requireProgram("docker-registry", skip);
  const folder = folderOf();
  const host = await startDistribution(join(folder, "registry"));
  const env = {
    PATH: process.env["PATH"],
    HOME: folder,
    BINNACLE_IMAGES_DIR: inject("images"),
    // As the server's image has it: a push takes nothing else of the configuration.
    BINNACLE_ENVIRONMENT: "production",
    REGISTRY_USERNAME: "robot",
    REGISTRY_PASSWORD: "hush-robot",
  };
  const push = (more: object = {}) =>
    promisify(execFile)(process.execPath, [SERVER, "images", "push", `${host}/mirror`, "--insecure"], {
      env: { ...env, ...more },
    });
  const first = await push();
  expect(first.stderr).toMatch(/mirror\/binnacle\/server: sent \d+\.\d MB/);
  expect(first.stdout).toContain(`${host}/mirror/${OPERATOR}  ${artifact("operator", VERSION).digest}\n`);
  expect(first.stdout).toMatch(/mirror\/binnacle\/cli:sha256-[0-9a-f]{64}\.sbom {2}sha256:/);
  expect(first.stdout).toContain(`${host}/mirror/binnacle/charts/binnacle-operator:${VERSION}`);
  const again = await push();
  expect(again.stdout).toBe(first.stdout);
  expect(again.stderr.match(/is there\n/g)).toHaveLength(6);
  const authorization = `Basic ${Buffer.from("robot:hush-robot").toString("base64")}`;
  const { digest } = artifact("server", VERSION);
  const stored = await fetch(`http://${host}/v2/mirror/binnacle/server/manifests/${digest}`, {
    headers: { authorization, accept: "application/vnd.oci.image.index.v1+json" },
  });
  expect([stored.status, stored.headers.get("docker-content-digest")]).toEqual([200, digest]);
  await expect(push({ REGISTRY_PASSWORD: "wrong" })).rejects.toThrow("does not allow it (401");
});
