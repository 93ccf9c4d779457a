import { expect, test } from "vitest";
import { type Address, addressOf, addressOfCompanion, companionName, isAt, keyAt } from "./address.ts";
import { applyAddon, applyApp, applyProject, applyRegistries } from "./frames.fixture.ts";

const PLACES: readonly (readonly [string, Address, string | null])[] = [
  ["project/shop", { kind: "project", namespace: "shop", name: "shop" }, null],
  ["app/shop/web", { kind: "app", namespace: "shop", name: "web" }, "binnacle-app-web"],
  ["addon_instance/shop/db", { kind: "addon_instance", namespace: "shop", name: "db" }, "binnacle-addon-db"],
  ["registry_secrets/shop", { kind: "registry_secrets", namespace: "shop", name: "binnacle-registries" }, null],
];

test.each(PLACES)("[OD1] %s has one place in the cluster, and the place has that key", (key, address, companion) => {
  expect(addressOf(address.kind, key)).toEqual(address);
  expect(keyAt(address)).toBe(key);
  expect(companionName(address)).toBe(companion);
  if (companion) expect(addressOfCompanion({ name: companion, namespace: address.namespace })).toEqual(address);
});

test("[OD1] other Secrets are companions of nothing", () => {
  expect(addressOfCompanion({ name: "binnacle-registries", namespace: "shop" })).toBeNull();
  expect(addressOfCompanion({ name: "web-front-secrets", namespace: "shop" })).toBeNull();
});

test("[OD4] a key fits its kind and what is told under it, or it is none", () => {
  expect(addressOf("app", "project/shop")).toBeNull();
  expect(addressOf("project", "project/shop/web")).toBeNull();
  expect(addressOf("app", "app/shop")).toBeNull();
  for (const { kind, key, body } of [applyProject(), applyApp(), applyAddon(), applyRegistries([])]) {
    const address = addressOf(kind, key);
    expect(address && isAt(address, body.spec)).toBe(true);
    expect(address && isAt({ ...address, namespace: "other" }, body.spec)).toBe(false);
  }
  expect(isAt({ kind: "app", namespace: "shop", name: "other" }, applyApp().body.spec)).toBe(false);
});
