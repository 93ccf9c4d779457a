import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import type { RequestListener } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RepositoryCredential } from "@binnacle/charts";
import { folder, lockedFolder, ociRegistry, packedChart, serve, type WebServer } from "@binnacle/charts/fixture";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { type ChartFilesOptions, createChartFiles } from "./chart-file.adapter.ts";
import { HelmFailure } from "./failure.ts";
import { createHelm } from "./helm.adapter.ts";

const login = { username: "robot", password: "s3cret-of-the-repository" };
const web = packedChart("web", "1.2.0");
const INDEX = `entries:\n  web:\n  - { version: 1.2.0, urls: [web.tgz], digest: ${web.digest} }\n`;
const FILES = { "/index.yaml": INDEX, "/web.tgz": web.archive };
const access = {
  server: "https://k8s.example.com",
  ca: null,
  isInsecure: false,
  serverName: null,
  namespace: null,
  identity: async () => ({ token: "t0ken", certificate: null, key: null }),
};
const never = new AbortController().signal;

let home: string;
let records: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "chart-file-test-"));
  vi.stubEnv("TMPDIR", home);
});
beforeEach(async () => {
  records = await mkdtemp(join(home, "records-"));
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await rm(home, { recursive: true, force: true });
});

async function served(answer: RequestListener): Promise<WebServer> {
  const server = await serve(answer);
  onTestFinished(() => server.stop());
  return server;
}

/** With rights that need no look at what the chart makes. */
const UPGRADE = {
  rights: { user: "system:serviceaccount:shop:binnacle-charts", namespace: "shop", isClusterWide: true, remedy: "" },
  labels: {},
  isUpgrade: false,
  inspect: async () => undefined,
};

/** Upgrades with a program in the place of Helm, which writes down all that it can see. */
async function upgrade(
  repo: string,
  options: Partial<ChartFilesOptions> & { credentials?: () => readonly RepositoryCredential[] } = {},
  signal = never,
) {
  const program = join(records, "helm");
  await writeFile(
    program,
    `#!/bin/sh
for chart; do :; done
cp "$chart" "${records}/chart.tgz"
{ echo "args $*"; env; stat -c 'mode %a' "$chart"; find "$HOME" "$(dirname "$chart")" -type f -exec cat {} +; } >"${records}/seen"
cat >/dev/null
`,
  );
  await chmod(program, 0o755);
  const charts = createChartFiles({ allowedHosts: ["127.0.0.1"], credentials: () => [], ...options });
  const helm = createHelm({ program, access, charts, env: { PATH: process.env["PATH"] } });
  const chart = { repo, name: "web", version: "1.2.0" };
  await helm.upgrade({ namespace: "shop", name: "db", owner: "addon", chart, values: {} }, UPGRADE, signal);
}
const isStarted = async () => (await readdir(records)).includes("seen");
const leftovers = async () => (await readdir(home)).filter((name) => !name.startsWith("records-"));

describe("a chart for Helm", () => {
  test("[CS3] [HE10] a chart for Helm is a file that only Helm can read, checked against the index, and deleted afterwards", async () => {
    const { url } = await served(folder(FILES));
    await upgrade(url);
    const seen = await readFile(join(records, "seen"), "latin1");
    expect(seen).toMatch(/args upgrade --install .* -- db \S+\/chart\.tgz/);
    expect(seen).not.toContain("--repo");
    expect(seen).not.toContain(url);
    expect(seen).toContain("mode 600");
    expect(await leftovers()).toEqual([]);

    const other = await served(folder({ ...FILES, "/web.tgz": packedChart("web", "6.6.6").archive }));
    await expect(upgrade(other.url)).rejects.toThrow("the chart's archive is not what the index says it is");
  });

  test("[CS4] a chart whose values schema refers to another address is not checked against the schema", async () => {
    const schema = { "values.schema.json": JSON.stringify({ $ref: "http://169.254.169.254/latest" }) };
    const evil = packedChart("web", "1.2.0", schema);
    const index = `entries:\n  web:\n  - { version: 1.2.0, urls: [web.tgz] }\n`;
    await upgrade((await served(folder({ "/index.yaml": index, "/web.tgz": evil.archive }))).url);
    expect(await readFile(join(records, "seen"), "latin1")).toContain("--skip-schema-validation");
    await upgrade((await served(folder(FILES))).url);
    expect(await readFile(join(records, "seen"), "latin1")).not.toContain("--skip-schema-validation");
  });

  test.each(["http", "oci"])(
    "[CS9] [CS10] a chart is read from a private repository by %s, and the password shows nowhere",
    async (scheme) => {
      const isOci = scheme === "oci";
      const server = await served(isOci ? ociRegistry({ tags: { "1.2.0": web }, login }) : lockedFolder(login, FILES));
      const url = isOci ? server.url.replace(/^http/, "oci") : server.url;
      await upgrade(isOci ? `${url}/charts` : url, { credentials: () => [{ url, ...login }] });
      const seen = await readFile(join(records, "seen"), "latin1");
      expect(seen).toContain("args upgrade");
      expect(seen).not.toContain(login.password);
      expect(seen).not.toContain(Buffer.from(`${login.username}:${login.password}`).toString("base64"));
    },
  );

  test("[CS10] a chart repository that refuses a wrong password is named by host, without the password", async () => {
    const server = await served(lockedFolder(login, FILES));
    const wrong = { url: server.url, username: "robot", password: "another-secret" };
    const failure = await upgrade(server.url, { credentials: () => [wrong] }).catch((error: Error) => error);
    expect(failure).toBeInstanceOf(HelmFailure);
    expect(String(failure)).toContain(new URL(server.url).host);
    expect(String(failure)).not.toContain("another-secret");
    expect(String(failure)).not.toContain("who are you?");
  });
});

describe("Helm is not started", () => {
  test.each([
    ["an address of the cloud's metadata", "https://169.254.169.254/latest", "not a public one"],
    ["the same as a registry", "oci://169.254.169.254/charts", "not a public one"],
    ["an address of this machine in disguise", "https://0x7f000001/", "not a public one"],
    ["a service of the cluster by its address", "https://10.96.0.1/", "not a public one"],
    ["plain HTTP", "http://charts.example.com/", "must begin with https://"],
    ["a file", "file:///etc", "must begin with https:// or oci://"],
    ["a path", "/var/charts", "must begin with https:// or oci://"],
    ["a password in the address", "https://ada:s3cret@charts.example.com", "must not hold a user name or a password"],
  ])("[CS2] Helm is not started for a chart repository that is %s", async (_, repo, why) => {
    const failure = await upgrade(repo, { allowedHosts: [] }).catch((error: Error) => error);
    expect(failure).toBeInstanceOf(HelmFailure);
    expect(String(failure)).toContain(why);
    expect(String(failure)).not.toContain("s3cret");
    expect(await isStarted()).toBe(false);
  });

  test("[CS2] Helm is not started for a name that resolves to a private address, unless its host is allowed", async () => {
    const resolve = async () => [{ address: "10.96.0.1", family: 4 }];
    await expect(upgrade("https://kubernetes.default.svc/", { allowedHosts: [], resolve })).rejects.toThrow(
      "The chart repository kubernetes.default.svc is refused: the address is not a public one.",
    );
    const server = await served(folder(FILES));
    const here = async () => [{ address: "127.0.0.1", family: 4 }];
    const repo = server.url.replace("127.0.0.1", "charts.internal");
    await upgrade(repo, { allowedHosts: ["charts.internal"], resolve: here });
    expect(await isStarted()).toBe(true);
  });

  test("[CS2] Helm is not started where a redirect or the index leads to an address that is not public", async () => {
    const moved = await served((_request, response) =>
      response.writeHead(302, { location: "https://169.254.169.254/index.yaml" }).end(),
    );
    await expect(upgrade(moved.url)).rejects.toThrow("not a public one");
    const index = `entries:\n  web:\n  - { version: 1.2.0, urls: ["https://169.254.169.254/web.tgz"] }\n`;
    const leading = await served(folder({ "/index.yaml": index }));
    await expect(upgrade(leading.url)).rejects.toThrow("not a public one");
    expect(await isStarted()).toBe(false);
  });

  test.each<[string, RequestListener]>([
    ["answers with a failure of its own", (_request, response) => response.writeHead(500).end("internal words")],
    ["is interrupted", (request) => request.destroy()],
    [
      "sends too much",
      (_request, response) => response.writeHead(200, { "content-length": 1e9 }).end("internal words"),
    ],
  ])("[CS5] Helm is not started where the repository %s, and one sentence with its host says so", async (_, answer) => {
    const server = await served(answer);
    await expect(upgrade(server.url)).rejects.toThrow(
      new HelmFailure(`The chart repository ${new URL(server.url).host} cannot be read.`),
    );
    expect(await isStarted()).toBe(false);
    expect(await leftovers()).toEqual([]);
  });

  test("[CS5] Helm is not started for a missing chart, and the message says what was looked for", async () => {
    const { url } = await served(folder({ "/index.yaml": "entries:\n  other: []\n" }));
    await expect(upgrade(url)).rejects.toThrow("has no chart web of version 1.2.0");
  });

  test("[HE7] Helm is not started when the chart is no longer wanted", async () => {
    const breaking = new AbortController();
    const { url } = await served(() => breaking.abort());
    await expect(upgrade(url, {}, breaking.signal)).rejects.toThrow(new HelmFailure("It was broken off."));
  });
});
