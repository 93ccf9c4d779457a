import type { ComponentChange, ComponentSpec } from "@binnacle/contract";
import { describe, expect, test } from "vitest";
import { Fault } from "../fault.ts";
import { someApp } from "./app.fixture.ts";
import { changeComponents } from "./component-change.ts";
import { NOTHING_ASKED } from "./project-facts.ts";
import { rolledBack, updated } from "./transition.ts";

const db = (size_gb: number, kind: "deployment" | "statefulset" = "deployment"): ComponentSpec => ({
  name: "db",
  type: "workload",
  workload_spec: { kind, image: "postgres:18", replicas: 1, volumes: [{ name: "data", mount_path: "/data", size_gb }] },
});
const NO_RULES = { findDefinition: () => undefined, chartHosts: [], project: NOTHING_ASKED };
const change = (before: ComponentSpec, ...changes: Omit<ComponentChange, "name">[]) =>
  changeComponents(
    "shop",
    [before],
    changes.map((each) => ({ ...each, name: "db" }) as ComponentChange),
    NO_RULES,
  );
const sized = (size_gb: number) => ({
  op: "patch" as const,
  workload_spec: { volumes: [{ name: "data", mount_path: "/data", size_gb }] },
});

describe("a volume", () => {
  test("[AP77] a volume may grow and not shrink, also not by removing and adding its component in one request", () => {
    expect(change(db(10), sized(11))).not.toBeInstanceOf(Fault);
    expect(change(db(10), sized(9))).toMatchObject({
      kind: "invalid",
      detail: [{ loc: ["body", "components", 0, "workload_spec", "volumes", 0, "size_gb"], type: "value_error" }],
    });
    const { name: _name, ...smaller } = db(9);
    expect(change(db(10), { op: "remove" }, { op: "add", ...smaller })).toMatchObject({
      kind: "invalid",
      detail: [{ loc: ["body", "components", 1, "workload_spec", "volumes", 0, "size_gb"] }],
    });
    expect(change(db(10), { op: "patch", workload_spec: { volumes: [] } })).not.toBeInstanceOf(Fault);
  });

  test("[AP108] a volume that the cluster refused to grow may be set back, by a change and by a rollback", () => {
    const app = (reason: string, observed_generation = 1) =>
      someApp({
        components: [db(20)],
        observed_generation,
        component_statuses: [{ name: "db", ready_replicas: 1, phase: "degraded", reason }],
      });
    const back = { components: [{ ...sized(10), name: "db" }] };
    const earlier = { revision: 1, spec: { components: [db(10)], paused: false } };
    const refused = app("VolumeNotExpandable");
    expect(updated(refused, back, NO_RULES)).toMatchObject({ app: { components: [db(10)] } });
    expect(rolledBack(refused, earlier, NO_RULES)).toMatchObject({ app: { components: [db(10)] } });
    for (const other of [app("VolumeGrowing"), app("VolumeNotExpandable", 0)]) {
      expect(updated(other, back, NO_RULES)).toMatchObject({ kind: "invalid" });
      expect(rolledBack(other, earlier, NO_RULES)).toMatchObject({ app: { components: [db(20)] } });
    }
  });

  test("[AP77] a rollback keeps the size of a volume that has grown since", () => {
    const outcome = rolledBack(
      someApp({ components: [db(20)] }),
      {
        revision: 1,
        spec: { components: [db(10)], paused: false },
      },
      NO_RULES,
    );
    expect(outcome).toMatchObject({ app: { components: [db(20)] } });
  });

  const fixed = (fields: object): ComponentSpec => {
    const component = db(10);
    const volumes = [{ name: "data", mount_path: "/data", size_gb: 10, ...fields }];
    return { ...component, workload_spec: { ...component.workload_spec, volumes } };
  };
  const asked = (fields: object, name = "data") => ({
    op: "patch" as const,
    workload_spec: { volumes: [{ name, mount_path: "/data", size_gb: 10, ...fields }] },
  });

  test.each<[string, object, object, string, string]>([
    ["another class", { storage_class: "fast" }, { storage_class: "slow" }, "storage_class", "the storage class fast"],
    ["a class by name", {}, { storage_class: "slow" }, "storage_class", "the default storage class"],
    ["no class any more", { storage_class: "fast" }, {}, "storage_class", "the storage class fast"],
    ["another mode", {}, { access_mode: "ReadWriteMany" }, "access_mode", "ReadWriteOnce"],
  ])("[AP3102] a volume that is there does not get %s", (_, before, after, field, words) => {
    const loc = (index: number) => ["body", "components", index, "workload_spec", "volumes", 0, field];
    expect(change(fixed(before), asked(after))).toMatchObject({
      kind: "invalid",
      detail: [{ loc: loc(0), msg: expect.stringContaining(`data has ${words}; give the volume another name`) }],
    });
    const { name: _name, ...added } = fixed(after);
    expect(change(fixed(before), { op: "remove" }, { op: "add", ...added })).toMatchObject({
      kind: "invalid",
      detail: [{ loc: loc(1) }],
    });
    expect(change(fixed(before), asked(after, "other"))).not.toBeInstanceOf(Fault);
    expect(change(fixed(before), asked(before))).not.toBeInstanceOf(Fault);
  });

  test("[AP3102] the mode that holds anyway may be written out", () => {
    expect(change(fixed({}), asked({ access_mode: "ReadWriteOnce" }))).not.toBeInstanceOf(Fault);
  });

  test("[AP3102] a rollback keeps the class and the mode of a volume that is there", () => {
    const now = fixed({ storage_class: "fast", access_mode: "ReadWriteMany" });
    for (const then of [fixed({}), fixed({ storage_class: "slow" })]) {
      const earlier = { revision: 1, spec: { components: [then], paused: false } };
      expect(rolledBack(someApp({ components: [now] }), earlier, NO_RULES)).toMatchObject({
        app: { components: [now] },
      });
    }
  });

  test("[AP3102] a class that the cluster has refused may be set back", () => {
    const refused = (reason: string) =>
      someApp({
        components: [fixed({ storage_class: "slow" })],
        observed_generation: 1,
        component_statuses: [{ name: "db", ready_replicas: 1, phase: "degraded", reason }],
      });
    const back = { components: [{ ...asked({ storage_class: "fast" }), name: "db" }] };
    expect(updated(refused("ImmutableVolume"), back, NO_RULES)).toMatchObject({
      app: { components: [fixed({ storage_class: "fast" })] },
    });
    expect(updated(refused("ImmutableField"), back, NO_RULES)).toMatchObject({ kind: "invalid" });
  });

  test("[AP78] another kind for a component with volumes needs recreate, which is not stored", () => {
    const other = { op: "patch" as const, workload_spec: { kind: "statefulset" } };
    const conflict = { kind: "conflict", detail: { code: "recreate_required", component: "db" } };
    expect(change(db(10), other)).toMatchObject(conflict);
    expect(change(db(10), { ...other, recreate: false })).toMatchObject(conflict);
    const made = change(db(10), { ...other, recreate: true });
    expect(made).toMatchObject({ components: [db(10, "statefulset")] });
    expect(JSON.stringify(made)).not.toContain("recreate");
    const chart = {
      type: "chart",
      workload_spec: null,
      chart_spec: { repo: "https://charts.example.com", name: "db" },
    };
    expect(change(db(10), { op: "patch", ...chart })).toMatchObject(conflict);
    const bare = { ...db(10), workload_spec: { kind: "deployment" as const, image: "postgres:18" } };
    expect(change(bare, other)).not.toBeInstanceOf(Fault);
  });

  test("[AP78] [AP105] a component with volumes becomes a daemonset only with recreate and without its volumes", () => {
    const daemon = { op: "patch" as const, workload_spec: { kind: "daemonset", volumes: null } };
    expect(change(db(10), daemon)).toMatchObject({ kind: "conflict", detail: { code: "recreate_required" } });
    expect(change(db(10), { ...daemon, recreate: true })).toMatchObject({
      components: [{ workload_spec: { kind: "daemonset" } }],
    });
    const kept = { op: "patch" as const, workload_spec: { kind: "daemonset" }, recreate: true };
    expect(change(db(10), kept)).toMatchObject({
      kind: "invalid",
      detail: [{ loc: ["body", "components", 0, "workload_spec", "volumes"] }],
    });
  });

  test("[AP78] a rollback to another kind of a component with volumes is a 409", () => {
    const spec = { components: [db(10, "statefulset")], paused: false };
    expect(rolledBack(someApp({ components: [db(10)] }), { revision: 1, spec }, NO_RULES)).toMatchObject({
      kind: "conflict",
      detail: { code: "recreate_required" },
    });
  });
});
