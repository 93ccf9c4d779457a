import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
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
const charts: ChartFiles = { within: (_chart, _signal, work) => work({ chart: "/charts/postgres.tgz", options: [] }) };
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
async function helmThat(script: string) {
  const program = join(home, "helm");
  await writeFile(program, `#!/bin/sh\n${script}\n`);
  await chmod(program, 0o755);
  return createHelm({
    program,
    access,
    charts,
    env: { PATH: process.env["PATH"], BINNACLE_TOKEN: "agent", NO_PROXY: "x" },
  });
}
const leftovers = async () => (await readdir(home)).filter((name) => name.startsWith("binnacle-helm-"));

describe("Helm as a program", () => {
  test("[HE8] [HE9] is given values by its input, a kubeconfig that only it reads, and little else", async () => {
    const told = join(home, "told");
    const helm =
      await helmThat(`{ env; echo "args $*"; stat -c 'mode %a' "$KUBECONFIG"; stat -c 'mode %a' "$HOME"; ls -A; } >${told}
      cat >${told}.values; cat "$KUBECONFIG" >${told}.kubeconfig`);
    await helm.upgrade(release, upgrade, never);
    const seen = await readFile(told, "utf8");
    expect(JSON.parse(await readFile(`${told}.values`, "utf8"))).toEqual(release.values);
    expect(await readFile(`${told}.kubeconfig`, "utf8")).toContain("t0ken");
    expect(seen).not.toContain("s3cret-of-the-test");
    expect(seen).not.toContain("t0ken");
    expect(seen).not.toContain("agent");
    expect(seen).toContain("NO_PROXY=x");
    expect(seen).toContain("--labels=a=b");
    expect(seen.split("\n").filter((line) => line.startsWith("mode"))).toEqual(["mode 600", "mode 700"]);
    expect(await leftovers()).toEqual([]);
  });

  test("[HE11] fails with a sentence that reveals no value, and leaves nothing behind", async () => {
    const helm = await helmThat(`cat >/dev/null; echo 'Error: the password s3cret-of-the-test is bad' >&2; exit 1`);
    await expect(helm.upgrade(release, upgrade, never)).rejects.toThrow("Helm failed: the password [masked] is bad");
    expect(await leftovers()).toEqual([]);
  });

  test("[HE7] is broken off when nobody wants its work any more", async () => {
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

  test("[HE23] [HE26] shows what it would make before it makes it, of the very archive that it installs", async () => {
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

  test("[HE23] makes nothing of what is refused then", async () => {
    const file = join(home, "refused");
    const helm = await helmThat(noting(file));
    const inspect = () => Promise.reject(new HelmFailure("It holds a ClusterRole.", FORBIDDEN));
    const refused = helm.upgrade(release, { ...upgrade, inspect }, never);
    await expect(refused).rejects.toMatchObject({ message: "It holds a ClusterRole.", reason: "ForbiddenObject" });
    expect(await readFile(file, "utf8")).not.toContain("upgrade");
    expect(await leftovers()).toEqual([]);
  });

  test("[HE24] with rights of the whole cluster nothing is refused", async () => {
    const file = join(home, "wide");
    const helm = await helmThat(noting(file));
    const inspect = () => Promise.reject(new HelmFailure("It holds a ClusterRole.", FORBIDDEN));
    await helm.upgrade(release, { ...upgrade, rights: { ...rights, isClusterWide: true }, inspect }, never);
    expect(await readFile(file, "utf8")).toContain("upgrade");
  });

  test("[HE23] says what the API server forbids, and what to do about it", async () => {
    const words = `secrets "key" is forbidden: User "${rights.user}" cannot get resource "secrets" in API group "" in the namespace "bank"`;
    const helm = await helmThat(`cat >/dev/null; echo 'Error: ${words}' >&2; exit 1`);
    await expect(helm.uninstall(release, rights, never)).rejects.toMatchObject({
      message: "The chart may not get secrets key in the namespace bank. Ask.",
      reason: "ForbiddenObject",
    });
  });

  test("[HE23] a chart that makes more than a release can hold is broken off", async () => {
    const helm = await helmThat(`[ "$1" = template ] && exec yes "kind: ConfigMap"; exit 0`);
    await expect(helm.upgrade(release, upgrade, never)).rejects.toThrow("more than a release can hold");
  });

  test("[HE11] that is not there is named, with what to do about it", async () => {
    const helm = createHelm({ program: join(home, "nothing"), access, charts, env: {} });
    await expect(helm.uninstall(release, rights, never)).rejects.toThrow(
      /no program \S+nothing where .* BINNACLE_HELM/,
    );
  });
});
