import { afterAll, beforeAll, expect, test } from "vitest";
import { CONFIG_MAPS } from "../kube/resource-types.ts";
import { startTestOperator, type TestOperator } from "./cluster.fixture.ts";
import { SESSION_STATE_NAME } from "./session-state.store.ts";

let operator: TestOperator;
beforeAll(async () => {
  operator = await startTestOperator();
});
afterAll(() => operator?.stop());

test("[OD9] the revision and the settings of each cluster outlive the operator", async () => {
  expect(await operator.store.memory()).toEqual({ revision: null, settings: { drift_policy: "heal" } });
  await Promise.all([
    operator.store.remember({ revision: 7 }),
    operator.store.remember({ settings: { drift_policy: "report" } }),
  ]);
  expect(await operator.store.memory()).toEqual({ revision: 7, settings: { drift_policy: "report" } });
  const memory = await operator.kube.get(CONFIG_MAPS, SESSION_STATE_NAME, "default");
  expect(memory?.["data"]).toHaveProperty(operator.clusterId);
  const patch = (text: string | null) => ({ data: { [operator.clusterId]: text } });
  await operator.kube.patch(CONFIG_MAPS, SESSION_STATE_NAME, "default", patch("{broken"), { kind: "merge" });
  expect(await operator.store.memory()).toEqual({ revision: null, settings: { drift_policy: "heal" } });
  await operator.kube.patch(CONFIG_MAPS, SESSION_STATE_NAME, "default", patch(null), { kind: "merge" });
});
