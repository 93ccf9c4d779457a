import { afterAll, beforeAll, expect, test } from "vitest";
import { CONFIG_MAPS } from "../kube/resource-types.ts";
import { type Keeper, startKeeper } from "./cluster.fixture.ts";
import { MEMORY_NAME } from "./memory.store.ts";

let keeper: Keeper;
beforeAll(async () => {
  keeper = await startKeeper();
});
afterAll(() => keeper?.stop());

test("[OD9] the revision and the settings outlive the operator, each cluster's for itself", async () => {
  expect(await keeper.store.memory()).toEqual({ revision: null, settings: { drift_policy: "heal" } });
  await Promise.all([
    keeper.store.remember({ revision: 7 }),
    keeper.store.remember({ settings: { drift_policy: "report" } }),
  ]);
  expect(await keeper.store.memory()).toEqual({ revision: 7, settings: { drift_policy: "report" } });
  const memory = await keeper.kube.get(CONFIG_MAPS, MEMORY_NAME, "default");
  expect(memory?.["data"]).toHaveProperty(keeper.clusterId);
  const patch = (text: string | null) => ({ data: { [keeper.clusterId]: text } });
  await keeper.kube.patch(CONFIG_MAPS, MEMORY_NAME, "default", patch("{broken"), { kind: "merge" });
  expect(await keeper.store.memory()).toEqual({ revision: null, settings: { drift_policy: "heal" } });
  await keeper.kube.patch(CONFIG_MAPS, MEMORY_NAME, "default", patch(null), { kind: "merge" });
});
