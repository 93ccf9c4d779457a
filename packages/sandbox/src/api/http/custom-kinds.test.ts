import { describe, expect, test, vi } from "vitest";
import { ask } from "./ask.fixture.ts";
import { bareCluster } from "./bare-cluster.fixture.ts";

const schema = {
  type: "object",
  required: ["spec"],
  "x-kubernetes-validations": [{ rule: "self.metadata.name == self.spec.name" }],
  properties: {
    spec: {
      type: "object",
      required: ["name"],
      properties: {
        name: { type: "string", maxLength: 8 },
        size: { type: "integer", default: 3, minimum: 1 },
        color: { type: "string", enum: ["red", "blue"] },
        free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        parts: {
          type: "array",
          items: { type: "object", properties: { id: { type: "string" }, n: { type: "integer" } } },
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["id"],
        },
      },
    },
    status: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  },
};
const definition = {
  metadata: { name: "toys.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { kind: "Toy", plural: "toys", shortNames: ["ty"] },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: schema },
        subresources: { status: {} },
        additionalPrinterColumns: [{ name: "Size", type: "integer", jsonPath: ".spec.size" }],
      },
    ],
  },
};
const TOYS = "/apis/example.com/v1/namespaces/shop/toys";
const toy = (name: string, spec: object = {}, more: object = {}) => ({
  apiVersion: "example.com/v1",
  kind: "Toy",
  metadata: { name },
  spec: { name, ...spec },
  ...more,
});

async function world() {
  const cluster = bareCluster();
  const send = (method: string, path: string, body?: unknown, type?: string) =>
    ask(cluster.handler, { method, path, body, type });
  send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition);
  await vi.waitFor(() => expect(send("GET", TOYS).status).toBe(200));
  return { ...cluster, send };
}

describe("a custom kind", () => {
  test("[SA44] [SA50] a custom kind is served, discovered and described as soon as it is defined", async () => {
    const { send, handler } = await world();
    expect(
      send("GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/toys.example.com").answer,
    ).toMatchObject({
      status: { acceptedNames: { kind: "Toy", listKind: "ToyList", singular: "toy" }, storedVersions: ["v1"] },
    });
    expect(send("GET", "/apis/example.com/v1").answer).toMatchObject({
      resources: [{ name: "toys", kind: "Toy", shortNames: ["ty"] }, { name: "toys/status" }],
    });
    expect(JSON.stringify(send("GET", "/apis").answer)).toContain("example.com/v1");
    expect(send("GET", "/openapi/v3/apis/example.com/v1").answer).toMatchObject({
      components: { schemas: { "com.example.v1.Toy": { type: "object" } } },
    });
    const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    expect(JSON.stringify(ask(handler, { path: "/apis", accept }).answer)).toContain('"resource":"toys"');
  });

  test("[SA44] an object of a custom kind is pruned and defaulted by its schema", async () => {
    const { send } = await world();
    const given = toy(
      "car",
      { foo: 1, free: { any: { thing: 1 } }, parts: [{ id: "a", x: 1 }] },
      { status: { ready: true } },
    );
    const { answer, response } = send("POST", TOYS, given);
    expect(answer).toMatchObject({
      metadata: { generation: 1 },
      spec: { name: "car", size: 3, free: { any: { thing: 1 } }, parts: [{ id: "a" }] },
    });
    expect(JSON.stringify(answer)).not.toMatch(/"foo"|"x":|"ready"/);
    expect(response.headers["warning"]).toContain('unknown field \\"spec.foo\\"');
  });

  test.each([
    ["a field that it needs", { apiVersion: "example.com/v1", kind: "Toy", metadata: { name: "a" } }, "spec"],
    ["a number below its least", toy("a", { size: 0 }), "spec.size"],
    ["a word that it does not have", toy("a", { color: "green" }), "spec.color"],
    ["a text that is too long", { ...toy("a"), spec: { name: "123456789" } }, "spec.name"],
    ["another type", toy("a", { size: "big" }), "spec.size"],
  ])("[SA44] a custom kind refuses %s", async (_, body, field) => {
    const { send } = await world();
    const { status, answer } = send("POST", TOYS, body);
    expect([400, 422]).toContain(status);
    expect(JSON.stringify(answer)).toContain(field);
  });

  test("[SA44] a custom kind refuses an object that violates a validation rule", async () => {
    const { send } = await world();
    expect(send("POST", TOYS, toy("a", { name: "b" }))).toMatchObject({ status: 422, answer: { reason: "Invalid" } });
  });

  test("[SA32] lists of a custom kind are applied by their keys", async () => {
    const { send } = await world();
    const apply = (manager: string, parts: object[]) =>
      send("PATCH", `${TOYS}/car?fieldManager=${manager}`, toy("car", { parts }), "application/apply-patch+yaml");
    expect(apply("a", [{ id: "x", n: 1 }]).status).toBe(201);
    expect(apply("b", [{ id: "y", n: 2 }]).answer).toMatchObject({ spec: { parts: [{ id: "x" }, { id: "y" }] } });
    expect(apply("b", [{ id: "x", n: 3 }]).answer).toMatchObject({
      reason: "Conflict",
      details: { causes: [{ field: '.spec.parts[id="x"].n' }] },
    });
    expect(apply("a", []).answer).toMatchObject({ spec: { parts: [{ id: "y" }] } });
  });

  test("[SA53] a table of a custom kind has the columns of its definition", async () => {
    const { send, handler } = await world();
    send("POST", TOYS, toy("car"));
    const { answer } = ask(handler, { path: TOYS, accept: "application/json;as=Table;v=v1;g=meta.k8s.io" });
    expect(answer).toMatchObject({
      columnDefinitions: [{ name: "Name" }, { name: "Size" }],
      rows: [{ cells: ["car", 3] }],
    });
  });

  test("[SA44] a deleted custom kind is gone with its objects, once no finalizer holds them", async () => {
    const { send } = await world();
    send("POST", TOYS, { ...toy("car"), metadata: { name: "car", finalizers: ["x.y/z"] } });
    send("POST", TOYS, toy("doll"));
    send("DELETE", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/toys.example.com");
    await vi.waitFor(() => expect(send("GET", TOYS).answer).toMatchObject({ items: [{ metadata: { name: "car" } }] }));
    expect(send("POST", TOYS, toy("new")).status).toBe(405);
    send("PATCH", `${TOYS}/car`, { metadata: { finalizers: null } }, "application/merge-patch+json");
    await vi.waitFor(() => expect(send("GET", TOYS).status).toBe(404));
  });
});
