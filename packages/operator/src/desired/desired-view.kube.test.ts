import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { APPS, SECRETS } from "../kube/resource-types.ts";
import { eventually, reported, startTestOperator, type TestOperator } from "./cluster.fixture.ts";
import { type Apply, applyAddon, applyApp, applyProject } from "./frames.fixture.ts";

let operator: TestOperator;
let shop: string;
beforeAll(async () => {
  operator = await startTestOperator();
  shop = operator.name("shop");
  await operator.store.apply(applyProject(shop));
  await reported(operator, `project/${shop}`, "ready");
});
afterAll(() => operator?.stop());

const store = (frame: Apply) => operator.store.apply(frame);
const entries = (key: string) => operator.view.inventory().filter((entry) => entry.key === key);
const app = (name: string, given: Parameters<typeof applyApp>[0] = {}) => applyApp({ namespace: shop, name, ...given });

describe.concurrent("a stored resource", () => {
  test("[OD1] a stored resource is read by reconcilers as the hub has sent it", async () => {
    const frame = applyAddon(shop, "seen");
    expect(await store(frame)).toBeNull();
    await eventually(() => expect(operator.view.get("addon_instance", frame.key)).toMatchObject(frame.body));
    expect(operator.view.list("addon_instance").map(({ key }) => key)).toContain(frame.key);
  });

  test("[OD8] [OD11] a stored resource that somebody has changed is ignored until the hub sends it again", {
    timeout: 60_000,
  }, async () => {
    const frame = app("damaged");
    await store(frame);
    await eventually(() => expect(operator.view.get("app", frame.key)).not.toBeNull());
    await operator.kube.patch(APPS, "damaged", shop, { spec: { paused: true } }, { kind: "merge" });
    await eventually(() => expect(operator.view.get("app", frame.key)).toBeNull());
    expect(entries(frame.key)).toEqual([]);
    await eventually(() => expect(operator.damaged).toContain(frame.key), 20_000);
    expect(await store(frame)).toBeNull();
    await eventually(() => expect(operator.view.get("app", frame.key)).toMatchObject(frame.body));

    await operator.kube.delete(SECRETS, "binnacle-app-damaged", shop);
    await eventually(() => expect(operator.view.get("app", frame.key)).toBeNull());
    expect(await store(frame)).toBeNull();
    await eventually(() => expect(entries(frame.key)).toHaveLength(1));
  });

  test("[OD11] a stored resource notifies listeners when its content changes, and not when its status does", async () => {
    const received: string[] = [];
    const end = operator.view.onChange("app", (key) => received.push(key));
    const frame = app("heard");
    await store(frame);
    await eventually(() => expect(operator.view.get("app", frame.key)).not.toBeNull());
    const before = received.filter((key) => key === frame.key).length;
    await operator.kube.patchStatus(APPS, "heard", shop, { phase: "running" });
    await eventually(() =>
      expect(operator.view.holder("app", frame.key)).toMatchObject({ status: { phase: "running" } }),
    );
    expect(received.filter((key) => key === frame.key).length).toBe(before);
    await store(app("heard", { generation: 2 }));
    await eventually(() => expect(received.filter((key) => key === frame.key).length).toBeGreaterThan(before));
    end();
  });
});
