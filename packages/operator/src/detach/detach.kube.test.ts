import { ANNOTATIONS, FINALIZER, LABELS } from "@binnacle/contract";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { startTestOperator, type TestOperator } from "../desired/cluster.fixture.ts";
import { applyApp, applyProject, applyRegistries, PROJECT_ID, removeOf } from "../desired/frames.fixture.ts";
import { ownLabels, ownSelector } from "../desired/ownership.ts";
import { KINDS } from "../kinds.ts";
import { realClock } from "../kube/real-clock.adapter.ts";
import { APPS, CONFIG_MAPS, DESIRED_SECRET_TYPE, NAMESPACES, PROJECTS, SECRETS } from "../kube/resource-types.ts";
import { createDetachment } from "./detach.adapter.ts";

const silent = { info: () => undefined, warn: () => undefined };
const ASKED = { name: "detach", timeout_seconds: 60 } as const;
const HOLD = "example.com/hold";

describe("letting go of a cluster", () => {
  let operator: TestOperator;
  let name: string;
  const finishWork = vi.fn(async () => undefined);
  beforeEach(async () => {
    finishWork.mockClear();
    operator = await startTestOperator({ isIdle: true });
    name = operator.name("let");
    const { clusterId, store, kube } = operator;
    const labels = { ...ownLabels(clusterId), [LABELS.project]: PROJECT_ID, team: "shop" };
    const annotations = { [ANNOTATIONS.resourceId]: PROJECT_ID };
    await kube.create({ apiVersion: "v1", kind: "Namespace", metadata: { name, labels, annotations } });
    for (const frame of [applyProject(name), applyRegistries([{ name: "pull" }], name), applyApp({ namespace: name })])
      expect(await store.apply(frame)).toBeNull();
    const made = { name: "made", namespace: name, labels: { ...labels, [LABELS.app]: "web" }, annotations };
    await kube.create({ apiVersion: "v1", kind: "ConfigMap", metadata: made });
    await kube.create({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "theirs", namespace: name, labels: { team: "x" } },
    });
  });
  afterEach(() => operator.stop());

  const detachment = () => {
    const { kube, clusterId, projectRights, store } = operator;
    return createDetachment({
      ...{ kube, clusterId, projectRights, store, finishWork },
      kinds: KINDS,
      namespace: "default",
      clock: realClock,
      log: silent,
    });
  };
  const labelsOf = async (type: typeof CONFIG_MAPS, object: string, namespace?: string) =>
    (await operator.kube.get(type, object, namespace))?.metadata.labels;

  test("[CL115] what was made stays without the marks of Binnacle, and what was stored goes with its finalizers", async () => {
    const { kube, clusterId } = operator;
    expect(await detachment().answer(ASKED)).toEqual({ left: [] });
    expect(finishWork).toHaveBeenCalledOnce();
    const made = await kube.get(CONFIG_MAPS, "made", name);
    expect(made?.metadata.labels).toEqual({ [LABELS.project]: PROJECT_ID, [LABELS.app]: "web", team: "shop" });
    expect(made?.metadata.annotations ?? {}).not.toHaveProperty([ANNOTATIONS.resourceId]);
    expect(await labelsOf(CONFIG_MAPS, "theirs", name)).toEqual({ team: "x" });
    expect(await labelsOf(NAMESPACES, name)).toMatchObject({ team: "shop" });
    for (const type of [NAMESPACES, PROJECTS, APPS, SECRETS])
      expect([type.kind, (await kube.list(type, { labelSelector: ownSelector(clusterId) })).items]).toEqual([
        type.kind,
        [],
      ]);
    expect(await kube.get(SECRETS, "binnacle-registries", name)).toBeNull();
    expect(await kube.get(SECRETS, "binnacle-app-web", name)).toBeNull();
    await kube.delete(NAMESPACES, name);
    await vi.waitFor(async () => expect(await kube.get(NAMESPACES, name)).toBeNull(), { timeout: 30_000 });
  });

  test("[CL115] from the first word on nothing is stored or removed any more, also where that comes from the hub", async () => {
    const letting = detachment();
    const store = letting.guarded(operator.store);
    expect(await store.apply(applyApp({ namespace: name, name: "before" }))).toBeNull();
    await letting.answer(ASKED);
    const refused = { code: "unable", message: expect.stringContaining("is being detached") };
    expect(await store.apply(applyApp({ namespace: name, name: "after" }))).toMatchObject(refused);
    expect(await store.remove(removeOf(applyProject(name)))).toMatchObject(refused);
    expect(await operator.kube.get(NAMESPACES, name)).not.toBeNull();
  });

  test("[CL115] what came before the first word is stored before anything is let go of", async () => {
    const { kube, clusterId, store } = operator;
    const begun = Promise.withResolvers<undefined>();
    const held = Promise.withResolvers<undefined>();
    const letting = detachment();
    const slow = letting.guarded({
      ...store,
      async apply(frame) {
        begun.resolve(undefined);
        await held.promise;
        return store.apply(frame);
      },
    });
    const stored = slow.apply(applyApp({ namespace: name, name: "late" }));
    await begun.promise;
    const { left } = await letting.answer({ name: "detach", timeout_seconds: 0 });
    expect(left).toMatchObject([{ kind: "Cluster", reason: expect.stringContaining("is at work") }]);
    expect(await kube.get(APPS, "web", name)).not.toBeNull();
    held.resolve(undefined);
    expect(await stored).toBeNull();
    expect(await letting.answer(ASKED)).toEqual({ left: [] });
    expect((await kube.list(APPS, { labelSelector: ownSelector(clusterId) })).items).toEqual([]);
  });

  test("[CL116] what others hold is left, is named, and keeps its namespace until they let go of it", async () => {
    const { kube, clusterId } = operator;
    const hold = (finalizers: string[]) =>
      kube.patch(APPS, "web", name, { metadata: { finalizers } }, { kind: "merge" });
    await hold([FINALIZER, HOLD]);
    const letting = detachment();
    const held = { kind: "App", namespace: name, name: "web", reason: `It is held by the finalizers ${HOLD}.` };
    expect(await letting.answer(ASKED)).toEqual({ left: [held] });
    expect(await labelsOf(NAMESPACES, name)).toMatchObject(ownLabels(clusterId));
    await hold([]);
    expect(await letting.answer(ASKED)).toEqual({ left: [] });
    expect(await labelsOf(NAMESPACES, name)).not.toHaveProperty([LABELS.cluster]);
  });

  test("[CL116] a Secret with the type and the labels of stored ones, but another name, holds nothing", async () => {
    const { kube, clusterId } = operator;
    const labels = { ...ownLabels(clusterId), [LABELS.project]: PROJECT_ID };
    const secret = (secretName: string) => ({
      apiVersion: "v1",
      kind: "Secret",
      type: DESIRED_SECRET_TYPE,
      metadata: { name: secretName, namespace: name, labels, finalizers: [HOLD] },
    });
    for (const made of ["charts-own", "binnacle-app-of-nobody"]) await kube.create(secret(made));
    expect(await detachment().answer(ASKED)).toEqual({ left: [] });
    for (const made of ["charts-own", "binnacle-app-of-nobody"]) {
      const { metadata } = (await kube.get(SECRETS, made, name)) ?? {};
      expect(metadata).toMatchObject({ finalizers: [HOLD], labels: { [LABELS.project]: PROJECT_ID } });
      expect(metadata?.labels).not.toHaveProperty([LABELS.cluster]);
      expect(metadata).not.toHaveProperty("deletionTimestamp");
      await kube.patch(SECRETS, made, name, { metadata: { finalizers: [] } }, { kind: "merge" });
    }
  });

  test("[CL116] an operator that was ended half-way knows that from the cluster, and another one does the rest", async () => {
    const { kube, clusterId, store } = operator;
    // As it is between the namespace and its project, the last two steps.
    await kube.patch(
      NAMESPACES,
      name,
      null,
      { metadata: { labels: { [LABELS.managedBy]: null, [LABELS.cluster]: null } } },
      { kind: "merge" },
    );
    await store.remember({ isDetaching: true });
    await store.remember({ revision: 7 });
    expect(await store.memory()).toMatchObject({ revision: 7, isDetaching: true });
    const letting = detachment();
    letting.resume();
    expect(letting.isUnderWay).toBe(true);
    expect(await letting.answer(ASKED)).toEqual({ left: [] });
    expect((await kube.list(PROJECTS, { labelSelector: ownSelector(clusterId) })).items).toEqual([]);
    expect(await labelsOf(CONFIG_MAPS, "made", name)).not.toHaveProperty([LABELS.cluster]);
  });

  test("[CL116] an answer that would come too late says that the operator is at work", async () => {
    const held = Promise.withResolvers<undefined>();
    finishWork.mockImplementationOnce(() => held.promise);
    const letting = detachment();
    const { left } = await letting.answer({ name: "detach", timeout_seconds: 0 });
    expect(left).toMatchObject([{ kind: "Cluster", reason: expect.stringContaining("is at work") }]);
    held.resolve(undefined);
    expect(await letting.answer(ASKED)).toEqual({ left: [] });
  });
});
