import { describe, expect, test } from "vitest";
import type { LogLine, LogSource, UsageSource } from "../ports.ts";
import { ask, pathIn } from "./ask.fixture.ts";
import { type BareClusterOptions, bareCluster } from "./bare-cluster.fixture.ts";

const START = Date.parse("2026-01-01T00:00:00Z");
const clock = { nowMs: () => START + 100_000 };
const pod = (containers: readonly string[] = ["c"]) => ({
  metadata: { name: "p", namespace: "shop", labels: { app: "web" } },
  spec: { containers: containers.map((name) => ({ name, image: "x:1" })) },
});

function world(options: BareClusterOptions = {}) {
  const cluster = bareCluster({ clock, ...options });
  const get = (path: string, token?: string) =>
    ask(cluster.handler, { path: pathIn("shop", path), ...(token ? { token } : {}) });
  return { ...cluster, get };
}

test("[SA1] every answer of the sandbox says that the cluster is simulated", () => {
  const { get } = world();
  expect(get("/version").answer).toMatchObject({
    gitVersion: "v1.37.1-binnacle-sandbox",
    platform: "binnacle/sandbox",
  });
  for (const path of ["/version", "/nope", "pods", "pods/x"])
    expect(get(path).response.headers["x-binnacle-sandbox"]).toBe("simulated");
  expect(get("/readyz").answer).toBe("ok");
});

describe("who asks", () => {
  test("[SA2] a request without the token is not admitted", () => {
    const { get } = world({ token: "secret" });
    expect(get("pods")).toMatchObject({ status: 401, answer: { reason: "Unauthorized" } });
    expect(get("pods", "wrong").status).toBe(401);
    expect(get("pods", "secret").status).toBe(200);
  });

  test("[SA6] a request that impersonates a service account has the rights of that account and no others", () => {
    const { handler, store } = world({ token: "secret" });
    const [shop, bank] = ["system:serviceaccount:shop:charts", "system:serviceaccount:bank:charts"];
    const rules = [
      { apiGroups: [""], resources: ["serviceaccounts"], resourceNames: ["charts"], verbs: ["impersonate"] },
      { apiGroups: [""], resources: ["pods"], verbs: ["list"] },
    ];
    store.create("serviceaccounts", { metadata: { name: "robot", namespace: "shop" } });
    store.create("clusterroles.rbac.authorization.k8s.io", { metadata: { name: "robot" }, rules });
    store.create("clusterrolebindings.rbac.authorization.k8s.io", {
      metadata: { name: "robot" },
      roleRef: { kind: "ClusterRole", name: "robot" },
      subjects: [{ kind: "ServiceAccount", name: "robot", namespace: "shop" }],
    });
    const reading = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["list"] }];
    store.create("clusterroles.rbac.authorization.k8s.io", { metadata: { name: "charts" }, rules: reading });
    store.create("rolebindings.rbac.authorization.k8s.io", {
      metadata: { name: "charts", namespace: "shop" },
      roleRef: { kind: "ClusterRole", name: "charts" },
      subjects: [{ kind: "ServiceAccount", name: "charts" }],
    });
    const request = { method: "POST", path: pathIn("shop", "serviceaccounts/robot/token"), body: { spec: {} } };
    const { token } = (ask(handler, { ...request, token: "secret" }).answer as { status: { token: string } }).status;
    const list = (what: string, as: string, by = token) =>
      ask(handler, { path: pathIn("shop", what), token: by, as }).status;
    expect(list("configmaps", shop)).toBe(200);
    expect(list("configmaps", shop, "secret")).toBe(200);
    expect(list("pods", shop)).toBe(403);
    expect(list("pods", shop, "secret")).toBe(403);
    expect(list("configmaps", bank)).toBe(403);
    expect(list("configmaps", "system:serviceaccount:shop:another")).toBe(403);
    expect(ask(handler, { path: pathIn("shop", "pods"), token, as: "sandbox-admin" })).toMatchObject({
      status: 403,
      answer: {
        message:
          'users "sandbox-admin" is forbidden: User "system:serviceaccount:shop:robot" cannot impersonate resource "users" in API group "" at the cluster scope',
      },
    });
    expect(ask(handler, { path: pathIn("shop", "pods"), token: "secret", as: "ada" }).status).toBe(403);
  });

  test("[SA3] a request of a service account has the rights of its roles and no more", () => {
    const { handler, store } = world({ token: "secret" });
    store.create("serviceaccounts", { metadata: { name: "robot", namespace: "shop" } });
    store.create("roles.rbac.authorization.k8s.io", {
      metadata: { name: "reader", namespace: "shop" },
      rules: [{ apiGroups: [""], resources: ["pods", "pods/log"], verbs: ["get", "list"] }],
    });
    store.create("rolebindings.rbac.authorization.k8s.io", {
      metadata: { name: "reader", namespace: "shop" },
      roleRef: { kind: "Role", name: "reader" },
      subjects: [{ kind: "ServiceAccount", name: "robot" }],
    });
    const given = ask(handler, {
      method: "POST",
      path: pathIn("shop", "serviceaccounts/robot/token"),
      body: { spec: {} },
      token: "secret",
    });
    const { token } = (given.answer as { status: { token: string } }).status;
    const as = (method: string, path: string, body?: unknown) =>
      ask(handler, { method, path: pathIn("shop", path), body, token });
    expect(as("GET", "pods").status).toBe(200);
    expect(as("GET", "/api/v1/pods")).toMatchObject({
      status: 403,
      answer: {
        message:
          'pods is forbidden: User "system:serviceaccount:shop:robot" cannot list resource "pods" in API group "" at the cluster scope',
      },
    });
    expect(as("GET", "secrets").status).toBe(403);
    expect(as("POST", "pods", pod()).status).toBe(403);
    expect(as("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {}).answer).toMatchObject({
      status: { userInfo: { username: "system:serviceaccount:shop:robot" } },
    });
    const may = (verb: string) =>
      as("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {
        spec: { resourceAttributes: { verb, resource: "pods", namespace: "shop" } },
      }).answer;
    expect(may("list")).toMatchObject({ status: { allowed: true } });
    expect(may("delete")).toMatchObject({ status: { allowed: false } });
  });
});

describe("logs", () => {
  const lines: LogLine[] = [0, 30, 60, 90].map((second) => ({
    atMs: START + second * 1000,
    text: `line at ${second}`,
  }));
  let listener: (line: LogLine | null) => void = () => undefined;
  const logSource: LogSource = {
    read: ({ container, previous }) => (container === "silent" || previous ? null : lines),
    follow: (_, tell) => {
      listener = tell;
      return () => undefined;
    },
  };
  const logs = (query: string, containers?: string[]) => {
    const { get, store } = world({ logSource });
    store.create("pods", pod(containers));
    return get(`pods/p/log?${query}`);
  };

  test.each([
    ["", 4],
    ["tailLines=2", 2],
    ["tailLines=0", 0],
    ["sinceTime=2026-01-01T00:00:30Z", 3],
    ["sinceSeconds=50", 2],
    ["sinceSeconds=50&tailLines=1", 1],
    ["timestamps=true", 4],
  ])("[SA51] logs that are requested with %j have %d lines", (query, count) => {
    const { answer } = logs(query);
    expect(String(answer).split("\n").length - 1).toBe(count);
    if (query.includes("timestamps")) expect(answer).toMatch(/^2026-01-01T00:00:00\.000000000Z line at 0\n/);
  });

  test("[SA51] logs that are followed go on, and end with their container", () => {
    const { response } = logs("follow=true&tailLines=1");
    const written: string[] = [];
    response.stream?.({ write: (text) => written.push(text), end: () => written.push("over") });
    listener({ atMs: START, text: "more" });
    listener(null);
    expect(written).toEqual(["line at 90\n", "more\n", "over"]);
  });

  test.each([
    ["container=silent", ["c", "silent"], "waiting to start"],
    ["container=none", ["c"], "is not valid for pod"],
    ["", ["c", "d"], "a container name must be specified"],
    ["previous=true", ["c"], "previous terminated container"],
  ])("[SA51] logs that are requested with %j of %j are refused", (query, containers, why) => {
    expect(logs(query, containers)).toMatchObject({ status: 400, answer: { message: expect.stringContaining(why) } });
  });
});

test("[SA52] measured usage is returned by namespace, name and label", () => {
  const usageSource: UsageSource = {
    pod: ({ metadata }) =>
      metadata.name === "p"
        ? { atMs: START, windowSeconds: 10, containers: [{ name: "c", cpuNanocores: 2e6, memoryBytes: 4096 }] }
        : null,
    node: () => ({ atMs: START, windowSeconds: 10, cpuNanocores: 5e6, memoryBytes: 8192 }),
  };
  const { get, store } = world({ usageSource });
  store.create("pods", pod());
  store.create("pods", { ...pod(), metadata: { name: "new", namespace: "shop" } });
  store.create("nodes", { metadata: { name: "n" } });
  const metrics = "/apis/metrics.k8s.io/v1beta1";
  expect(get(`${metrics}/namespaces/shop/pods`).answer).toMatchObject({
    kind: "PodMetricsList",
    items: [
      {
        metadata: { name: "p" },
        timestamp: "2026-01-01T00:00:00Z",
        window: "10s",
        containers: [{ name: "c", usage: { cpu: "2000000n", memory: "4Ki" } }],
      },
    ],
  });
  expect(get(`${metrics}/pods?labelSelector=app=db`).answer).toMatchObject({ items: [] });
  expect(get(`${metrics}/namespaces/shop/pods/new`).status).toBe(404);
  expect(get(`${metrics}/nodes/n`).answer).toMatchObject({
    kind: "NodeMetrics",
    usage: { cpu: "5000000n", memory: "8Ki" },
  });
});

test("[SA50] every listed group is described, and every kind is in both forms of discovery", () => {
  const { get, handler, core } = world();
  const { groups } = get("/apis").answer as { groups: { name: string; versions: { groupVersion: string }[] }[] };
  for (const { name, versions } of groups) {
    expect(get(`/apis/${name}`).answer).toMatchObject({ kind: "APIGroup", name });
    for (const { groupVersion } of versions)
      expect(get(`/apis/${groupVersion}`).answer).toMatchObject({ kind: "APIResourceList", groupVersion });
  }
  const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
  const whole = JSON.stringify([
    ask(handler, { path: "/api", accept }).answer,
    ask(handler, { path: "/apis", accept }).answer,
  ]);
  for (const { plural, kind } of core.served.all()) {
    expect(whole).toContain(`"resource":"${plural}"`);
    expect(whole).toContain(`"kind":"${kind}"`);
  }
});

test("[SA50] the OpenAPI document describes every kind, has no dangling references, and is made once", () => {
  const [first, second] = [world(), world()];
  const { paths } = first.get("/openapi/v3").answer as { paths: Record<string, { serverRelativeURL: string }> };
  for (const { serverRelativeURL } of Object.values(paths)) {
    const { response, answer } = first.get(serverRelativeURL);
    const { schemas } = (answer as { components: { schemas: object } }).components;
    const referred = [...(response.body ?? "").matchAll(/#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name);
    expect(referred.filter((name) => !Object.hasOwn(schemas, name ?? ""))).toEqual([]);
    expect(second.get(serverRelativeURL).response.body === response.body).toBe(true);
  }
});

test("[SA53] a table has the columns that kubectl shows", () => {
  const { handler, store } = world();
  store.create("pods", pod());
  const { answer } = ask(handler, {
    path: pathIn("shop", "pods"),
    accept: "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
  });
  expect(answer).toMatchObject({
    kind: "Table",
    columnDefinitions: [
      { name: "Name" },
      { name: "Ready" },
      { name: "Status" },
      { name: "Restarts" },
      { name: "Age" },
      { name: "IP" },
      { name: "Node" },
    ],
    rows: [{ cells: ["p", "0/1", "Pending", "0", "0s", "<none>", "<none>"], object: { metadata: { name: "p" } } }],
  });
});
