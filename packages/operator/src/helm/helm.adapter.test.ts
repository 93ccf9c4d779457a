import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ArchivedFile } from "@binnacle/charts";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { ChartFiles } from "./chart-file.adapter.ts";
import { FORBIDDEN, HelmFailure } from "./failure.ts";
import { createHelm } from "./helm.adapter.ts";

const access = {
  server: "https://k8s.example.com",
  ca: null,
  isInsecure: false,
  serverName: null,
  namespace: null,
  identity: async () => ({ token: "t0ken", certificate: null, key: null }),
};
const release = {
  namespace: "shop",
  name: "db",
  owner: "addon",
  chart: { repo: "https://charts.example.com", name: "postgres" },
  values: { auth: { password: "s3cret-of-the-test" } },
};
const never = new AbortController().signal;
let files: ArchivedFile[] = [];
const source = { chart: "/charts/postgres.tgz", options: [], files: async () => files };
const charts: ChartFiles = { within: (_chart, _signal, work) => work(source) };
const rights = {
  user: "system:serviceaccount:shop:binnacle-charts",
  namespace: "shop",
  isClusterWide: false,
  remedy: "Ask.",
};
const nothingWrong = async () => undefined;
const upgrade = { rights, labels: { a: "b" }, isUpgrade: false, inspect: nothingWrong };

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "helm-test-"));
  vi.stubEnv("TMPDIR", home);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await rm(home, { recursive: true, force: true });
});

/** A program in Helm's place. */
async function helmThat(script: string, more: Record<string, string> = {}) {
  const program = join(home, "helm");
  await writeFile(program, `#!/bin/sh\n${script}\n`);
  await chmod(program, 0o755);
  return createHelm({
    program,
    access,
    charts,
    env: {
      PATH: process.env["PATH"],
      BINNACLE_TOKEN: "agent",
      HTTPS_PROXY: "http://proxy:3128",
      SSL_CERT_DIR: "/certs",
      ...more,
    },
  });
}
/** An operator that ends while a Helm of its own is at work. */
const ENDING = `
import { createHelm } from ${JSON.stringify(new URL("./helm.adapter.ts", import.meta.url).href)};
import { existsSync } from "node:fs";
const { program, access, release, rights } = JSON.parse(process.argv[1]);
const charts = { within: (chart, signal, work) => work({ chart: "/chart.tgz", options: [], files: async () => [] }) };
const identity = async () => ({ token: "t", certificate: null, key: null });
const helm = createHelm({ program, access: { ...access, identity }, charts, env: process.env });
const inspect = async () => undefined;
void helm.upgrade(release, { rights, labels: {}, isUpgrade: false, inspect }, new AbortController().signal);
setInterval(() => existsSync(program + ".pid") && process.exit(1), 20);
`;
const leftovers = async () => (await readdir(home)).filter((name) => name.startsWith("binnacle-helm-"));

describe("Helm as a program", () => {
  test("[OU41] Helm ends with the operator's process", async () => {
    const program = join(home, "helm");
    await helmThat(`echo $$ >${program}.new; mv ${program}.new ${program}.pid; exec sleep 600`);
    const given = JSON.stringify({ program, access, release, rights });
    // A process that ends at once leaves its files.
    const env = { ...process.env, TMPDIR: await mkdtemp(join(home, "ending-")) };
    const child = spawn(process.execPath, ["--input-type=module", "-e", ENDING, given], { stdio: "ignore", env });
    expect(await once(child, "exit")).toEqual([1, null]);
    const pid = Number(await readFile(`${program}.pid`, "utf8"));
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow("ESRCH"), { timeout: 30_000 });
    await rm(`${program}.pid`);
  });

  test("[HE8] [HE9] Helm gets values by its standard input, a kubeconfig that only Helm can read, and few variables", async () => {
    const record = join(home, "record");
    const helm =
      await helmThat(`{ env; echo "args $*"; stat -c 'mode %a' "$KUBECONFIG"; stat -c 'mode %a' "$HOME"; ls -A; } >${record}
      cat >${record}.values; cat "$KUBECONFIG" >${record}.kubeconfig`);
    await helm.upgrade(release, upgrade, never);
    const seen = await readFile(record, "utf8");
    expect(JSON.parse(await readFile(`${record}.values`, "utf8"))).toEqual(release.values);
    expect(await readFile(`${record}.kubeconfig`, "utf8")).toContain("t0ken");
    expect(seen).not.toContain("s3cret-of-the-test");
    expect(seen).not.toContain("t0ken");
    expect(seen).not.toContain("agent");
    expect(seen).toContain("SSL_CERT_DIR=/certs");
    expect(seen).not.toContain("PROXY");
    expect(seen).toContain("--labels=a=b");
    expect(seen.split("\n").filter((line) => line.startsWith("mode"))).toEqual(["mode 600", "mode 700"]);
    expect(await leftovers()).toEqual([]);
  });

  test("[HE11] a failure of Helm is a sentence that reveals no value, and no files are left behind", async () => {
    const helm = await helmThat(`cat >/dev/null; echo 'Error: the password s3cret-of-the-test is bad' >&2; exit 1`);
    await expect(helm.upgrade(release, upgrade, never)).rejects.toThrow("Helm failed: the password [masked] is bad");
    expect(await leftovers()).toEqual([]);
  });

  test("[HE7] a running Helm process is ended when its work is no longer wanted", async () => {
    const helm = await helmThat("exec tail -f /dev/null");
    const breaking = new AbortController();
    const work = helm.rollback(release, 1, rights, breaking.signal);
    await vi.waitFor(async () => expect(await leftovers()).toHaveLength(1));
    breaking.abort();
    await expect(work).rejects.toThrow(/stopped by SIGTERM|broken off/);
    await expect(helm.uninstall(release, rights, breaking.signal)).rejects.toThrow("It was broken off.");
    expect(await leftovers()).toEqual([]);
  });

  /** Writes down what it is called for and with which values, and renders one object. */
  const noting = (file: string) =>
    `printf '%s ' "$1" >>${file}; cat >>${file}; echo >>${file}
    [ "$1" = template ] && echo "kind: ClusterRole"; exit 0`;

  test("[HE23] [HE26] the manifest of a chart is inspected before the installation, from the very archive that Helm installs", async () => {
    const file = join(home, "order");
    const helm = await helmThat(
      `for last; do :; done; echo "$1 $last" >>${file}; [ "$1" = template ] && echo "kind: Job"; exit 0`,
    );
    const seen: string[] = [];
    const inspect = async (manifest: string) => void seen.push(manifest.trim());
    await helm.upgrade(release, { ...upgrade, inspect }, never);
    expect(seen).toEqual(["kind: Job"]);
    const [rendered, installed] = (await readFile(file, "utf8")).trim().split("\n");
    expect(rendered).toBe("template /charts/postgres.tgz");
    expect(installed).toBe(rendered?.replace("template", "upgrade"));
  });

  test("[HE23] a chart whose manifest is refused is not installed", async () => {
    const file = join(home, "refused");
    const helm = await helmThat(noting(file));
    const inspect = () => Promise.reject(new HelmFailure("It holds a ClusterRole.", FORBIDDEN));
    const refused = helm.upgrade(release, { ...upgrade, inspect }, never);
    await expect(refused).rejects.toMatchObject({ message: "It holds a ClusterRole.", reason: "ForbiddenObject" });
    expect(await readFile(file, "utf8")).not.toContain("upgrade");
    expect(await leftovers()).toEqual([]);
  });

  test("[HE24] a chart with cluster-wide rights is inspected too, and one that is refused is not installed", async () => {
    const file = join(home, "wide");
    const helm = await helmThat(noting(file));
    const wide = { ...upgrade, rights: { ...rights, isClusterWide: true } };
    const inspect = () => Promise.reject(new HelmFailure("It has a host of others.", "HostTaken"));
    await expect(helm.upgrade(release, { ...wide, inspect }, never)).rejects.toThrow("It has a host of others.");
    expect(await readFile(file, "utf8")).not.toContain("upgrade");
    const seen: string[] = [];
    await helm.upgrade(release, { ...wide, inspect: async (manifest) => void seen.push(manifest.trim()) }, never);
    expect(seen).toEqual(["kind: ClusterRole"]);
    expect(await readFile(file, "utf8")).toContain("upgrade");
  });

  test("[HE51] a release that is too large to be stored is refused before its hooks run, and a large one that can be compressed is not", async () => {
    const file = join(home, "large");
    const helm = await helmThat(noting(file));
    files = [{ path: "postgres/files/noise.bin", content: randomBytes(900_000) }];
    const refused = helm.upgrade(release, upgrade, never);
    await expect(refused).rejects.toMatchObject({ reason: "ReleaseTooLarge" });
    expect(await readFile(file, "utf8")).not.toContain("upgrade");
    files = [
      { path: "postgres/files/even.txt", content: Buffer.alloc(5_000_000, "text") },
      { path: "postgres/charts/other/noise.bin", content: randomBytes(900_000) },
    ];
    await helm.upgrade(release, upgrade, never);
    expect(await readFile(file, "utf8")).toContain("upgrade");
    files = [];
  });

  test("[HE52] Helm waits for hooks as long as the chart was given, and otherwise five minutes", async () => {
    const file = join(home, "patience");
    const helm = await helmThat(`printf '%s\n' "$*" >>${file}; cat >/dev/null; exit 0`);
    await helm.upgrade({ ...release, hookTimeoutSeconds: 900 }, upgrade, never);
    await helm.upgrade(release, upgrade, never);
    const waited = [...(await readFile(file, "utf8")).matchAll(/--timeout=(\S+)/g)].map(([, time]) => time);
    expect(waited).toEqual(["900s", "300s"]);
  });

  test("[HE9] Helm is told how much memory it has, which the operator's own variable changes", async () => {
    const file = join(home, "memory");
    const script = `printf '%s\n' "$GOMEMLIMIT" >>${file}; exit 0`;
    await (await helmThat(script)).uninstall(release, rights, never);
    await (await helmThat(script, { GOMEMLIMIT: "1GiB" })).uninstall(release, rights, never);
    expect((await readFile(file, "utf8")).trim().split("\n")).toEqual(["128MiB", "1GiB"]);
  });

  test("[HE23] a failure of Helm says what the API server forbids, and what to do about it", async () => {
    const words = `secrets "key" is forbidden: User "${rights.user}" cannot get resource "secrets" in API group "" in the namespace "bank"`;
    const helm = await helmThat(`cat >/dev/null; echo 'Error: ${words}' >&2; exit 1`);
    await expect(helm.uninstall(release, rights, never)).rejects.toMatchObject({
      message: "The chart may not get secrets key in the namespace bank. Ask.",
      reason: "ForbiddenObject",
    });
  });

  test("[HE23] a chart that renders more than a release can hold is stopped", async () => {
    const helm = await helmThat(`[ "$1" = template ] && exec yes "kind: ConfigMap"; exit 0`);
    await expect(helm.upgrade(release, upgrade, never)).rejects.toThrow("more than a release can hold");
  });

  test("[HE11] a missing Helm program is named in the failure, with the variable to set", async () => {
    const helm = createHelm({ program: join(home, "nothing"), access, charts, env: {} });
    await expect(helm.uninstall(release, rights, never)).rejects.toThrow(
      /no program \S+nothing where .* BINNACLE_HELM/,
    );
  });
});
