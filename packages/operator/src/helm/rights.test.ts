import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Asked, type FakeApi, startFakeApi } from "../kube/fake-api.fixture.ts";
import type { KubeObject } from "../kube/kube-client.ts";
import { bindingStep } from "../kube/role-binding.ts";
import { ALL_RIGHTS } from "../project/project-rights.store.ts";
import { createChartAccounts } from "./chart-account.store.ts";
import { broughtBy, outsideOf, outsideSentence } from "./failure.ts";
import { documentsIn, objectsIn } from "./manifest-reader.ts";
import { accountIn, bindingIn, isAccountAsWanted, rightsFor } from "./rights.ts";

const CHART = { repo: "https://charts.example.com", name: "cert-manager", version: "1.2.3" };
const WIDE = "system:serviceaccount:binnacle-system:binnacle-cluster-charts";

describe("the rights of a release", () => {
  const policy = (clusterWideUser: string | null, ...charts: { repo: string; name: string }[]) => ({
    clusterWideCharts: (namespace: string) => (namespace === "shop" ? charts : []),
    clusterWideUser,
  });
  const PROJECT = { user: "system:serviceaccount:shop:binnacle-charts", isClusterWide: false };

  test.each([
    ["[HE22] a release has the rights of its project", policy(WIDE), CHART, "shop", PROJECT],
    [
      "[HE24] a release of a chart on the list has cluster-wide rights",
      policy(WIDE, CHART),
      CHART,
      "shop",
      { user: WIDE, isClusterWide: true },
    ],
    [
      "[HE24] a release has cluster-wide rights however the repository of the listed chart is spelled",
      policy(WIDE, { repo: "https://Charts.example.com/", name: "cert-manager" }),
      CHART,
      "shop",
      { user: WIDE },
    ],
    [
      "[HE24] a chart with a listed name from another repository has the rights of its project",
      policy(WIDE, CHART),
      { repo: "https://evil.example.com", name: "cert-manager" },
      "shop",
      PROJECT,
    ],
    [
      "[HE24] another chart of a listed chart's repository has the rights of its project",
      policy(WIDE, CHART),
      { ...CHART, name: "cert-manager-2" },
      "shop",
      PROJECT,
    ],
    ["[HE24] a release of an unknown chart has its project's rights", policy(WIDE, CHART), null, "shop", PROJECT],
    [
      "[HE24] a listed chart without the operator's part has the rights of its project and a remedy",
      policy(null, CHART),
      CHART,
      "shop",
      { ...PROJECT, remedy: expect.stringContaining("rbac.clusterWideCharts=true") },
    ],
    ["[HE24] a release follows its own project's list", policy(WIDE, CHART), CHART, "bank", { isClusterWide: false }],
  ])("%s", (_, given, chart, namespace, rights) => {
    expect(rightsFor({ namespace }, chart, given)).toMatchObject(rights);
  });
});

describe("[HE23] what a chart holds outside its namespace", () => {
  const SCOPES: Readonly<Record<string, boolean>> = { ConfigMap: true, Job: true, ClusterRole: false };
  const outside = async (manifest: string) =>
    outsideOf(
      documentsIn(manifest).flatMap((document) => objectsIn(document).flatMap(broughtBy)),
      "shop",
      async (_, kind) => SCOPES[kind] ?? null,
    );
  const object = (kind: string, metadata: string) => `apiVersion: v1\nkind: ${kind}\nmetadata: ${metadata}\n`;

  test.each([
    ["an object of the namespace", object("ConfigMap", "{name: a}"), []],
    ["an object that names the namespace", object("ConfigMap", "{name: a, namespace: shop}"), []],
    ["another namespace", object("Job", "{name: a, namespace: bank}"), ["Job a in the namespace bank"]],
    ["the whole cluster", object("ClusterRole", "{name: a}"), ["ClusterRole a of the whole cluster"]],
    [
      "the whole cluster, whatever namespace is written",
      object("ClusterRole", "{name: a, namespace: shop}"),
      ["ClusterRole a of the whole cluster"],
    ],
    ["an unknown kind here", object("Thing", "{name: a}"), []],
    ["an unknown kind elsewhere", object("Thing", "{name: a, namespace: b}"), ["Thing a in the namespace b"]],
    [
      "a name that is made up later",
      object("ClusterRole", "{generateName: a-}"),
      ["ClusterRole a-… of the whole cluster"],
    ],
    [
      "a list",
      `kind: ConfigMapList\nitems: [{kind: ConfigMap, metadata: {name: a, namespace: b}}]`,
      ["ConfigMap a in the namespace b"],
    ],
    ["JSON", '{"kind": "ClusterRole", "metadata": {"name": "a"}}', ["ClusterRole a of the whole cluster"]],
    [
      "several documents",
      `${object("ConfigMap", "{name: a}")}--- # x\n${object("ClusterRole", "{name: b}")}`,
      ["ClusterRole b of the whole cluster"],
    ],
    ["markup in a name", object("Job", '{name: "<b>a", namespace: "b\\nc"}'), ["Job ba in the namespace bc"]],
    ["nothing", "# Source: a\n", []],
  ])("the objects of a chart outside its namespace are found: %s", async (_, manifest, titles) => {
    expect(await outside(manifest)).toEqual(titles);
  });

  test("the message about objects outside the namespace names the first of them, with what to do", () => {
    const sentence = outsideSentence(["A a of the whole cluster", "B b", "C c", "D d", "E e"], "shop", "Ask.");
    expect(sentence).toBe(
      "The chart holds objects outside the namespace shop: A a of the whole cluster, B b, C c and 2 more. Ask.",
    );
  });

  test("objects outside the namespace are found in long manifests without delay", async () => {
    const keys = Array.from({ length: 40_000 }, (_, at) => `  k${at}: v\n`).join("");
    const hostile = `kind: ConfigMap\nmetadata: {name: a}\ndata:\n${keys}---\n${object("ClusterRole", "{name: b}")}`;
    expect(await outside(hostile)).toEqual(["ClusterRole b of the whole cluster"]);
    const bomb = `a: &a [x, x]\n${"bcdefghij".replace(/./g, (key) => `${key}: &${key} [*${String.fromCharCode(key.charCodeAt(0) - 1)}, *${String.fromCharCode(key.charCodeAt(0) - 1)}]\n`)}kind: Job\nmetadata: {name: a, namespace: b}`;
    expect(await outside(bomb)).toEqual(["Job a in the namespace b"]);
  });
});

describe("the account of a project's charts", () => {
  const account = accountIn("shop", "c1");
  const binding = bindingIn("shop", "c1", "charts");

  test("[OD41] the service account of a project's charts is restored, whatever somebody has made of it", () => {
    expect(isAccountAsWanted(account, account)).toBe(true);
    expect(isAccountAsWanted(null, account)).toBe(false);
    expect(isAccountAsWanted({ ...account, automountServiceAccountToken: true }, account)).toBe(false);
    expect(bindingStep(binding, binding)).toBe("keep");
    expect(bindingStep(null, binding)).toBe("apply");
    const others = [
      { kind: "Group", name: "system:authenticated" },
      { kind: "ServiceAccount", name: "binnacle-charts" },
    ];
    expect(bindingStep({ ...binding, subjects: others }, binding)).toBe("apply");
    expect(bindingStep({ ...binding, metadata: { ...binding.metadata, labels: {} } }, binding)).toBe("apply");
    expect(bindingStep(bindingIn("shop", "c1", "another"), binding)).toBe("replace");
    const role = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "charts" };
    expect(bindingStep({ ...binding, roleRef: role }, binding)).toBe("replace");
  });

  let api: FakeApi;
  let objects: Map<string, KubeObject>;
  let reviews: boolean[];
  let nowMs: number;
  const answer = ({ method, path, body }: Asked): readonly [number, unknown] => {
    if (path === "/api/v1") return [200, resources("serviceaccounts", "ServiceAccount")];
    if (path === "/apis/rbac.authorization.k8s.io/v1") return [200, resources("rolebindings", "RoleBinding")];
    if (path.endsWith("selfsubjectaccessreviews")) return [201, { status: { allowed: reviews.shift() ?? true } }];
    if (method === "PATCH") objects.set(path, body as KubeObject);
    if (method === "DELETE") objects.delete(path);
    const found = objects.get(path);
    return found || method !== "GET" ? [200, found ?? {}] : [404, { kind: "Status", code: 404 }];
  };
  const resources = (name: string, kind: string) => ({ resources: [{ name, kind, namespaced: true }] });
  const namespaceOf = (labels: object) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name: "shop", labels } });
  const NAMESPACE = "/api/v1/namespaces/shop";
  const BINDING = "/apis/rbac.authorization.k8s.io/v1/namespaces/shop/rolebindings/binnacle-charts";
  const accounts = () => {
    const clock = {
      now: () => nowMs,
      after(ms: number, callback: () => void) {
        nowMs += ms;
        queueMicrotask(callback);
        return () => undefined;
      },
    };
    return createChartAccounts({ kube: api.client, clusterId: "c1", role: "charts", clock, projectRights: ALL_RIGHTS });
  };
  beforeEach(async () => {
    api = await startFakeApi(answer);
    objects = new Map([[NAMESPACE, namespaceOf(account.metadata.labels ?? {}) as KubeObject]]);
    reviews = [];
    nowMs = 0;
  });
  afterEach(() => api.stop());

  test("[HE22] the service account of a project's charts is waited for until its rights are in force, asked as itself", async () => {
    reviews = [false, false, true];
    await accounts().ready("shop");
    expect([...objects.keys()]).toEqual([NAMESPACE, `${NAMESPACE}/serviceaccounts/binnacle-charts`, BINDING]);
    const asked = api.asked.filter(({ path }) => path.endsWith("selfsubjectaccessreviews"));
    expect(asked).toHaveLength(3);
    for (const { headers } of asked) {
      expect(headers["impersonate-user"]).toBe("system:serviceaccount:shop:binnacle-charts");
    }
    expect(api.asked.some(({ path, headers }) => path === BINDING && headers["impersonate-user"])).toBe(false);
  });

  test("[HE22] a chart account that never gets its rights is reported with the ClusterRole that is missing", async () => {
    reviews = Array.from({ length: 100 }, () => false);
    await expect(accounts().ready("shop")).rejects.toThrow(/is there a ClusterRole charts/);
  });

  test("[HE22] a chart account is trusted for a while, and checked again after a refusal", async () => {
    const kept = accounts();
    await kept.ready("shop");
    const before = api.asked.length;
    await kept.ready("shop");
    expect(api.asked).toHaveLength(before);
    objects.delete(BINDING);
    kept.doubt("shop");
    await kept.ready("shop");
    expect(objects.has(BINDING)).toBe(true);
    nowMs += 180_000;
    objects.delete(BINDING);
    await kept.ready("shop");
    expect(objects.has(BINDING)).toBe(true);
  });

  test("[OD41] a chart account that was bound to another role is bound anew", async () => {
    objects.set(BINDING, bindingIn("shop", "c1", "another"));
    await accounts().ensure("shop");
    expect(objects.get(BINDING)?.["roleRef"]).toMatchObject({ name: "charts" });
    const steps = api.asked.filter(({ path, method }) => path === BINDING && method !== "GET");
    expect(steps.map(({ method }) => method)).toEqual(["DELETE", "PATCH"]);
  });

  test.each([
    ["of somebody else", namespaceOf({})],
    ["of another cluster", namespaceOf({ ...account.metadata.labels, "binnacle.dev/cluster": "c2" })],
    [
      "that is leaving",
      {
        ...namespaceOf(account.metadata.labels ?? {}),
        metadata: { name: "shop", labels: account.metadata.labels, deletionTimestamp: "2026-01-01T00:00:00Z" },
      },
    ],
  ])("[HE22] a chart account is not created in a namespace %s", async (_, namespace) => {
    objects.set(NAMESPACE, namespace as KubeObject);
    await expect(accounts().ready("shop")).rejects.toThrow("is not that of a project of this cluster");
    expect([...objects.keys()]).toEqual([NAMESPACE]);
  });
});
