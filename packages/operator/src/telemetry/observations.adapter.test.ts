import { describe, expect, test, vi } from "vitest";
import type { KubeClient, KubeObject, ResourceType } from "../kube/kube-client.ts";
import { KubeError } from "../kube/kube-error.ts";
import { createObservations } from "./observations.adapter.ts";

const ASKED = { name: "resources", namespace: "shop", app: "web" } as const;
const NOW = Date.parse("2026-01-31T09:30:00.000Z");

/** A cluster in which the app has a Secret and a ConfigMap. */
function cluster(list: (type: ResourceType) => Promise<readonly KubeObject[]> = async () => []) {
  const listed = vi.fn(list);
  const raw = vi.fn(async (_method: string, path: string, _options?: { readonly accept?: string }) => ({
    items: [{ metadata: { name: path.split("/").at(-1) ?? "", namespace: "shop", uid: path, labels: {} } }],
  }));
  const kube = {
    get: async () => null,
    list: async (type: ResourceType) => ({ resourceVersion: "1", items: await listed(type) }),
    raw,
  } as unknown as Pick<KubeClient, "get" | "list" | "raw">;
  const observe = createObservations({
    kube,
    clusterId: "0190e5e0-0000-7000-8000-0000000000c1",
    view: { get: () => null, holder: () => null },
    helmReleases: { objects: async () => [] },
    pods: { in: () => [] },
    nowMs: () => NOW,
    withinMs: 20,
  });
  return { observe, listed, raw };
}

const failing = (status: number) => async () => {
  throw new KubeError({ status, reason: "Any", message: "hush" });
};

describe("what is read in the cluster", () => {
  test("[TE15] only the metadata of Secrets and ConfigMaps is read: their content never leaves the API server", async () => {
    const { observe, listed, raw } = cluster();
    expect(await observe(ASKED)).toMatchObject({
      resources: { objects: [{ kind: "ConfigMap" }, { kind: "Secret" }], observed_at: new Date(NOW).toISOString() },
    });
    expect(listed.mock.calls.map(([{ kind }]) => kind)).not.toEqual(expect.arrayContaining(["Secret"]));
    expect(listed.mock.calls.map(([{ kind }]) => kind)).not.toEqual(expect.arrayContaining(["ConfigMap"]));
    const accepts = raw.mock.calls.map(([, path, options]) => [path, options?.accept]);
    const only = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    expect(accepts).toEqual([
      ["/api/v1/namespaces/shop/configmaps", only],
      ["/api/v1/namespaces/shop/secrets", only],
    ]);
  });

  test("[TE14] a name that a label selector would read as something else yields no objects", async () => {
    const { observe, listed } = cluster();
    expect(await observe({ ...ASKED, app: "web,!x" })).toMatchObject({ resources: { objects: [] } });
    expect(listed).not.toHaveBeenCalled();
  });

  test.each([
    [0, "unavailable"],
    [500, "unavailable"],
    [403, "failed"],
    [400, "failed"],
  ])("[TE19] a request with an API server that answers %i is %s, without its words", async (status, code) => {
    const { observe } = cluster(failing(status));
    const refusal = await observe(ASKED).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code });
    expect(String(refusal)).not.toContain("hush");
  });

  test("[TE19] objects are read once for all who ask at the same time, and again for those who come later", async () => {
    const { observe, raw } = cluster();
    await Promise.all([observe(ASKED), observe(ASKED), observe({ ...ASKED })]);
    expect(raw).toHaveBeenCalledTimes(2);
    await observe(ASKED);
    expect(raw).toHaveBeenCalledTimes(4);
  });

  test("[TE19] a request for objects is unavailable where the API server does not answer in time", async () => {
    const { observe } = cluster(() => new Promise(() => undefined));
    await expect(observe(ASKED)).rejects.toMatchObject({ code: "unavailable" });
  });
});
