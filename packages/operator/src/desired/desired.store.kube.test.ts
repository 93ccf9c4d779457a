import { randomBytes, randomUUID } from "node:crypto";
import { ANNOTATIONS, FINALIZER, LABELS } from "@binnacle/contract";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { appKind } from "../app/app-kind.reconciler.ts";
import { KINDS } from "../kinds.ts";
import type { KubeObject } from "../kube/kube-client.ts";
import { realClock } from "../kube/real-clock.adapter.ts";
import { APPS, NAMESPACES, SECRETS } from "../kube/resource-types.ts";
import { ALL_RIGHTS } from "../project/project-rights.store.ts";
import { createRecorder, eventually, reported, startTestOperator, type TestOperator } from "./cluster.fixture.ts";
import { hashOf } from "./custom-resource.ts";
import { createDesiredStore } from "./desired.store.ts";
import { startDesiredView } from "./desired-view.adapter.ts";
import { finalize } from "./finalizer.adapter.ts";
import { type Apply, applyApp, applyProject, applyRegistries, removeOf } from "./frames.fixture.ts";

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
const held = (name: string) => operator.kube.get(APPS, name, shop);
const companion = (name: string) => operator.kube.get(SECRETS, `binnacle-app-${name}`, shop);
const dataOf = (object: KubeObject | null) => Object.keys((object?.["data"] ?? {}) as object);
const entries = (key: string) => operator.view.inventory().filter((entry) => entry.key === key);
const app = (name: string, given: Parameters<typeof applyApp>[0] = {}) => applyApp({ namespace: shop, name, ...given });

describe.concurrent("a stored resource", () => {
  test("[OD1] a stored resource is a custom resource, and its secrets stand in a Secret that goes with it", async () => {
    const frame = app("kept");
    expect(await store(frame)).toBeNull();
    const [object, secret] = [await held("kept"), await companion("kept")];
    expect(object).toMatchObject({ spec: frame.body.spec, metadata: { finalizers: [FINALIZER] } });
    expect(JSON.stringify(object)).not.toContain("s3cret");
    expect(secret).toMatchObject({
      type: "binnacle.dev/desired",
      metadata: { ownerReferences: [{ uid: object?.metadata.uid }] },
    });
    const { key, resource_id, generation, hash } = frame;
    await eventually(() => expect(entries(key)).toEqual([{ key, resource_id, generation, hash }]));
  });

  test("[OD2] sending a stored resource again changes nothing, and an older generation is refused", async () => {
    const second = app("idem", { generation: 2, image: "nginx:1.30" });
    await store(app("idem"));
    await store(second);
    const before = [await held("idem"), await companion("idem")];
    expect(await store(second)).toBeNull();
    expect(await store(app("idem"))).toMatchObject({ code: "stale" });
    expect([await held("idem"), await companion("idem")]).toEqual(before);
  });

  test("[OD2] a new generation replaces the whole content of a stored resource, and what somebody has added", async () => {
    await store(app("edited"));
    const patch = { spec: { extra: "by hand", paused: true } };
    await operator.kube.patch(APPS, "edited", shop, patch, { kind: "merge", fieldManager: "kubectl-edit" });
    const next = app("edited", { generation: 2 });
    expect(await store(next)).toBeNull();
    expect((await held("edited"))?.["spec"]).toEqual(next.body.spec);
    await eventually(() => expect(entries(next.key)).toHaveLength(1));
  });

  test("[OD3] secrets that have not changed are not written again, and old secrets are not kept", async () => {
    await store(app("rotated"));
    const first = await companion("rotated");
    await store(app("rotated", { generation: 2, image: "nginx:1.30" }));
    expect((await companion("rotated"))?.metadata.resourceVersion).toBe(first?.metadata.resourceVersion);
    const third = app("rotated", { generation: 3, password: "changed" });
    await store(third);
    const after = await companion("rotated");
    expect(dataOf(after)).toEqual([third.hash]);
    expect(JSON.stringify(after)).not.toContain(dataOf(first)[0]);
    await eventually(() => expect(operator.view.get("app", third.key)).toMatchObject(third.body));
  });

  test("[OD3] a resource that was half written still holds the earlier content, and a retry completes it", async () => {
    const first = app("torn");
    await store(first);
    const second = app("torn", { generation: 2, password: "changed" });
    await expect(storeThatDies().apply(second)).rejects.toThrow("killed");
    expect(dataOf(await companion("torn"))).toHaveLength(2);
    await eventually(() => expect(entries(first.key)).toMatchObject([{ generation: 1, hash: first.hash }]));
    expect(await store(second)).toBeNull();
    expect(dataOf(await companion("torn"))).toEqual([second.hash]);
    await eventually(() => expect(entries(first.key)).toMatchObject([{ generation: 2, hash: second.hash }]));
  });

  test("[OD54] a secret part larger than a Secret is stored compressed and changed, and is one content when the operator is killed", async () => {
    const values = (text: string) => JSON.stringify(Array.from({ length: 60_000 }, (_, at) => `${text} ${at}: panel`));
    const first = app("dashboards", { password: values("first") });
    expect(JSON.stringify(first.body.secret).length).toBeGreaterThan(1_048_576);
    expect(await store(first)).toBeNull();
    await eventually(() => expect(operator.view.get("app", first.key)).toMatchObject(first.body));
    const second = app("dashboards", { generation: 2, password: values("second") });
    await expect(storeThatDies().apply(second)).rejects.toThrow("killed");
    expect(dataOf(await companion("dashboards"))).toHaveLength(2);
    await eventually(() => expect(entries(first.key)).toMatchObject([{ generation: 1, hash: first.hash }]));
    expect(await store(second)).toBeNull();
    expect(dataOf(await companion("dashboards"))).toEqual([second.hash]);
    await eventually(() => expect(operator.view.get("app", first.key)).toMatchObject(second.body));
  });

  test("[OD3] a secret part of which a Secret holds one and not two, also compressed, can be changed", async () => {
    const first = app("large", { password: noise(900_000) });
    expect(await store(first)).toBeNull();
    const second = app("large", { generation: 2, password: noise(900_000) });
    expect(await store(second)).toBeNull();
    expect(dataOf(await companion("large"))).toEqual([second.hash]);
    await eventually(() => expect(entries(first.key)).toMatchObject([{ generation: 2, hash: second.hash }]));
  });

  test("[OD54] a secret part that no Secret holds is refused with its size, and what was stored before stays", async () => {
    const first = app("huge");
    expect(await store(first)).toBeNull();
    const second = app("huge", { generation: 2, password: noise(1_500_000) });
    const refusal = await store(second);
    expect(refusal).toMatchObject({
      code: "invalid",
      message: expect.stringMatching(/take 1\d{6} bytes, also compressed\. A Secret of Kubernetes holds 1048576\.$/),
    });
    expect(dataOf(await companion("huge"))).toEqual([first.hash]);
    await eventually(() => expect(entries(first.key)).toMatchObject([{ generation: 1, hash: first.hash }]));
  });

  test("[OD4] [OD10] a resource that the cluster cannot take is refused, and nothing is stored", async () => {
    const frame = app("Not_A_Name");
    expect(await store(frame)).toMatchObject({ code: "invalid", message: expect.stringContaining("Not_A_Name") });
    expect(await store({ ...app("forged"), hash: "0".repeat(64) })).toMatchObject({ code: "invalid" });
    expect(await held("forged")).toBeNull();
    expect(await companion("forged")).toBeNull();
  });

  test("[OD5] a resource waits for the namespace of its own project to exist, and for no other namespace", async () => {
    const name = operator.name("late");
    const waiting = operator.store.apply(applyApp({ namespace: name }));
    expect(await operator.store.apply(applyProject(name))).toBeNull();
    expect(await waiting).toBeNull();
    const missing = await operator.store.apply(applyApp({ namespace: operator.name("nowhere") }));
    expect(missing).toMatchObject({ code: "unable", message: expect.stringContaining("There is no namespace") });
    const foreign = await operator.store.apply(applyApp({ namespace: "default" }));
    expect(foreign).toMatchObject({ code: "unable", message: expect.stringContaining("was not made by Binnacle") });
    expect(await store(app("strange", { project_id: randomUUID() }))).toMatchObject({ code: "unable" });
  });

  test("[OD6] a resource never replaces an object that somebody else has created", async () => {
    const foreign = { ...app("taken").body.spec, note: "by hand" };
    await operator.kube.create({
      apiVersion: "binnacle.dev/v1alpha1",
      kind: "App",
      metadata: { name: "taken", namespace: shop },
      spec: foreign,
    });
    expect(await store(app("taken"))).toMatchObject({ code: "unable" });
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "binnacle-app-named", namespace: shop } };
    const before = await operator.kube.create(secret);
    expect(await store(app("named"))).toMatchObject({
      code: "unable",
      message: expect.stringContaining("binnacle-app-named"),
    });
    expect(await companion("named")).toEqual(before);
    expect((await held("taken"))?.["spec"]).toEqual(foreign);
    await store(app("first"));
    const other = app("first", { resource_id: randomUUID(), generation: 9 });
    expect(await store(other)).toMatchObject({ code: "unable" });
    expect((await held("first"))?.metadata.annotations?.[ANNOTATIONS.generation]).toBe("1");
    await operator.kube.delete(APPS, "taken", shop);
  });

  test("[OD6] a resource whose name somebody else has taken is reported with that object, until it is gone", async () => {
    const strange = {
      apiVersion: "binnacle.dev/v1alpha1",
      kind: "App",
      metadata: { name: "blocked", namespace: shop },
    };
    await operator.kube.create({ ...strange, spec: app("blocked").body.spec });
    const frame = app("blocked", { generation: 3 });
    await store(frame);
    expect(operator.sink.of(frame.key)).toEqual([
      {
        key: frame.key,
        resource_id: frame.resource_id,
        generation: 3,
        report: expect.objectContaining({
          phase: "failed",
          reason: "NameTaken",
          message: `The App blocked in ${shop} does not belong to Binnacle.`,
        }),
      },
    ]);
    await operator.kube.delete(APPS, "blocked", shop);
    expect(await store(frame)).toBeNull();
    expect(operator.sink.of(frame.key)).toHaveLength(1);
  });

  test("[OD7] a removed resource is first marked as deleted, and gone only when it is cleaned up after", async () => {
    const frame = app("leaving");
    await store(frame);
    const remove = removeOf(frame);
    expect(await operator.store.remove(remove)).toBeNull();
    expect(await operator.store.remove(remove)).toBeNull();
    expect(await operator.store.remove({ ...remove, generation: 1 })).toMatchObject({ code: "stale" });
    await eventually(() => expect(entries(frame.key)).toEqual([]));
    expect(await store(app("leaving", { generation: 3 }))).toMatchObject({ code: "unable" });
    await eventually(() =>
      expect(operator.view.get("app", frame.key)).toMatchObject({ isDeleting: true, generation: 2 }),
    );
    expect(operator.sink.of(frame.key)).toEqual([]);

    const leaving = operator.view.holder("app", frame.key);
    if (!leaving) throw new Error("the app did not wait");
    // It is told once more, and whoever lets it go has not seen that yet.
    expect(await operator.store.remove({ ...remove, generation: 3 })).toBeNull();
    expect(await finalize(operator.kube, appKind, leaving)).toEqual({ state: "gone", generation: 3 });
    expect([await held("leaving"), await companion("leaving")]).toEqual([null, null]);
    expect(await operator.store.remove(remove)).toBeNull();
    expect(operator.sink.of(frame.key)).toMatchObject([{ generation: 2, report: { state: "gone" } }]);

    const again = app("leaving", { resource_id: randomUUID() });
    expect(await store(again)).toBeNull();
    await eventually(() => expect(entries(frame.key)).toMatchObject([{ resource_id: again.resource_id }]));
  });

  test("[OD7] a resource is removed also when somebody has removed its annotations", async () => {
    await store(app("nameless"));
    const annotations = { [ANNOTATIONS.resourceId]: null, [ANNOTATIONS.generation]: null, [ANNOTATIONS.hash]: null };
    await operator.kube.patch(APPS, "nameless", shop, { metadata: { annotations } }, { kind: "merge" });
    expect(await operator.store.remove(removeOf(app("nameless")))).toBeNull();
    const { key, resource_id } = app("nameless");
    await eventually(() =>
      expect(operator.view.get("app", key)).toMatchObject({ isDeleting: true, resource_id, generation: 2 }),
    );
  });

  test("[OD7] a resource whose finalizer somebody has removed gets it back before the resource is removed", async () => {
    await store(app("bare"));
    await operator.kube.patch(APPS, "bare", shop, { metadata: { finalizers: null } }, { kind: "merge" });
    expect(await operator.store.remove(removeOf(app("bare")))).toBeNull();
    expect((await held("bare"))?.metadata).toMatchObject({
      finalizers: [FINALIZER],
      deletionTimestamp: expect.any(String),
    });
  });

  test("[OD12] a resource cannot be reached by the operator of another cluster in the same Kubernetes", async () => {
    const log = { info: () => undefined, warn: () => undefined };
    const ports = { kube: operator.kube, kinds: KINDS, clusterId: randomUUID(), clock: realClock, log };
    const other = createDesiredStore({
      ...ports,
      namespace: "default",
      projectRights: ALL_RIGHTS,
      sink: createRecorder(),
    });
    await store(app("ours"));
    const otherView = startDesiredView(ports);
    const before = await held("ours");
    await otherView.synced;
    expect(otherView.inventory()).toEqual([]);
    await otherView.stop();
    expect(await other.apply(app("ours", { generation: 7 }))).toMatchObject({ code: "unable" });
    expect(await other.apply(applyProject(shop, { generation: 7 }))).toMatchObject({ code: "unable" });
    expect(await other.remove(removeOf(app("ours")))).toBeNull();
    expect(await other.remove(removeOf(applyProject(shop)))).toBeNull();
    expect(await held("ours")).toEqual(before);
    expect((await operator.kube.get(NAMESPACES, shop))?.metadata.deletionTimestamp).toBeUndefined();
  });

  test("[OD1] a resource is read as it was stored, whatever a component holds", { timeout: 60_000 }, async () => {
    let generation = 1;
    const json = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 5 });
    await fc.assert(
      fc.asyncProperty(json, json, async (anything, values) => {
        const body = structuredClone(app("any").body) as ReturnType<typeof applyApp>["body"];
        const [component] = (body.spec as { components: Record<string, unknown>[] }).components;
        Object.assign(component ?? {}, { anything });
        Object.assign(body.secret, { values: { front: values } });
        const frame = { ...app("any", { generation: generation++ }), body, hash: hashOf(body) } as Apply;
        expect(await store(frame)).toBeNull();
        await eventually(() => expect(entries(frame.key)).toMatchObject([{ generation: frame.generation }]));
      }),
      { numRuns: 30 },
    );
  });

  test("[OD1] pull secrets are stored as a Secret, without a custom resource", async () => {
    const frame = applyRegistries([{ name: "quay" }], shop);
    expect(await store(frame)).toBeNull();
    expect(await store(frame)).toBeNull();
    await eventually(() => expect(entries(frame.key)).toMatchObject([{ hash: frame.hash }]));
    const secret = await operator.kube.get(SECRETS, "binnacle-registries", shop);
    expect(secret).toMatchObject({
      type: "binnacle.dev/desired",
      metadata: { labels: { [LABELS.cluster]: operator.clusterId } },
    });
  });
});

/** Compresses to three quarters at best. */
const noise = (length: number): string => randomBytes(length).toString("base64").slice(0, length);

/** That of an operator that is killed between the Secret and the custom resource. */
const storeThatDies = () =>
  createDesiredStore({
    kube: {
      ...operator.kube,
      apply: (object, options) => (object.kind === "App" ? died() : operator.kube.apply(object, options)),
    },
    kinds: KINDS,
    clusterId: operator.clusterId,
    namespace: "default",
    sink: createRecorder(),
    projectRights: ALL_RIGHTS,
    clock: realClock,
  });

function died(): never {
  throw new Error("killed");
}
