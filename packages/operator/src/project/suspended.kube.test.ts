import { LABELS } from "@binnacle/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually, reported, startTestOperator, type TestOperator } from "../desired/cluster.fixture.ts";
import { applyProject, applyRegistries } from "../desired/frames.fixture.ts";
import { NAMESPACES, PROJECTS, SECRETS } from "../kube/resource-types.ts";

let operator: TestOperator;
beforeAll(async () => {
  operator = await startTestOperator();
});
afterAll(() => operator?.stop());

const store = async (frame: Parameters<TestOperator["store"]["apply"]>[0]) =>
  expect(await operator.store.apply(frame)).toBeNull();
const heldReport = (key: string) =>
  eventually(() => expect(operator.sink.of(key).at(-1)?.report).toMatchObject({ suspended: true }));

describe.concurrent("a suspended project", () => {
  test("[SN7] its namespace is not corrected, its pull secrets are not changed, and both are when the suspension ends", async () => {
    const name = operator.name("held");
    const key = `project/${name}`;
    await store(applyProject(name));
    await reported(operator, key, "ready");
    await store(applyRegistries([{ name: "first" }], name));
    await eventually(async () => expect(await operator.kube.get(SECRETS, "first", name)).not.toBeNull());

    await store(applyProject(name, { generation: 2, suspended: true }));
    await heldReport(key);
    await eventually(async () =>
      expect(await operator.kube.get(PROJECTS, name)).toMatchObject({ status: { phase: "ready", suspended: true } }),
    );
    await operator.kube.patch(
      NAMESPACES,
      name,
      null,
      { metadata: { labels: { [LABELS.project]: null } } },
      { kind: "merge" },
    );
    await store(applyRegistries([{ name: "second" }], name, { generation: 2 }));
    const before = operator.sink.of(key).length;
    await operator.kube.patch(NAMESPACES, name, null, { metadata: { labels: { touched: "yes" } } }, { kind: "merge" });
    await eventually(() => expect(operator.sink.of(key).length).toBeGreaterThanOrEqual(before));
    expect((await operator.kube.get(NAMESPACES, name))?.metadata.labels).not.toHaveProperty([LABELS.project]);
    expect(await operator.kube.get(SECRETS, "first", name)).not.toBeNull();
    expect(await operator.kube.get(SECRETS, "second", name)).toBeNull();

    await store(applyProject(name, { generation: 3 }));
    await eventually(async () => {
      expect((await operator.kube.get(NAMESPACES, name))?.metadata.labels).toHaveProperty([LABELS.project]);
      expect(await operator.kube.get(SECRETS, "first", name)).toBeNull();
      expect(await operator.kube.get(SECRETS, "second", name)).not.toBeNull();
    });
    await eventually(() => expect(operator.sink.of(key).at(-1)?.report).toEqual({ state: "ready", message: null }));
  });

  test("[SN7] a project that was new when its cluster was suspended gets its namespace when that ends, and says so before", async () => {
    const name = operator.name("late");
    const key = `project/${name}`;
    await store(applyProject(name, { suspended: true }));
    await heldReport(key);
    expect(operator.sink.of(key).at(-1)?.report).toMatchObject({
      state: "apply_failed",
      message: expect.stringContaining("none is made until that ends"),
    });
    expect(await operator.kube.get(NAMESPACES, name)).toBeNull();
    await store(applyProject(name, { generation: 2 }));
    await reported(operator, key, "ready");
    expect(await operator.kube.get(NAMESPACES, name)).not.toBeNull();
  });
});
