import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { OwnerReference } from "../store/kube-object.ts";
import { configMap, deployment, namespace } from "./objects.fixture.ts";
import { World } from "./world.fixture.ts";

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => {
  world.stop();
  expect(world.errors).toEqual([]);
});

const maps = (names: readonly string[] = []) => {
  const found = world.list("configmaps", "default").map(({ metadata }) => metadata.name);
  return names.length > 0
    ? found.filter((name) => names.includes(name))
    : found.filter((name) => name !== "kube-root-ca.crt");
};

function owned(name: string, owners: readonly string[], more: Partial<OwnerReference> = {}): void {
  const ownerReferences = owners.map((owner) => {
    const { uid = "" } = world.get("configmaps", owner).metadata;
    return { apiVersion: "v1", kind: "ConfigMap", name: owner, uid, ...more };
  });
  world.create("configmaps", configMap(name, { ownerReferences }));
}

describe("what has owners", () => {
  test("[SC40] an object is deleted when the last of its owners is gone, and loses references to owners that are gone", async () => {
    for (const name of ["a", "b"]) world.create("configmaps", configMap(name));
    owned("c", ["a", "b"]);
    world.store.delete("configmaps", "a", "default");
    await world.pass(0);
    expect(world.get("configmaps", "c").metadata.ownerReferences?.map(({ name }) => name)).toEqual(["b"]);
    world.store.delete("configmaps", "b", "default");
    await world.pass(0);
    expect(maps()).toEqual([]);
  });

  test("[SC40] an object whose owner never existed is deleted", async () => {
    const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "nobody", uid: "none" }];
    world.create("configmaps", configMap("lost", { ownerReferences }));
    await world.pass(0);
    expect(maps()).toEqual([]);
  });

  test("[SC41] an object is deleted before an owner that is deleted in the foreground", async () => {
    world.create("configmaps", configMap("a"));
    owned("b", ["a"], { blockOwnerDeletion: true });
    world.store.patch("configmaps", "b", "default", { metadata: { finalizers: ["example.com/hold"] } });
    await world.settle();
    world.store.delete("configmaps", "a", "default", { propagation: "Foreground" });
    await world.pass(60);
    expect(maps()).toEqual(["a", "b"]);
    expect(world.get("configmaps", "a").metadata).toMatchObject({ finalizers: ["foregroundDeletion"] });
    world.store.patch("configmaps", "b", "default", { metadata: { finalizers: null } });
    await world.pass(0);
    expect(maps()).toEqual([]);
  });

  test("[SC41] an object stays where another owner stays, also in a foreground deletion", async () => {
    for (const name of ["a", "b"]) world.create("configmaps", configMap(name));
    owned("c", ["a", "b"], { blockOwnerDeletion: true });
    await world.settle();
    world.store.delete("configmaps", "a", "default", { propagation: "Foreground" });
    await world.pass(0);
    expect(maps()).toEqual(["b", "c"]);
  });

  test("[SC42] an object stays without an owner when the owner's deletion orphans it", async () => {
    world.create("configmaps", configMap("a"));
    owned("b", ["a"]);
    await world.settle();
    world.store.delete("configmaps", "a", "default", { propagation: "Orphan" });
    await world.pass(0);
    expect(maps()).toEqual(["b"]);
    expect(world.get("configmaps", "b").metadata.ownerReferences ?? []).toEqual([]);
  });

  test("[SC40] an object never outlives all of its owners, in whatever order they are deleted", async () => {
    const graph = fc.record({
      owners: fc.array(fc.array(fc.integer({ min: 0, max: 11 }), { maxLength: 3 }), { minLength: 2, maxLength: 12 }),
      deleted: fc.array(fc.integer({ min: 0, max: 11 }), { minLength: 1, maxLength: 4 }),
      propagation: fc.constantFrom("Background" as const, "Foreground" as const),
    });
    await fc.assert(
      fc.asyncProperty(graph, async ({ owners, deleted, propagation }) => {
        world.stop();
        world = new World({ normalEvents: false });
        const ownersOf = owners.map((wanted, index) => [...new Set(wanted.filter((owner) => owner < index))]);
        for (const [index, wanted] of ownersOf.entries())
          owned(
            `m${index}`,
            wanted.map((owner) => `m${owner}`),
          );
        await world.settle();
        for (const index of deleted) world.store.delete("configmaps", `m${index}`, "default", { propagation });
        await world.pass(10);
        const left = new Set(maps());
        const isExpected = (index: number): boolean =>
          !deleted.includes(index) &&
          ((ownersOf[index] ?? []).length === 0 || (ownersOf[index] ?? []).some(isExpected));
        const expected = ownersOf.map((_, index) => index).filter(isExpected);
        expect([...left].sort()).toEqual(expected.map((index) => `m${index}`).sort());
      }),
      { numRuns: 40 },
    );
  });
});

describe("a namespace", () => {
  const TEAM = { namespace: "team" };

  test("[SC45] a namespace has a default service account and a root CA, and gets them back", async () => {
    world.create("namespaces", namespace("team"));
    await world.pass(0);
    expect(world.store.get("serviceaccounts", "default", "team")).not.toBeNull();
    expect(world.store.get("configmaps", "kube-root-ca.crt", "team")).toMatchObject({
      data: { "ca.crt": "simulated" },
    });
    world.store.delete("serviceaccounts", "default", "team");
    world.store.delete("configmaps", "kube-root-ca.crt", "team");
    await world.pass(0);
    expect(world.store.get("serviceaccounts", "default", "team")).not.toBeNull();
    expect(world.store.get("configmaps", "kube-root-ca.crt", "team")).not.toBeNull();
  });

  test("[SC46] a deleted namespace is gone with all that is in it", async () => {
    world.create("namespaces", namespace("team"));
    const web = deployment("web", { replicas: 3 });
    world.create("deployments.apps", { ...web, metadata: { ...web.metadata, ...TEAM } });
    await world.pass(5);
    expect(world.pods("team")).toHaveLength(3);
    world.store.delete("namespaces", "team", undefined);
    await world.pass(0);
    expect(world.get("namespaces", "team", null)).toMatchObject({ status: { phase: "Terminating" } });
    await world.pass(10);
    expect(world.store.get("namespaces", "team")).toBeNull();
    const left = world.store
      .resources()
      .filter(({ namespaced }) => namespaced)
      .flatMap(({ resource }) => world.list(resource, "team"));
    expect(left).toEqual([]);
  });

  test("[SC46] a deleted namespace reports what holds it up, and is gone once nothing does", async () => {
    world.create("namespaces", namespace("team"));
    world.create("configmaps", configMap("held", { ...TEAM, finalizers: ["example.com/hold"] }));
    await world.pass(1);
    world.store.delete("namespaces", "team", undefined);
    await world.pass(60);
    expect(world.get("namespaces", "team", null)["status"]).toMatchObject({
      conditions: expect.arrayContaining([
        expect.objectContaining({
          type: "NamespaceContentRemaining",
          status: "True",
          message: "Some resources are remaining: configmaps. has 1 resource instances",
        }),
        expect.objectContaining({
          type: "NamespaceFinalizersRemaining",
          status: "True",
          message: "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances",
        }),
      ]),
    });
    world.store.patch("configmaps", "held", "team", { metadata: { finalizers: null } });
    await world.pass(0);
    expect(world.store.get("namespaces", "team")).toBeNull();
  });
});
