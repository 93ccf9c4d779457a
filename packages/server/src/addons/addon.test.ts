import { ADDON_PHASES, type AddonPhase } from "@binnacle/contract";
import { describe, expect, test } from "vitest";
import {
  afterReport,
  chartVersionProblems,
  deleting,
  type Instance,
  phaseAfterChange,
  type Report,
  revised,
} from "./addon.ts";

const ID = "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11";
const NOW = new Date("2026-01-31T09:30:00Z");
const LATER = new Date("2026-01-31T09:31:00Z");

const instance = (facts: Partial<Instance> = {}): Instance => ({
  id: ID,
  org_id: ID,
  cluster_id: ID,
  project_id: ID,
  namespace: "shop",
  name: "db",
  definition_id: ID,
  values: { size: "1Gi" },
  chart_version: "1.0.0",
  generation: 3,
  revision_number: 2,
  phase: "ready",
  phase_reason: null,
  phase_message: null,
  observed_generation: 2,
  exports: {},
  reported_at: null,
  created_at: NOW,
  updated_at: NOW,
  ...facts,
});

const report = (facts: Partial<Report> = {}): Report => ({
  generation: 3,
  phase: "degraded",
  reason: "CrashLoopBackOff",
  message: "The pod does not stay up.",
  exports: {},
  ...facts,
});

const definition = {
  export_schema: {
    host: { description: "The host.", secret: false, from: { service: "db" } },
    password: { description: "The password.", secret: true, from: { secret: "db", key: "password" } },
  },
};

describe("the phase after a change", () => {
  test.each<[AddonPhase, AddonPhase | null]>([
    ["pending", "pending"],
    ["installing", "installing"],
    ["ready", "upgrading"],
    ["upgrading", "upgrading"],
    ["degraded", "upgrading"],
    ["failed", "upgrading"],
  ])("[AD32] of %s is %s", (before, after) => {
    expect(phaseAfterChange(before)).toBe(after);
  });

  test("[AD31] there is none once it is being deleted", () => {
    expect(phaseAfterChange("deleting")).toBeNull();
    const wanted = { values: {}, chart_version: "1.0.0", notes: null };
    expect(() => revised(instance({ phase: "deleting" }), wanted, LATER)).toThrow("is being deleted");
  });

  test("[AD18] a change counts up the revision and the generation", () => {
    const changed = revised(instance(), { values: { size: "2Gi" }, chart_version: "1.1.0", notes: null }, LATER);
    expect(changed).toEqual(
      instance({
        values: { size: "2Gi" },
        chart_version: "1.1.0",
        phase: "upgrading",
        generation: 4,
        revision_number: 3,
        updated_at: LATER,
      }),
    );
  });

  test.each(ADDON_PHASES)("[AD30] a deletion ends %s and makes no revision", (phase) => {
    expect(deleting(instance({ phase }), LATER)).toMatchObject({
      phase: "deleting",
      generation: 4,
      revision_number: 2,
    });
  });
});

describe("a report of the operator", () => {
  test("[AD33] on the present generation sets the phase with its reason", () => {
    expect(afterReport(instance({ phase: "upgrading" }), report(), definition)).toEqual({
      phase: "degraded",
      phase_reason: "CrashLoopBackOff",
      phase_message: "The pod does not stay up.",
      observed_generation: 3,
      exports: {},
    });
  });

  test("[AD33] on an earlier generation leaves the phase of the change that is under way", () => {
    const observed = afterReport(
      instance({ phase: "upgrading" }),
      report({ generation: 2, phase: "ready" }),
      definition,
    );
    expect(observed).toMatchObject({ phase: "upgrading", phase_reason: null, observed_generation: 2 });
  });

  test("[AD33] that a later one has overtaken changes nothing", () => {
    expect(afterReport(instance({ observed_generation: 3 }), report({ generation: 2 }), definition)).toBeNull();
  });

  test("[AD33] ends no deletion", () => {
    const observed = afterReport(instance({ phase: "deleting" }), report({ phase: "ready" }), definition);
    expect(observed).toMatchObject({ phase: "deleting", phase_reason: null });
  });

  test("[AD34] publishes what is declared, and a secret as a reference even where its value was sent", () => {
    const exports = { host: "db.shop.svc", password: "hush", unheard_of: "x" };
    expect(afterReport(instance(), report({ exports }), definition)?.exports).toEqual({
      host: "db.shop.svc",
      password: { secret_ref: { name: "db-addon-exports", key: "password" } },
    });
    expect(afterReport(instance(), report({ exports: { host: null, password: null } }), definition)?.exports).toEqual({
      password: { secret_ref: { name: "db-addon-exports", key: "password" } },
    });
  });

  test("[AD34] publishes nothing without a definition that says what is secret", () => {
    expect(afterReport(instance(), report({ exports: { host: "x" } }), null)?.exports).toEqual({});
  });
});

test("[AD12] a chart version is one of those offered", () => {
  const chart = { repo: "https://charts.example.com", name: "store", version: "2.0.0", versions: ["2.0.0", "1.0.0"] };
  expect(chartVersionProblems({ chart }, "1.0.0")).toEqual([]);
  expect(chartVersionProblems({ chart }, "3.0.0")).toEqual([
    { loc: ["body", "chart_version"], msg: "Input should be one of 2.0.0, 1.0.0", type: "value_error" },
  ]);
});
