import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { clusterClient, freshNamespace } from "./cluster.fixture.ts";
import type { KubeClient, KubeObject, ResourceType, WatchEvent } from "./kube-client.ts";
import { KubeConflict, KubeError } from "./kube-error.ts";

let client: KubeClient;
let namespace: Awaited<ReturnType<typeof freshNamespace>>;
beforeAll(async () => {
  client = await clusterClient();
  namespace = await freshNamespace(client);
});
afterAll(async () => {
  await namespace?.remove();
  await client?.close();
});

const CONFIGS: ResourceType = { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", namespaced: true };

const config = (name: string, data: Record<string, string>): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: namespace.name },
  data,
});

const rejection = (promise: Promise<unknown>): Promise<KubeError> =>
  promise.then(
    () => Promise.reject(new Error("It succeeded.")),
    (error) => error,
  );

describe("on a real Kubernetes", () => {
  test("[KU50] the version and the kinds of a real cluster are known", async () => {
    expect((await client.version()).gitVersion).toMatch(/^v1\./);
    expect(await client.resourceTypeOf("apps/v1", "Deployment")).toEqual({
      group: "apps",
      version: "v1",
      plural: "deployments",
      kind: "Deployment",
      namespaced: true,
    });
    expect(await rejection(client.resourceTypeOf("nowhere.dev/v1", "Thing"))).toMatchObject({ reason: "UnknownKind" });
    expect(await client.raw("GET", "/readyz")).toBe("ok");
  });

  test("[KU50] a new kind is known as soon as it is defined", async () => {
    const kind = `Thing${namespace.name.slice(-6)}`;
    const plural = `${kind.toLowerCase()}s`;
    const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
    const definition = {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `${plural}.test.binnacle.dev` },
      spec: {
        group: "test.binnacle.dev",
        scope: "Cluster",
        names: { kind, plural },
        versions: [{ name: "v1", served: true, storage: true, schema, subresources: { status: {} } }],
      },
    };
    await client.apply(definition);
    const type = await vi.waitFor(() => client.resourceTypeOf("test.binnacle.dev/v1", kind), 20_000);
    const thing = { apiVersion: "test.binnacle.dev/v1", kind, metadata: { name: "a" } };
    await vi.waitFor(() => client.apply(thing), 20_000);
    await client.patchStatus(type, "a", null, { phase: "Seen" });
    expect(await client.get(type, "a")).toMatchObject({ status: { phase: "Seen" } });
    await client.delete(
      await client.resourceTypeOf("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
      definition.metadata.name,
    );
  });

  test("[KU50] an object of a real cluster is created, patched and deleted", async () => {
    await client.create(config("a", { x: "1" }));
    expect(await rejection(client.create(config("a", {})))).toMatchObject({ status: 409, reason: "AlreadyExists" });
    await client.patch(CONFIGS, "a", namespace.name, { data: { y: "2" } }, { kind: "merge" });
    await client.patch(CONFIGS, "a", namespace.name, [{ op: "remove", path: "/data/x" }], { kind: "json" });
    expect(await client.get(CONFIGS, "a", namespace.name)).toMatchObject({ data: { y: "2" } });
    const another = { preconditions: { uid: "of another one" } };
    expect(await rejection(client.delete(CONFIGS, "a", namespace.name, another))).toMatchObject({ status: 409 });
    expect(await client.delete(CONFIGS, "a", namespace.name)).toBe("deleting");
    expect(await client.delete(CONFIGS, "a", namespace.name)).toBe("gone");
    expect(await client.get(CONFIGS, "a", namespace.name)).toBeNull();
  });

  test("[KU50] a field that another manager has changed is refused with the manager's name, and taken by force", async () => {
    await client.apply(config("shared", { x: "ours", y: "ours" }));
    await client.apply(config("shared", { x: "theirs" }), { fieldManager: "somebody", force: true });
    const refusal = await rejection(client.apply(config("shared", { x: "ours", y: "ours" })));
    expect(refusal).toBeInstanceOf(KubeConflict);
    expect(refusal).toMatchObject({ status: 409, conflicts: [{ field: ".data.x", manager: "somebody" }] });
    const dry = await client.apply(config("shared", { x: "ours" }), { force: true, dryRun: true });
    expect(dry).toMatchObject({ data: { x: "ours" } });
    expect(await client.get(CONFIGS, "shared", namespace.name)).toMatchObject({ data: { x: "theirs", y: "ours" } });
    expect(await client.apply(config("shared", { x: "ours" }), { force: true })).toMatchObject({ data: { x: "ours" } });
  });

  test("[KU50] a list of more than one page is read whole, with the kind of its items", async () => {
    const names = Array.from({ length: 503 }, (_, number) => `many-${String(number).padStart(3, "0")}`);
    for (let at = 0; at < names.length; at += 50) {
      const objects = names.slice(at, at + 50).map((name) => config(name, {}));
      await Promise.all(
        objects.map((object) =>
          client.create({ ...object, metadata: { ...object.metadata, labels: { many: "yes" } } }),
        ),
      );
    }
    const { items } = await client.list(CONFIGS, { namespace: namespace.name, labelSelector: "many=yes" });
    expect(items.map(({ metadata }) => metadata.name)).toEqual(names);
    expect(items[0]).toMatchObject({ apiVersion: "v1", kind: "ConfigMap" });
  });

  test("[KU50] a watch delivers what happens after a list, and ends when it is told to", async () => {
    const selection = { namespace: namespace.name, labelSelector: "watched=yes" };
    const labels = { watched: "yes" };
    const { resourceVersion } = await client.list(CONFIGS, selection);
    const stop = new AbortController();
    const events: string[] = [];
    const summaryOf = (event: WatchEvent) =>
      "object" in event ? `${event.type} ${event.object.metadata.name}` : event.type;
    const watching = (async () => {
      for await (const event of client.watch(CONFIGS, { ...selection, resourceVersion, signal: stop.signal }))
        events.push(summaryOf(event));
    })();
    const object = config("watched", {});
    await client.create({ ...object, metadata: { ...object.metadata, labels } });
    await client.patch(CONFIGS, "watched", namespace.name, { data: { a: "b" } }, { kind: "merge" });
    await client.delete(CONFIGS, "watched", namespace.name);
    const expected = ["ADDED watched", "MODIFIED watched", "DELETED watched"];
    await vi.waitFor(() => expect(events.filter((event) => event !== "BOOKMARK")).toEqual(expected), 10_000);
    stop.abort();
    await watching;
  });

  test("[KU50] an invalid object is refused with the name of its wrong field", async () => {
    const error = await rejection(client.create(config("Not A Name", {})));
    expect(error).toBeInstanceOf(KubeError);
    expect(error).toMatchObject({ status: 422, reason: "Invalid", details: { causes: [{ field: "metadata.name" }] } });
  });

  test("[KU50] a refused Secret is not quoted", async () => {
    const metadata = { name: "s", namespace: namespace.name };
    const secret = { apiVersion: "v1", kind: "Secret", metadata, data: { password: "hunter2 is not base64!" } };
    for (const write of [client.apply, client.create]) {
      const error = await rejection(write(secret));
      expect(error.status).toBeGreaterThanOrEqual(400);
      expect(`${error.message} ${JSON.stringify(error)}`).not.toContain("hunter2");
    }
  });
});

test("[KU50] a service account's token is an identity with its rights and no more", async () => {
  const path = `/api/v1/namespaces/${namespace.name}/serviceaccounts/default/token`;
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
  const { status } = await vi.waitFor(() => client.raw<{ status: { token: string } }>("POST", path, { body }), 20_000);
  const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
  const own = await clusterClient({ token: status.token });
  expect(await own.raw("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", { body: review })).toMatchObject({
    status: { userInfo: { username: `system:serviceaccount:${namespace.name}:default` } },
  });
  expect(await rejection(own.list(CONFIGS))).toMatchObject({ status: 403, reason: "Forbidden" });
  await own.close();
});
