import { describe, expect, test, vi } from "vitest";
import type { KubeObject } from "../kube/kube-client.ts";
import { KubeError } from "../kube/kube-error.ts";
import { openChartRepositories, REPOSITORIES_NAME } from "./chart-repositories.store.ts";

const ACME = { url: "oci://registry.example.com/acme", username: "robot", password: "s3cret-of-the-test" };

/** The Secrets of one namespace. */
function someCluster() {
  const secrets = new Map<string, KubeObject>();
  const writes: string[] = [];
  return {
    secrets,
    writes,
    kube: {
      get: async (_type: unknown, name: string, namespace?: string | null) =>
        secrets.get(`${namespace}/${name}`) ?? null,
      async create(object: KubeObject) {
        writes.push("create");
        secrets.set(`${object.metadata.namespace}/${object.metadata.name}`, object);
        return object;
      },
      async patch(_type: unknown, name: string, namespace: string | null | undefined, patch: object) {
        const key = `${namespace}/${name}`;
        const found = secrets.get(key);
        if (!found) throw new KubeError({ status: 404, reason: "NotFound", message: "not found" });
        writes.push("patch");
        const data = { ...(found["data"] as object), ...(patch as { data: object }).data };
        const patched = { ...found, data };
        secrets.set(key, patched);
        return patched;
      },
    } as never,
  };
}

const opened = (cluster: ReturnType<typeof someCluster>, clusterId = "one") => {
  const log = { info: vi.fn(), warn: vi.fn() };
  return openChartRepositories({ kube: cluster.kube, clusterId, namespace: "binnacle-system", log });
};

describe("credentials of chart repositories", () => {
  test("[CH10] credentials of chart repositories outlive the operator, in a Secret of the operator's namespace", async () => {
    const cluster = someCluster();
    const first = await opened(cluster);
    expect(first.current()).toEqual([]);
    first.update([ACME]);
    expect(first.current()).toEqual([ACME]);
    await first.settled();
    expect([...cluster.secrets.keys()]).toEqual([`binnacle-system/${REPOSITORIES_NAME}`]);
    expect((await opened(cluster)).current()).toEqual([ACME]);
    expect((await opened(cluster, "another")).current()).toEqual([]);
  });

  test("[CH10] credentials of chart repositories that are no longer sent are gone, also after a restart", async () => {
    const cluster = someCluster();
    const repositories = await opened(cluster);
    repositories.update([ACME]);
    repositories.update([]);
    await repositories.settled();
    expect(repositories.current()).toEqual([]);
    expect((await opened(cluster)).current()).toEqual([]);
    expect(JSON.stringify([...cluster.secrets.values()])).not.toContain(
      Buffer.from(JSON.stringify([ACME])).toString("base64"),
    );
  });

  test("[CH10] credentials of chart repositories are written only when they change", async () => {
    const cluster = someCluster();
    const repositories = await opened(cluster);
    repositories.update([]);
    await repositories.settled();
    expect(cluster.writes).toEqual([]);
    for (const _ of [1, 2]) {
      repositories.update([ACME]);
      await repositories.settled();
    }
    expect(cluster.writes).toEqual(["create"]);
  });

  test("[CH10] a damaged Secret of chart repositories counts as no credentials", async () => {
    const cluster = someCluster();
    const data = { one: Buffer.from('[{"url":5}]').toString("base64"), another: "%%%" };
    const metadata = { name: REPOSITORIES_NAME, namespace: "binnacle-system" };
    cluster.secrets.set(`binnacle-system/${REPOSITORIES_NAME}`, { apiVersion: "v1", kind: "Secret", metadata, data });
    expect((await opened(cluster)).current()).toEqual([]);
    expect((await opened(cluster, "another")).current()).toEqual([]);
  });
});
