import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually, reported, startTestOperator, type TestOperator } from "../desired/cluster.fixture.ts";
import { applyProject, applyRegistries, PROJECT_ID, removeOf } from "../desired/frames.fixture.ts";
import { SECRETS } from "../kube/resource-types.ts";

let operator: TestOperator;
beforeAll(async () => {
  operator = await startTestOperator();
});
afterAll(() => operator?.stop());

async function madeProject(base: string): Promise<string> {
  const name = operator.name(base);
  await operator.store.apply(applyProject(name));
  await reported(operator, `project/${name}`, "ready");
  return name;
}
const secretOf = (namespace: string, name: string) => operator.kube.get(SECRETS, name, namespace);
async function configOf(namespace: string, name: string): Promise<string> {
  const { ".dockerconfigjson": content = "" } = ((await secretOf(namespace, name))?.["data"] ?? {}) as Record<
    string,
    string
  >;
  return Buffer.from(content, "base64").toString("utf8");
}

test("[OD30] [OD31] the pull secrets of a namespace follow the desired state", async () => {
  const shop = await madeProject("pulls");
  const key = `registry_secrets/${shop}`;
  await operator.store.apply(applyRegistries([{ name: "quay" }, { name: "ghcr", server: "ghcr.io" }], shop));
  await reported(operator, key, "ready");
  expect(await secretOf(shop, "quay")).toMatchObject({ type: "kubernetes.io/dockerconfigjson" });
  expect(await configOf(shop, "ghcr")).toContain("ghcr.io");

  await operator.store.apply(applyRegistries([{ name: "quay", password: "rotated" }], shop, { generation: 2 }));
  await eventually(async () => {
    expect(await configOf(shop, "quay")).toContain("rotated");
    expect(await secretOf(shop, "ghcr")).toBeNull();
  });

  await operator.kube.delete(SECRETS, "quay", shop);
  await eventually(async () => expect(await configOf(shop, "quay")).toContain("rotated"));
  const patch = { data: { ".dockerconfigjson": Buffer.from('{"auths":{}}').toString("base64") } };
  await operator.kube.patch(SECRETS, "quay", shop, patch, { kind: "merge" });
  await eventually(async () => expect(await configOf(shop, "quay")).toContain("rotated"));
});

test("[OD32] a Secret of somebody else with the name of a pull secret is left alone and named in the report", async () => {
  const shop = await madeProject("taken");
  const foreign = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "quay", namespace: shop },
    stringData: { mine: "yes" },
  };
  const before = await operator.kube.create(foreign);
  await operator.store.apply(applyRegistries([{ name: "quay" }, { name: "ghcr" }], shop));
  const { report } = await reported(operator, `registry_secrets/${shop}`, "apply_failed");
  expect(report).toMatchObject({ message: `The namespace ${shop} has Secrets of somebody else named quay.` });
  expect(await secretOf(shop, "quay")).toEqual(before);
  expect(await secretOf(shop, "ghcr")).not.toBeNull();
});

test("[OD33] a removed set of registries deletes its pull secrets, and is gone after that", async () => {
  const shop = await madeProject("removed");
  const frame = applyRegistries([{ name: "quay" }], shop);
  await operator.store.apply(frame);
  await reported(operator, frame.key, "ready");
  expect(await operator.store.remove(removeOf(frame))).toBeNull();
  expect(await reported(operator, frame.key, "gone")).toMatchObject({ resource_id: PROJECT_ID, generation: 2 });
  expect(await secretOf(shop, "quay")).toBeNull();
  expect(await secretOf(shop, "binnacle-registries")).toBeNull();
});
