import { randomUUID } from "node:crypto";
import { ANNOTATIONS, FINALIZER, LABELS } from "@binnacle/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { appKind } from "../app/app-kind.reconciler.ts";
import { eventually, reported, startTestOperator, type TestOperator } from "../desired/cluster.fixture.ts";
import { finalize } from "../desired/finalizer.adapter.ts";
import { applyApp, applyProject, applyRegistries, PROJECT_ID, removeOf } from "../desired/frames.fixture.ts";
import type { KubeObject } from "../kube/kube-client.ts";
import { statusOf } from "../kube/object-fields.ts";
import { APPS, CONFIG_MAPS, EVENTS, NAMESPACES, PROJECTS } from "../kube/resource-types.ts";

const SLOW_MS = 90_000;
const HOLD = "example.com/hold";
let operator: TestOperator;
beforeAll(async () => {
  operator = await startTestOperator();
});
afterAll(() => operator?.stop());

async function ready(base: string): Promise<{ name: string; key: string }> {
  const name = operator.name(base);
  expect(await operator.store.apply(applyProject(name))).toBeNull();
  await reported(operator, `project/${name}`, "ready");
  return { name, key: `project/${name}` };
}

const configMap = (namespace: string, finalizers: string[] = []): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "left", namespace, finalizers },
});
const dropFinalizers = (type: typeof CONFIG_MAPS, name: string, namespace?: string) =>
  operator.kube.patch(type, name, namespace, { metadata: { finalizers: null } }, { kind: "merge" });

describe.concurrent("a project on a cluster", () => {
  test("[OD20] a project becomes a namespace that is labelled as the project's, and is ready", async () => {
    const { name, key } = await ready("made");
    const namespace = await operator.kube.get(NAMESPACES, name);
    expect(namespace?.metadata).toMatchObject({
      labels: { [LABELS.managedBy]: "binnacle", [LABELS.cluster]: operator.clusterId, [LABELS.project]: PROJECT_ID },
      annotations: { [ANNOTATIONS.resourceId]: PROJECT_ID },
    });
    expect(operator.sink.of(key).map(({ report }) => report)).toEqual(
      expect.arrayContaining([{ state: "ready", message: null }]),
    );
    await eventually(async () => {
      const project = await operator.kube.get(PROJECTS, name);
      expect(project?.["status"]).toMatchObject({ phase: "ready", generation: 1 });
    });
  });

  test("[OD46] [OD52] a project that is ready, and one whose namespace is somebody else's, say so by conditions and by events in default", async () => {
    const { name } = await ready("seen");
    const taken = operator.name("theirs");
    await operator.kube.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: taken } });
    expect(await operator.store.apply(applyProject(taken))).toBeNull();
    await reported(operator, `project/${taken}`, "namespace_conflict");
    const expected = [
      [name, { Ready: "True", Stalled: "False" }, "Normal", "Ready"],
      [taken, { Ready: "False", Stalled: "True" }, "Warning", "NamespaceConflict"],
    ] as const;
    for (const [place, statuses, type, reason] of expected) {
      const project = await operator.kube.get(PROJECTS, place);
      const { conditions } = statusOf(project as KubeObject) as { conditions: { type: string; status: string }[] };
      expect(Object.fromEntries(conditions.map((one) => [one.type, one.status]))).toMatchObject(statuses);
      const fieldSelector = `involvedObject.uid=${project?.metadata.uid}`;
      const { items } = await operator.kube.list(EVENTS, { namespace: "default", fieldSelector });
      expect(items).toMatchObject([{ type, reason, involvedObject: { kind: "Project", name: place } }]);
    }
    await operator.kube.delete(NAMESPACES, taken);
  });

  test("[OD41] a project has a service account for its charts, which is restored when somebody changes it", async () => {
    const { name, key } = await ready("charted");
    const [accounts, bindings] = await Promise.all([
      operator.kube.resourceTypeOf("v1", "ServiceAccount"),
      operator.kube.resourceTypeOf("rbac.authorization.k8s.io/v1", "RoleBinding"),
    ]);
    const bound = () => operator.kube.get(bindings, "binnacle-charts", name);
    await eventually(async () =>
      expect(await bound()).toMatchObject({
        roleRef: { kind: "ClusterRole", name: "binnacle-charts" },
        subjects: [{ kind: "ServiceAccount", name: "binnacle-charts", namespace: name }],
      }),
    );
    expect(await operator.kube.get(accounts, "binnacle-charts", name)).toMatchObject({
      automountServiceAccountToken: false,
    });
    const subjects = [{ kind: "Group", apiGroup: "rbac.authorization.k8s.io", name: "system:authenticated" }];
    await operator.kube.patch(bindings, "binnacle-charts", name, { subjects }, { kind: "merge" });
    const again = applyProject(name, { generation: 2 });
    expect(await operator.store.apply(again)).toBeNull();
    await eventually(async () => expect(await bound()).toMatchObject({ subjects: [{ name: "binnacle-charts" }] }));
    await reported(operator, key, "ready");
  });

  test("[OD20] the namespace of a project gets back a label that somebody has removed", async () => {
    const { name } = await ready("labelled");
    const patch = { metadata: { labels: { [LABELS.project]: null } } };
    await operator.kube.patch(NAMESPACES, name, null, patch, { kind: "merge" });
    await eventually(async () => {
      const namespace = await operator.kube.get(NAMESPACES, name);
      expect(namespace?.metadata.labels?.[LABELS.project]).toBe(PROJECT_ID);
    });
  });

  test("[OD21] a project leaves a namespace of somebody else as it is, and takes the name once it is free", {
    timeout: SLOW_MS,
  }, async () => {
    const name = operator.name("foreign");
    const before = await operator.kube.create({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
    await operator.kube.create(configMap(name));
    expect(await operator.store.apply(applyProject(name))).toBeNull();
    const { report } = await reported(operator, `project/${name}`, "namespace_conflict");
    expect(report).toMatchObject({
      message: `The namespace ${name} exists on the cluster and was not made by Binnacle.`,
    });
    const after = await operator.kube.get(NAMESPACES, name);
    expect(after?.metadata.labels).toEqual(before.metadata.labels);

    await operator.kube.delete(NAMESPACES, name);
    await reported(operator, `project/${name}`, "ready", SLOW_MS);
    expect(await operator.kube.get(CONFIG_MAPS, "left", name)).toBeNull();
  });

  test("[OD27] a deleted project leaves a namespace of somebody else alone", async () => {
    const name = operator.name("kept");
    await operator.kube.create({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
    const frame = applyProject(name);
    await operator.store.apply(frame);
    await reported(operator, frame.key, "namespace_conflict");
    expect(await operator.store.remove(removeOf(frame))).toBeNull();
    expect(await reported(operator, frame.key, "gone")).toMatchObject({ resource_id: PROJECT_ID, generation: 2 });
    const namespace = await operator.kube.get(NAMESPACES, name);
    expect(namespace?.metadata.deletionTimestamp).toBeUndefined();
    await operator.kube.delete(NAMESPACES, name);
  });

  test("[OD22] a project creates its namespace again when somebody has deleted it", { timeout: SLOW_MS }, async () => {
    const { name, key } = await ready("again");
    const before = await operator.kube.get(NAMESPACES, name);
    await operator.kube.delete(NAMESPACES, name);
    await eventually(async () => {
      const after = await operator.kube.get(NAMESPACES, name);
      expect(after).toMatchObject({ status: { phase: "Active" } });
      expect(after?.metadata.uid).not.toBe(before?.metadata.uid);
    }, SLOW_MS);
    await reported(operator, key, "ready");
  });

  test("[OD24] [OD25] a deleted project is removed with all that is in it, and is gone when the cluster says so", {
    timeout: SLOW_MS,
  }, async () => {
    const { name, key } = await ready("full");
    const container = { name: "c", image: "nginx" };
    const pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "p", namespace: name },
      spec: { containers: [container] },
    };
    await eventually(() => operator.kube.create(pod), 20_000);
    await operator.store.apply(applyRegistries([{ name: "quay" }], name));
    await reported(operator, `registry_secrets/${name}`, "ready");

    expect(await operator.store.remove(removeOf(applyProject(name)))).toBeNull();
    expect(await reported(operator, key, "gone", SLOW_MS)).toMatchObject({ resource_id: PROJECT_ID, generation: 2 });
    expect(await operator.kube.get(NAMESPACES, name)).toBeNull();
    expect(await operator.kube.get(PROJECTS, name)).toBeNull();
    expect(
      operator.sink.of(key).filter(({ report }) => "state" in report && report.state === "cleanup_blocked"),
    ).toEqual([]);
  });

  test("[OD24] a deleted project waits for its apps, and its report names them", { timeout: SLOW_MS }, async () => {
    const { name, key } = await ready("waits");
    const app = applyApp({ namespace: name });
    expect(await operator.store.apply(app)).toBeNull();
    await operator.store.remove(removeOf(applyProject(name)));
    const { report } = await reported(operator, key, "cleaning");
    expect(report).toMatchObject({ message: "Still on the cluster: app web." });
    expect((await operator.kube.get(NAMESPACES, name))?.metadata.deletionTimestamp).toBeUndefined();

    await operator.store.remove(removeOf(app));
    const leaving = await operator.kube.get(APPS, "web", name);
    if (!leaving) throw new Error("the app did not wait for its reconciler");
    expect(await finalize(operator.kube, appKind, leaving)).toMatchObject({ state: "gone" });
    await reported(operator, key, "gone", SLOW_MS);
  });

  test("[OD26] a deleted project names what blocks its deletion, leaves that alone, and is gone once that is removed", {
    timeout: SLOW_MS,
  }, async () => {
    const { name, key } = await ready("held");
    await operator.kube.create(configMap(name, [HOLD]));
    await operator.store.remove(removeOf(applyProject(name)));
    const { report } = await reported(operator, key, "cleanup_blocked", SLOW_MS);
    expect(report).toMatchObject({ message: expect.stringContaining(HOLD) });
    expect(report).toMatchObject({ message: expect.stringContaining("configmaps") });
    expect((await operator.kube.get(CONFIG_MAPS, "left", name))?.metadata.finalizers).toEqual([HOLD]);
    expect((await operator.kube.get(PROJECTS, name))?.metadata.finalizers).toEqual([FINALIZER]);

    await dropFinalizers(CONFIG_MAPS, "left", name);
    await reported(operator, key, "gone", SLOW_MS);
  });

  test("[OD26] a deleted project names a finalizer of others on its object", { timeout: SLOW_MS }, async () => {
    const { name, key } = await ready("pinned");
    const patch = { metadata: { finalizers: [FINALIZER, HOLD] } };
    await operator.kube.patch(PROJECTS, name, null, patch, { kind: "merge" });
    await operator.store.remove(removeOf(applyProject(name)));
    const { report } = await reported(operator, key, "cleanup_blocked", SLOW_MS);
    expect(report).toMatchObject({ message: `The Project ${name} is held on the cluster by the finalizers ${HOLD}.` });
    expect((await operator.kube.get(PROJECTS, name))?.metadata.finalizers).toEqual([HOLD]);
    await dropFinalizers(PROJECTS, name);
    await reported(operator, key, "gone", SLOW_MS);
  });

  test("[OD28] [FA7] a project that comes again by the same name is another", { timeout: SLOW_MS }, async () => {
    const { name, key } = await ready("twice");
    const before = await operator.kube.get(NAMESPACES, name);
    await operator.kube.create(configMap(name, [HOLD]));
    const first = applyProject(name);
    await operator.store.remove(removeOf(first));
    const second = applyProject(name, { resource_id: randomUUID() });
    await eventually(async () => expect(await operator.store.apply(second)).toMatchObject({ code: "unable" }));
    await dropFinalizers(CONFIG_MAPS, "left", name);
    await reported(operator, key, "gone", SLOW_MS);

    expect(await operator.store.apply(second)).toBeNull();
    expect(await reported(operator, key, "ready")).toMatchObject({ resource_id: second.resource_id });
    const after = await operator.kube.get(NAMESPACES, name);
    expect(after?.metadata.uid).not.toBe(before?.metadata.uid);
    const ofSecond = operator.sink.of(key).filter(({ resource_id }) => resource_id === second.resource_id);
    expect(ofSecond.every(({ report }) => "state" in report && report.state === "ready")).toBe(true);
  });

  test("[OD29] a deleted project removes its namespace also when somebody has deleted the Project object", {
    timeout: SLOW_MS,
  }, async () => {
    const { name, key } = await ready("orphan");
    await operator.kube.delete(PROJECTS, name);
    await dropFinalizers(PROJECTS, name).catch(() => undefined);
    await eventually(async () => expect(await operator.kube.get(PROJECTS, name)).toBeNull());
    await eventually(() => expect(operator.view.holder("project", key)).toBeNull());
    const remove = removeOf(applyProject(name));
    await eventually(async () => expect(await operator.store.remove(remove)).toBeNull(), SLOW_MS);
    expect(await operator.kube.get(NAMESPACES, name)).toBeNull();
    await reported(operator, key, "gone");
  });
});
