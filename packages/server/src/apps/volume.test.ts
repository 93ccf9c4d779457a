import type { ComponentChange, ComponentSpec } from "@binnacle/contract";
import { describe, expect, test } from "vitest";
import { Fault } from "../fault.ts";
import { someApp } from "./app.fixture.ts";
import { changeComponents } from "./component-change.ts";
import { rolledBack, updated } from "./transition.ts";

const db = (size_gb: number, kind: "deployment" | "statefulset" = "deployment"): ComponentSpec => ({
  name: "db",
  type: "workload",
  workload_spec: { kind, image: "postgres:18", replicas: 1, volumes: [{ name: "data", mount_path: "/data", size_gb }] },
});
const NO_RULES = { findDefinition: () => undefined, chartHosts: [] };
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
  test("[AP77] grows and does not shrink, also not where its component is removed and added at once", () => {
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

  test("[AP108] may be set back where the cluster refused to let it grow, by a change and by a rollback", () => {
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

  test("[AP77] keeps the size that it has grown to in a rollback", () => {
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

  test("[AP78] is not lost by another kind of its component, unless that is confirmed; the word is not stored", () => {
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

  test("[AP78] [AP105] is not lost by a daemonset, which has none", () => {
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

  test("[AP78] is not lost by a rollback", () => {
    const spec = { components: [db(10, "statefulset")], paused: false };
    expect(rolledBack(someApp({ components: [db(10)] }), { revision: 1, spec }, NO_RULES)).toMatchObject({
      kind: "conflict",
      detail: { code: "recreate_required" },
    });
  });
});
