import { afterEach, describe, expect, test, vi } from "vitest";
import { type Answerer, type FakeApi, startFakeApi } from "./fake-api.fixture.ts";
import type { KubeObject, ResourceType } from "./kube-client.ts";
import { KubeConflict, KubeError } from "./kube-error.ts";

const PODS: ResourceType = { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true };
const NODES: ResourceType = { group: "", version: "v1", plural: "nodes", kind: "Node", namespaced: false };
const SECRETS: ResourceType = { group: "", version: "v1", plural: "secrets", kind: "Secret", namespaced: true };

const CORE = {
  kind: "APIResourceList",
  resources: [
    { name: "pods", kind: "Pod", namespaced: true },
    { name: "pods/log", kind: "Pod", namespaced: true },
    { name: "nodes", kind: "Node", namespaced: false },
    { name: "secrets", kind: "Secret", namespaced: true },
  ],
};

const pod = (name: string): KubeObject => ({ apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "ns" } });
const failure = (code: number, reason: string, message: string, details = {}) =>
  [code, { kind: "Status", code, reason, message, details }] as const;

let api: FakeApi;
afterEach(() => api?.stop());

async function answering(answer: Answerer, access?: Parameters<typeof startFakeApi>[1]) {
  api = await startFakeApi(
    (asked, response) => (asked.path === "/api/v1" ? [200, CORE] : answer(asked, response)),
    access,
  );
  return api.client;
}

const rejection = (promise: Promise<unknown>): Promise<KubeError> =>
  promise.then(
    () => Promise.reject(new Error("It succeeded.")),
    (error) => error,
  );

describe("an object", () => {
  test("[KU6] an object is read from the path of its kind, namespaced or not", async () => {
    const client = await answering(({ path }) => [200, { path }]);
    expect(await client.get(PODS, "a", "ns")).toEqual({ path: "/api/v1/namespaces/ns/pods/a" });
    expect(await client.get(NODES, "n")).toEqual({ path: "/api/v1/nodes/n" });
    expect(await client.get({ ...NODES, group: "x.dev", plural: "things" }, "n")).toEqual({
      path: "/apis/x.dev/v1/things/n",
    });
    expect(api.asked[0]?.headers).toMatchObject({ authorization: "Bearer t", "user-agent": "binnacle-operator" });
  });

  test("[KU7] a missing object is null, and deleting it succeeds", async () => {
    const client = await answering(() => failure(404, "NotFound", "no"));
    expect(await client.get(PODS, "a", "ns")).toBeNull();
    expect(await client.delete(PODS, "a", "ns")).toBe("gone");
  });

  test("[KU7] an object is deleted only with the given uid as a precondition", async () => {
    const client = await answering(() => [200, {}]);
    const options = { preconditions: { uid: "u" }, propagation: "Foreground", gracePeriodSeconds: 0 } as const;
    expect(await client.delete(PODS, "a", "ns", options)).toBe("deleting");
    expect(api.asked[0]?.body).toEqual({
      apiVersion: "v1",
      kind: "DeleteOptions",
      preconditions: { uid: "u" },
      propagationPolicy: "Foreground",
      gracePeriodSeconds: 0,
    });
  });

  test.each(["", ".", "..", "a/b", "a%2fb", "a?b", "a#b"])(
    "[KU8] an object cannot have the name %j, which would lead to another path",
    async (name) => {
      const client = await answering(() => [200, {}]);
      await expect(client.get(PODS, name, "ns")).rejects.toThrow(
        `${JSON.stringify(name)} is not a name of a Kubernetes object.`,
      );
      expect(api.asked).toEqual([]);
    },
  );

  test("[KU8] an object of a namespaced kind needs a namespace", async () => {
    const client = await answering(() => [200, {}]);
    await expect(client.get(PODS, "a")).rejects.toThrow("The Pod a needs a namespace.");
    const homeless = { apiVersion: "v1", kind: "Pod", metadata: { name: "a" } };
    await expect(client.create(homeless)).rejects.toThrow("The Pod a needs a namespace.");
  });

  test("[KU10] an object is applied with the field manager binnacle, without force unless that is asked for", async () => {
    const client = await answering(({ body }) => [200, body]);
    expect(await client.apply(pod("a"))).toEqual(pod("a"));
    await client.apply(pod("a"), { force: true, dryRun: true, fieldManager: "other", subresource: "status" });
    expect(api.asked.slice(1)).toMatchObject([
      {
        method: "PATCH",
        path: "/api/v1/namespaces/ns/pods/a",
        query: { fieldManager: "binnacle", force: "false" },
        headers: { "content-type": "application/apply-patch+yaml" },
      },
      { path: "/api/v1/namespaces/ns/pods/a/status", query: { fieldManager: "other", force: "true", dryRun: "All" } },
    ]);
  });

  test("[KU10] applying an object whose fields others manage is refused with their names and fields", async () => {
    const cause = (field: string, manager: string) => ({
      reason: "FieldManagerConflict",
      message: `conflict with "${manager}" using apps/v1 at 2026-01-02T03:04:05Z`,
      field,
    });
    const causes = [
      cause(".spec.replicas", "kubectl-edit"),
      cause('.spec.template.spec.containers[name="a"].image', "ci"),
    ];
    const client = await answering(() => failure(409, "Conflict", "Apply failed with 2 conflicts", { causes }));
    const error = await rejection(client.apply(pod("a")));
    expect(error).toBeInstanceOf(KubeConflict);
    expect(error).toMatchObject({
      status: 409,
      conflicts: [
        { field: ".spec.replicas", manager: "kubectl-edit" },
        { field: '.spec.template.spec.containers[name="a"].image', manager: "ci" },
      ],
    });
  });

  test("[KU6] an object is created, patched and its status written at the right paths", async () => {
    const client = await answering(() => [200, {}]);
    await client.create(pod("a"));
    await client.patch(PODS, "a", "ns", [{ op: "remove", path: "/x" }], { kind: "json" });
    await client.patch(NODES, "n", null, { spec: {} }, { kind: "merge", subresource: "scale" });
    await client.patchStatus(PODS, "a", "ns", { phase: "x" });
    expect(
      api.asked.slice(1).map(({ method, path, headers }) => `${method} ${path} ${headers["content-type"]}`),
    ).toEqual([
      "POST /api/v1/namespaces/ns/pods application/json",
      "PATCH /api/v1/namespaces/ns/pods/a application/json-patch+json",
      "PATCH /api/v1/nodes/n/scale application/merge-patch+json",
      "PATCH /api/v1/namespaces/ns/pods/a/status application/merge-patch+json",
    ]);
  });
});

describe("a list", () => {
  const page = (names: readonly string[], next?: string) =>
    [
      200,
      { metadata: { resourceVersion: "7", continue: next }, items: names.map((name) => ({ metadata: { name } })) },
    ] as const;

  test("[KU9] a list is read page by page, and its items carry their kind", async () => {
    const client = await answering(({ query }) => (query["continue"] ? page(["b"]) : page(["a"], "more")));
    const { items, resourceVersion } = await client.list(PODS, { namespace: "ns", labelSelector: "a=b,c" });
    expect(items).toEqual(["a", "b"].map((name) => ({ apiVersion: "v1", kind: "Pod", metadata: { name } })));
    expect(resourceVersion).toBe("7");
    expect(api.asked.map(({ query }) => query)).toEqual([
      { limit: "500", labelSelector: "a=b,c" },
      { limit: "500", labelSelector: "a=b,c", continue: "more" },
    ]);
  });

  test("[KU9] a list whose continue token expires goes on with the token that the API server gives for the rest", async () => {
    const client = await answering(({ query }) => {
      if (query["continue"] === "old") {
        return [
          410,
          { kind: "Status", code: 410, reason: "Expired", message: "too old", metadata: { continue: "new" } },
        ];
      }
      return query["continue"]
        ? [200, { metadata: { resourceVersion: "9" }, items: page(["b"])[1].items }]
        : page(["a"], "old");
    });
    const { items, resourceVersion } = await client.list(NODES);
    expect(items.map(({ metadata }) => metadata.name)).toEqual(["a", "b"]);
    // From there a watch shows what has changed between the pages.
    expect(resourceVersion).toBe("7");
    expect(api.asked.map(({ query }) => query["continue"])).toEqual([undefined, "old", "new"]);
    expect(api.asked.every(({ query }) => query["limit"] === "500")).toBe(true);
  });

  test("[KU9] a list that the API server cannot go on with fails instead of being read in one answer", async () => {
    const client = await answering(({ query }) =>
      query["continue"] ? failure(410, "Expired", "too old") : page(["a"], "old"),
    );
    expect(await rejection(client.list(NODES))).toMatchObject({ status: 410 });
    expect(api.asked).toHaveLength(2);
  });

  test("[KU27] a list of metadata asks for nothing else, and its items carry the kind of their objects", async () => {
    const client = await answering(() => [
      200,
      {
        kind: "PartialObjectMetadataList",
        metadata: { resourceVersion: "7" },
        items: [{ kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: { name: "a" } }],
      },
    ]);
    const { items } = await client.list(SECRETS, { isMetadataOnly: true });
    expect(items).toEqual([{ apiVersion: "v1", kind: "Secret", metadata: { name: "a" } }]);
    expect(api.asked[0]?.headers.accept).toBe("application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1");
  });

  test("[KU28] a list that may be stale is asked from the memory of the API server, its further pages by their token alone", async () => {
    const client = await answering(({ query }) => (query["continue"] ? page(["b"]) : page(["a"], "more")));
    await client.list(PODS, { mayBeStale: true });
    expect(api.asked.map(({ query }) => query)).toEqual([
      { limit: "500", resourceVersion: "0" },
      { limit: "500", continue: "more" },
    ]);
  });

  test("[KU26] each object of a list is trimmed before the rest of its page has arrived", async () => {
    const isTrimmed = Promise.withResolvers<void>();
    const client = await answering((_, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write('{"metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"a"},"spec":{"large":true}},');
      void isTrimmed.promise.then(() => response.end('{"metadata":{"name":"b"},"spec":{}}]}'));
      return null;
    });
    const trim = ({ apiVersion, kind, metadata }: KubeObject) => {
      isTrimmed.resolve();
      return { apiVersion, kind, metadata };
    };
    const { items } = await client.list(NODES, { trim });
    expect(items).toEqual(["a", "b"].map((name) => ({ apiVersion: "v1", kind: "Node", metadata: { name } })));
  });
});

describe("a failure", () => {
  test("[KU6] a refused request fails with the status, reason and message of the API server", async () => {
    const client = await answering(() => failure(403, "Forbidden", "pods is forbidden", { kind: "pods" }));
    const error = await rejection(client.list(PODS));
    expect(error).toBeInstanceOf(KubeError);
    expect(error).toMatchObject({
      status: 403,
      reason: "Forbidden",
      message: "pods is forbidden",
      details: { kind: "pods" },
    });
  });

  test("[KU6] an answer of a proxy in front of the API server fails with what was asked", async () => {
    const client = await answering((_, response) => {
      response.writeHead(502, { "content-type": "text/html" }).end("<h1>Bad gateway</h1>");
      return null;
    });
    const error = await rejection(client.get(PODS, "a", "ns"));
    expect(error).toMatchObject({ status: 502, message: "GET /api/v1/namespaces/ns/pods/a was answered with 502." });
  });

  test("[KU6] an answer with broken JSON fails without quoting the text", async () => {
    const client = await answering((_, response) => {
      response.writeHead(200, { "content-type": "application/json" }).end("{hunter2");
      return null;
    });
    const error = await rejection(client.get(NODES, "n"));
    expect(error).toMatchObject({ reason: "Malformed", message: "GET /api/v1/nodes/n was answered with broken JSON." });
  });

  test("[KU6] a request without an answer fails with the status 0", async () => {
    const client = await answering((_, response) => {
      response.socket?.destroy();
      return null;
    });
    expect(await rejection(client.get(NODES, "n"))).toMatchObject({ status: 0, reason: "Unreachable" });
    await api.stop();
    const { client: nowhere } = await startFakeApi(() => null, { server: api.url });
    expect(await rejection(nowhere.version())).toMatchObject({
      status: 0,
      message: expect.stringContaining("ECONNREFUSED"),
    });
  });

  test("[KU11] a request fails when it is not answered in time or is cancelled", async () => {
    const client = await answering(() => null);
    expect(await rejection(client.raw("GET", "/slow", { timeoutMs: 20 }))).toMatchObject({
      reason: "Timeout",
      message: "GET /slow was not answered within 0.02 s.",
    });
    expect(await rejection(client.list(PODS, { signal: AbortSignal.abort() }))).toMatchObject({ reason: "Cancelled" });
  });

  test("[KU12] a failure of a request about a Secret does not quote the Secret", async () => {
    const causes = [{ reason: "FieldValueInvalid", message: 'Invalid value: "hunter2"', field: "data[x]" }];
    const client = await answering(() => failure(422, "Invalid", 'Secret "a" is invalid: "hunter2"', { causes }));
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "a", namespace: "ns" } };
    const error = await rejection(client.apply(secret));
    expect(error.message).toBe("PATCH /api/v1/namespaces/ns/secrets/a was refused (Invalid, data[x]).");
    expect(JSON.stringify(error)).not.toContain("hunter2");
    await client.list(SECRETS).catch(() => undefined);
  });

  test("[KU5] a request that is refused with 401 is repeated once with a new identity", async () => {
    const tokens = ["old", "new"];
    const identity = async ({ isRefused = false } = {}) => ({
      token: tokens[isRefused ? 1 : 0] ?? null,
      certificate: null,
      key: null,
    });
    const client = await answering(
      ({ headers }) => (headers.authorization === "Bearer new" ? [200, {}] : failure(401, "Unauthorized", "who?")),
      { identity },
    );
    expect(await client.get(NODES, "n")).toEqual({});
    tokens[1] = "refused too";
    expect(await rejection(client.get(NODES, "n"))).toMatchObject({ status: 401 });
    expect(api.asked).toHaveLength(4);
  });
});

describe("a server that is too busy", () => {
  test("[KU29] after a 429 with a time no request of the client is sent until then, and the refused one is sent again", async () => {
    let nowMs = 0;
    const waits: { readonly ms: number; readonly callback: () => void }[] = [];
    const clock = {
      now: () => nowMs,
      after(ms: number, callback: () => void) {
        waits.push({ ms, callback });
        return () => undefined;
      },
    };
    let isBusy = true;
    api = await startFakeApi(
      ({ path }, response) => {
        if (!isBusy) return [200, { path }];
        // In plain text, as the API server refuses what it does not even look at.
        response.writeHead(429, { "retry-after": "3" }).end("Too many requests, please try again later.");
        return null;
      },
      {},
      { clock },
    );
    const refused = api.client.get(NODES, "a");
    await vi.waitFor(() => expect(waits).toHaveLength(1));
    const other = api.client.as("somebody").get(NODES, "b");
    await vi.waitFor(() => expect(waits).toHaveLength(2));
    expect(api.asked).toHaveLength(1);
    for (const { ms } of waits) expect(ms).toBeGreaterThanOrEqual(3_000);

    isBusy = false;
    nowMs = 3_000;
    for (const { callback } of waits) callback();
    expect(await Promise.all([refused, other])).toEqual([{ path: "/api/v1/nodes/a" }, { path: "/api/v1/nodes/b" }]);
    expect(api.asked).toHaveLength(3);
  });
});

describe("a kind", () => {
  test("[KU13] a kind is discovered once, without its subresources", async () => {
    const client = await answering(() => [200, {}]);
    expect(await Promise.all([client.resourceTypeOf("v1", "Pod"), client.resourceTypeOf("v1", "Node")])).toEqual([
      PODS,
      NODES,
    ]);
    await client.resourceTypeOf("v1", "Pod");
    expect(api.asked).toHaveLength(1);
  });

  test("[KU13] an unknown kind is looked for again each time, as it may have been defined since", async () => {
    let isDefined = false;
    const things = { resources: [{ name: "things", kind: "Thing", namespaced: true }] };
    const client = await answering(() => (isDefined ? [200, things] : failure(404, "NotFound", "no")));
    expect(await rejection(client.resourceTypeOf("x.dev/v1", "Thing"))).toMatchObject({
      status: 404,
      reason: "UnknownKind",
      message: "The cluster knows no kind Thing in x.dev/v1.",
    });
    isDefined = true;
    expect(await client.resourceTypeOf("x.dev/v1", "Thing")).toMatchObject({ group: "x.dev", plural: "things" });
  });
});

test("[KU6] any path below the server's path can be requested, and JSON and text are answered as such", async () => {
  const client = await answering(({ path, query }, response) => {
    if (!path.endsWith("/text")) return [200, { path, query }];
    response.writeHead(200, { "content-type": "text/plain" }).end("ok");
    return null;
  });
  expect(await client.raw("GET", "/readyz/text")).toBe("ok");
  expect(await client.raw("GET", "/x", { query: { a: 1, b: true, c: undefined } })).toEqual({
    path: "/x",
    query: { a: "1", b: "true" },
  });
  const behind = await startFakeApi(({ path }) => [200, { path }], { server: `${api.url}/k8s/clusters/c/` });
  expect(await behind.client.raw("GET", "/version")).toMatchObject({ path: "/k8s/clusters/c/version" });
  await behind.stop();
});
