import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { ChartFiles } from "./chart-file.adapter.ts";
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
    await helm.upgrade(release, { a: "b" }, never);
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

  test("[HE11] fails with a sentence that tells no value, and leaves nothing behind", async () => {
    const helm = await helmThat(`cat >/dev/null; echo 'Error: the password s3cret-of-the-test is bad' >&2; exit 1`);
    await expect(helm.upgrade(release, {}, never)).rejects.toThrow("Helm failed: the password [masked] is bad");
    expect(await leftovers()).toEqual([]);
  });

  test("[HE7] is broken off when nobody wants its work any more", async () => {
    const helm = await helmThat("exec tail -f /dev/null");
    const breaking = new AbortController();
    const work = helm.rollback(release, 1, breaking.signal);
    await vi.waitFor(async () => expect(await leftovers()).toHaveLength(1));
    breaking.abort();
    await expect(work).rejects.toThrow(/stopped by SIGTERM|broken off/);
    await expect(helm.uninstall(release, breaking.signal)).rejects.toThrow("It was broken off.");
    expect(await leftovers()).toEqual([]);
  });

  test("[HE11] that is not there is named, with what to do about it", async () => {
    const helm = createHelm({ program: join(home, "nothing"), access, charts, env: {} });
    await expect(helm.uninstall(release, never)).rejects.toThrow(/no program \S+nothing where .* BINNACLE_HELM/);
  });
});
