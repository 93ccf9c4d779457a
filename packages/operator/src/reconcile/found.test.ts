import { expect, test } from "vitest";
import type { StoredResource } from "../desired/desired-state.ts";
import { applyProject } from "../desired/frames.fixture.ts";
import type { KubeObject } from "../kube/kube-client.ts";
import { createFinder } from "./kind.ts";

const KEY = "project/shop";

function viewed() {
  let resource: StoredResource<"project"> | null = null;
  let holder: KubeObject | null = null;
  const { key, resource_id, generation, hash, body } = applyProject();
  const storedApp = { kind: "project", key, resource_id, generation, hash, ...body } as const;
  return {
    finder: createFinder({ get: () => resource as never, holder: () => holder }, "project"),
    is(state: "kept" | "leaving" | "damaged" | "absent") {
      const metadata = { name: "shop" };
      holder = state === "absent" ? null : { apiVersion: "binnacle.dev/v1alpha1", kind: "Project", metadata };
      const isSeen = state === "kept" || state === "leaving";
      resource = isSeen ? ({ ...storedApp, isDeleting: state === "leaving" } as StoredResource<"project">) : null;
    },
  };
}

test("[OD25] a resource that was being deleted is still found after its holder is gone, until that is reported", () => {
  const { finder, is } = viewed();
  expect(finder.find(KEY)).toBeNull();
  is("leaving");
  expect(finder.find(KEY)?.resource.isDeleting).toBe(true);
  is("absent");
  expect(finder.find(KEY)?.resource.isDeleting).toBe(true);
  finder.forget(KEY);
  expect(finder.find(KEY)).toBeNull();
});

test("[OD25] a resource that vanishes, is damaged or was created again is not taken for deleting", () => {
  const { finder, is } = viewed();
  is("kept");
  expect(finder.find(KEY)?.resource.isDeleting).toBe(false);
  is("absent");
  expect(finder.find(KEY)).toBeNull();
  is("leaving");
  finder.find(KEY);
  is("damaged");
  expect(finder.find(KEY)).toBeNull();
  is("kept");
  expect(finder.find(KEY)?.resource.isDeleting).toBe(false);
  is("absent");
  expect(finder.find(KEY)).toBeNull();
});
