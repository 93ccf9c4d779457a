import { afterEach, beforeEach, expect, test } from "vitest";
import { ownLabels } from "../desired/ownership.ts";
import { type Asked, type FakeApi, startFakeApi } from "../kube/fake-api.fixture.ts";
import type { KubeObject } from "../kube/kube-client.ts";
import { createProjectRights } from "./project-rights.store.ts";

const NAMESPACE = "/api/v1/namespaces/shop";
const BINDING = "/apis/rbac.authorization.k8s.io/v1/namespaces/shop/rolebindings/binnacle-operator";
const account = { namespace: "binnacle-system", name: "operator" };

let api: FakeApi;
let objects: Map<string, KubeObject>;
let reviews: boolean[];
const answer = ({ method, path, body }: Asked): readonly [number, unknown] => {
  if (path.endsWith("selfsubjectaccessreviews")) return [201, { status: { allowed: reviews.shift() ?? true } }];
  if (path === "/apis/rbac.authorization.k8s.io/v1") {
    return [200, { resources: [{ name: "rolebindings", kind: "RoleBinding", namespaced: true }] }];
  }
  if (method === "PATCH") objects.set(path, body as KubeObject);
  const found = objects.get(path);
  return found || method !== "GET" ? [200, found ?? {}] : [404, { kind: "Status", code: 404 }];
};
const namespaceOf = (metadata: object) => ({ apiVersion: "v1", kind: "Namespace", metadata }) as KubeObject;
const clock = {
  now: () => 0,
  after(_ms: number, callback: () => void) {
    queueMicrotask(callback);
    return () => undefined;
  },
};
const rights = () => createProjectRights({ kube: api.client, clusterId: "c1", account, role: "projects", clock });
const writes = () => api.asked.filter(({ method, path }) => method !== "GET" && path === BINDING);

beforeEach(async () => {
  api = await startFakeApi(answer);
  objects = new Map([[NAMESPACE, namespaceOf({ name: "shop", labels: ownLabels("c1") })]]);
  reviews = [];
});
afterEach(() => api.stop());

test("[OC14] the operator binds itself once, and waits until the rights are in force", async () => {
  reviews = [false, false, true];
  const own = rights();
  await Promise.all([own.ready("shop"), own.ready("shop")]);
  expect(objects.get(BINDING)).toMatchObject({
    roleRef: { kind: "ClusterRole", name: "projects" },
    subjects: [{ kind: "ServiceAccount", ...account }],
  });
  const asked = api.asked.length;
  await own.ready("shop");
  expect(api.asked).toHaveLength(asked);
  expect(writes()).toHaveLength(1);
});

test("[OC14] a binding that is there is kept, and one that was removed is made again after a refusal", async () => {
  const own = rights();
  await own.ready("shop");
  await rights().ready("shop");
  expect(writes()).toHaveLength(1);
  objects.delete(BINDING);
  own.doubt("shop");
  await own.ready("shop");
  expect(objects.has(BINDING)).toBe(true);
});

test("[OC14] a role that is missing on the cluster is named", async () => {
  reviews = Array.from({ length: 100 }, () => false);
  await expect(rights().ready("shop")).rejects.toThrow(/is there a ClusterRole projects/);
});

test.each([
  ["of somebody else", { name: "shop" }],
  ["of another cluster", { name: "shop", labels: ownLabels("c2") }],
  ["that is leaving", { name: "shop", labels: ownLabels("c1"), deletionTimestamp: "2026-01-01T00:00:00Z" }],
])(
  "[OC14] the operator gives itself no rights in a namespace %s, and does not stop work there",
  async (_, metadata) => {
    objects.set(NAMESPACE, namespaceOf(metadata));
    await rights().ready("shop");
    expect(writes()).toEqual([]);
  },
);
