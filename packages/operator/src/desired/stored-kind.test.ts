import { expect, test } from "vitest";
import { KINDS } from "../kinds.ts";
import { applyAddon, applyApp, applyProject, applyRegistries, kindOf } from "./frames.fixture.ts";
import { type Address, addressOf, addressOfCompanion, companionName, isAt, keyAt } from "./stored-kind.ts";

const PLACES: readonly (readonly [string, Address, string | null])[] = [
  ["project/shop", { kind: kindOf("project"), namespace: "shop", name: "shop" }, null],
  ["app/shop/web", { kind: kindOf("app"), namespace: "shop", name: "web" }, "binnacle-app-web"],
  ["addon_instance/shop/db", { kind: kindOf("addon_instance"), namespace: "shop", name: "db" }, "binnacle-addon-db"],
  ["registry_secrets/shop", { kind: kindOf("registry_secrets"), namespace: "shop", name: "binnacle-registries" }, null],
];

test.each(PLACES)("[OD1] the key %s has one place in the cluster, which has that key", (key, address, companion) => {
  expect(addressOf(address.kind, key)).toEqual(address);
  expect(keyAt(address)).toBe(key);
  expect(companionName(address)).toBe(companion);
  if (companion) expect(addressOfCompanion(KINDS, { name: companion, namespace: address.namespace })).toEqual(address);
});

test("[OD1] a Secret with any other name is not the companion of a resource", () => {
  expect(addressOfCompanion(KINDS, { name: "binnacle-registries", namespace: "shop" })).toBeNull();
  expect(addressOfCompanion(KINDS, { name: "web-front-secrets", namespace: "shop" })).toBeNull();
});

test("[OD4] a key has to fit the kind and the content of its resource", () => {
  expect(addressOf(kindOf("app"), "project/shop")).toBeNull();
  expect(addressOf(kindOf("project"), "project/shop/web")).toBeNull();
  expect(addressOf(kindOf("app"), "app/shop")).toBeNull();
  for (const { kind, key, body } of [applyProject(), applyApp(), applyAddon(), applyRegistries([])]) {
    const address = addressOf(kindOf(kind), key);
    expect(address && isAt(address, body.spec)).toBe(true);
    expect(address && isAt({ ...address, namespace: "other" }, body.spec)).toBe(false);
  }
  expect(isAt({ kind: kindOf("app"), namespace: "shop", name: "other" }, applyApp().body.spec)).toBe(false);
});
