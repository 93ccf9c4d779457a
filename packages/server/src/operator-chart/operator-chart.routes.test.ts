import { execFile, execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { startWorld } from "@binnacle/world";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { installCommand } from "../clusters/connection.ts";
import { loadOperatorChart } from "./operator-chart.adapter.ts";

const HELM = process.env["HELM_BIN"] ?? onPath("helm");
const ID = "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11";
const TOKEN = "header.payload.signature";

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
afterAll(() => world.stop());

function onPath(program: string): string | null {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const found = folders.map((folder) => join(folder, program)).find(isExecutable);
  return found ?? null;
}

function isExecutable(path: string): boolean {
  try {
    execFileSync(path, ["version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

const run = promisify(execFile);
const get = async (name: string) => fetch(`${world.url}/charts/${name}`);

describe("the Helm repository", () => {
  test("[CL50] the Helm repository lists the operator's chart in the product's version, with its digest", async () => {
    const answer = await get("index.yaml");
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/yaml; charset=utf-8"]);
    const { version } = await loadOperatorChart();
    const [entry, ...others] = parse(await answer.text()).entries["binnacle-operator"];
    expect(others).toEqual([]);
    expect(entry).toMatchObject({ name: "binnacle-operator", version, appVersion: version });

    const archive = await get(entry.urls[0]);
    expect([archive.status, archive.headers.get("content-type")]).toEqual([200, "application/gzip"]);
    const bytes = Buffer.from(await archive.arrayBuffer());
    expect(createHash("sha256").update(bytes).digest("hex")).toBe(entry.digest);
  });

  test("[CL50] the Helm repository has the manual that instructions point to, and no further files", async () => {
    expect(await (await get("README.md")).text()).toContain("# Binnacle operator");
    expect((await get("binnacle-operator-9.9.9.tgz")).status).toBe(404);
    const written = await fetch(`${world.url}/charts/index.yaml`, { method: "PUT" });
    expect([written.status, written.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  });

  test("[CL51] the operator's chart is the same each time it is packed", async () => {
    const [one, other] = [await loadOperatorChart(), await loadOperatorChart()];
    expect(one.archive.equals(other.archive)).toBe(true);
    expect(one.index).toBe(other.index);
  });
});

if (HELM === null) {
  process.stderr.write(
    "SKIPPED: there is no helm on PATH nor in HELM_BIN, so nothing proves that Helm takes the chart.\n",
  );
}

describe.skipIf(HELM === null)("what Helm makes of it", () => {
  let home: string;
  beforeAll(() => {
    home = mkdtempSync(join(tmpdir(), "binnacle-helm-"));
  });
  afterAll(() => rmSync(home, { recursive: true, force: true }));

  const folders = () => ({ HELM_CACHE_HOME: home, HELM_CONFIG_HOME: home, HELM_DATA_HOME: home, HOME: home });
  /** Beside this process, in which the server that Helm asks is running. */
  const helm = async (...args: string[]) => (await run(HELM ?? "helm", args, { env: folders() })).stdout;

  test("[CL52] Helm finds the operator's chart in the repository", async () => {
    const { name, version } = await loadOperatorChart();
    const shown = parse(await helm("show", "chart", name, "--repo", `${world.url}/charts`, "--version", version));
    expect(shown).toMatchObject({ name, version });
  });

  test("[CL52] [CL53] Helm renders what the install command asks for", async () => {
    const chart = await loadOperatorChart();
    const command = installCommand(world.url, chart, ID, TOKEN);
    // The same words; only that nothing is installed.
    const words = command
      .split(" ")
      .slice(3)
      .filter((word) => word !== "--create-namespace");
    const objects = parseAllDocuments(await helm("template", ...words)).map((document) => document.toJSON());
    const ofKind = (kind: string) => objects.filter((object) => object.kind === kind);
    const placesOf = (kind: string) => ofKind(kind).map(({ metadata }) => `${metadata.namespace} ${metadata.name}`);
    for (const kind of ["ServiceAccount", "Deployment"]) {
      expect(placesOf(kind)).toEqual([`binnacle-system ${chart.name}`]);
    }
    // It may change what is its own, the image of its Deployment, and the Lease of its cluster.
    const rights = [
      "binnacle-system binnacle-operator-own",
      "binnacle-system binnacle-operator-self-upgrade",
      "default binnacle-system:binnacle-operator:lease",
    ];
    for (const kind of ["Role", "RoleBinding"]) expect(placesOf(kind).sort()).toEqual(rights);
    expect(ofKind("CustomResourceDefinition")).toHaveLength(3);
    // The operator's own rights, which are bound, and those that it binds in each project's namespace, for itself and for charts.
    expect(ofKind("ClusterRole").map(({ metadata }) => metadata.name)).toEqual([
      "binnacle-system:binnacle-operator",
      "binnacle-system:binnacle-operator:projects",
      "binnacle-system:binnacle-operator:charts",
    ]);
    expect(ofKind("ClusterRoleBinding")).toHaveLength(1);
    const [secret, deployment] = [...ofKind("Secret"), ...ofKind("Deployment")];
    expect(secret.stringData).toEqual({ token: TOKEN });
    const { template } = deployment.spec;
    expect(template.spec).toMatchObject({
      enableServiceLinks: false,
      securityContext: { runAsNonRoot: true },
      containers: [
        {
          image: `binnacle/operator:${chart.version}`,
          securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true },
          env: expect.arrayContaining([
            { name: "BINNACLE_HUB_URL", value: `${world.url.replace("http", "ws")}/hub/v1` },
            { name: "BINNACLE_CLUSTER_ID", value: ID },
            { name: "BINNACLE_TOKEN", valueFrom: { secretKeyRef: { name: `${chart.name}-token`, key: "token" } } },
          ]),
        },
      ],
    });
    expect(JSON.stringify(deployment)).not.toContain(TOKEN);
  });

  test("[CL52] helm lint finds no problem, and Helm refuses the chart without its required values", async () => {
    const { name, version } = await loadOperatorChart();
    await helm("pull", name, "--repo", `${world.url}/charts`, "--version", version, "--untar", "--untardir", home);
    const values = ["hub.url=ws://h/hub/v1", `cluster.id=${ID}`, `cluster.token=${TOKEN}`];
    const set = values.flatMap((value) => ["--set-string", value]);
    expect(await helm("lint", "--strict", join(home, name), ...set)).toContain("0 chart(s) failed");
    for (const [missing, said] of [/hub[./]url/, /cluster[./]id/, /cluster/].entries()) {
      const others = values.filter((_, at) => at !== missing).flatMap((value) => ["--set-string", value]);
      await expect(helm("template", join(home, name), ...others)).rejects.toThrow(said);
    }
  });
});
