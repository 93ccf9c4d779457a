import { expect, test } from "vitest";
import { createCore } from "../api/core.adapter.ts";
import { storeOf } from "../api/store-of.ts";
import { furnish } from "./bootstrap.store.ts";
import { EventRecorder } from "./event-recorder.store.ts";
import { configMap } from "./objects.fixture.ts";
import { StoreView } from "./view.store.ts";
import { VirtualTime } from "./virtual-time.fixture.ts";
import { carryOut } from "./writer.store.ts";

function cluster() {
  const time = new VirtualTime();
  const store = storeOf(createCore({ clock: time }));
  furnish(store);
  const view = new StoreView(store);
  const recorder = new EventRecorder(store, { mostEvents: 10, normalEvents: true });
  const write = (writes: Parameters<typeof carryOut>[0]) => carryOut(writes, { store, view, recorder }, time.nowMs());
  const owner = store.create("configmaps", configMap("owner"));
  view.note("configmaps", owner);
  const { uid = "" } = owner.metadata;
  const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid }];
  const owned = () => view.owned(uid).map(({ object }) => object.metadata.name);
  return { store, view, write, owned, ownerReferences };
}

test("[SC7] an object that a step has created is visible to the next step, before its event has come", () => {
  const { write, owned, ownerReferences } = cluster();
  write([{ verb: "create", resource: "configmaps", object: configMap("made", { ownerReferences }) }]);
  expect(owned()).toEqual(["made"]);
});

test("[SC7] a late event of a deleted object does not hide the new one of the same name", () => {
  const { store, view, write, owned, ownerReferences } = cluster();
  const object = configMap("made", { ownerReferences });
  write([{ verb: "create", resource: "configmaps", object }]);
  const first = store.get("configmaps", "made", "default");
  store.delete("configmaps", "made", "default");
  expect(owned()).toEqual([]);
  write([{ verb: "create", resource: "configmaps", object }]);
  if (first) view.forget("configmaps", first);
  expect(owned()).toEqual(["made"]);
  expect(view.byUid(first?.metadata.uid ?? "")).toBeNull();
});

test("[SC7] a deletion spares an object that was created anew under the same name", () => {
  const { store, write } = cluster();
  const { uid = "" } = store.create("configmaps", configMap("again")).metadata;
  store.delete("configmaps", "again", "default");
  store.create("configmaps", configMap("again"));
  write([{ verb: "delete", resource: "configmaps", name: "again", namespace: "default", uid }]);
  expect(store.get("configmaps", "again", "default")).not.toBeNull();
});
