import { expect, test } from "vitest";
import type { KubeObject } from "../kube/kube-client.ts";
import type { StoredResource } from "./desired-store.ts";
import { applyProject } from "./frames.fixture.ts";
import { createLeavers } from "./leavers.ts";

const KEY = "project/shop";

function viewed() {
  let resource: StoredResource<"project"> | null = null;
  let holder: KubeObject | null = null;
  const { key, resource_id, generation, hash, body } = applyProject();
  const told = { kind: "project", key, resource_id, generation, hash, ...body } as const;
  return {
    leavers: createLeavers({ get: () => resource as never, holder: () => holder }, "project"),
    is(state: "kept" | "leaving" | "damaged" | "absent") {
      const metadata = { name: "shop" };
      holder = state === "absent" ? null : { apiVersion: "binnacle.dev/v1alpha1", kind: "Project", metadata };
      const isSeen = state === "kept" || state === "leaving";
      resource = isSeen ? ({ ...told, isLeaving: state === "leaving" } as StoredResource<"project">) : null;
    },
  };
}

test("[OD25] what was leaving is still seen when it is not there any more, until it is reported", () => {
  const { leavers, is } = viewed();
  expect(leavers.see(KEY)).toBeNull();
  is("leaving");
  expect(leavers.see(KEY)?.resource.isLeaving).toBe(true);
  is("absent");
  expect(leavers.see(KEY)?.resource.isLeaving).toBe(true);
  leavers.forget(KEY);
  expect(leavers.see(KEY)).toBeNull();
});

test("[OD25] what vanishes without leaving, is damaged, or has come again, is not taken for leaving", () => {
  const { leavers, is } = viewed();
  is("kept");
  expect(leavers.see(KEY)?.resource.isLeaving).toBe(false);
  is("absent");
  expect(leavers.see(KEY)).toBeNull();
  is("leaving");
  leavers.see(KEY);
  is("damaged");
  expect(leavers.see(KEY)).toBeNull();
  is("kept");
  expect(leavers.see(KEY)?.resource.isLeaving).toBe(false);
  is("absent");
  expect(leavers.see(KEY)).toBeNull();
});
