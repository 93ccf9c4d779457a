import { ADDON_PHASES, type AddonPhase } from "@binnacle/contract";
import { describe, expect, test } from "vitest";
import { someInstance } from "./addon.fixture.ts";
import {
  afterReport,
  chartVersionProblems,
  deleting,
  type Instance,
  phaseAfterChange,
  type Report,
  revised,
} from "./addon.ts";

const LATER = new Date("2026-01-31T09:31:00Z");

const instance = (facts: Partial<Instance> = {}): Instance => someInstance({ values: { size: "1Gi" }, ...facts });

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
  ])("[AD32] a change of an addon instance turns the phase %s into %s", (before, after) => {
    expect(phaseAfterChange(before)).toBe(after);
  });

  test("[AD31] an addon instance that is being deleted cannot be changed", () => {
    expect(phaseAfterChange("deleting")).toBeNull();
    const wanted = { values: {}, chart_version: "1.0.0", notes: null };
    expect(() => revised(instance({ phase: "deleting" }), wanted, LATER)).toThrow("is being deleted");
  });

  test("[AD18] a change of an addon instance raises the revision and the generation", () => {
    const changed = revised(instance(), { values: { size: "2Gi" }, chart_version: "1.1.0", notes: null }, LATER);
    expect(changed).toEqual(
      instance({
        values: { size: "2Gi" },
        chart_version: "1.1.0",
        phase: "upgrading",
        phase_since: LATER,
        generation: 4,
        revision_number: 3,
        updated_at: LATER,
      }),
    );
  });

  test.each(ADDON_PHASES)("[AD30] the deletion of an addon instance in phase %s makes no revision", (phase) => {
    expect(deleting(instance({ phase }), LATER)).toMatchObject({
      phase: "deleting",
      generation: 4,
      revision_number: 2,
    });
  });
});

describe("a report of the operator", () => {
  test("[AD33] a report on the current generation sets phase, reason and message", () => {
    expect(afterReport(instance({ phase: "upgrading" }), report(), definition)).toEqual({
      phase: "degraded",
      phase_reason: "CrashLoopBackOff",
      phase_message: "The pod does not stay up.",
      observed_generation: 3,
      exports: {},
    });
  });

  test("[AD33] a report on an earlier generation leaves the phase of the running change", () => {
    const observed = afterReport(
      instance({ phase: "upgrading" }),
      report({ generation: 2, phase: "ready" }),
      definition,
    );
    expect(observed).toMatchObject({ phase: "upgrading", phase_reason: null, observed_generation: 2 });
  });

  test("[AD33] a report that a later one has overtaken changes nothing", () => {
    expect(afterReport(instance({ observed_generation: 3 }), report({ generation: 2 }), definition)).toBeNull();
  });

  test("[AD33] a report does not end the deletion of an addon instance", () => {
    const observed = afterReport(instance({ phase: "deleting" }), report({ phase: "ready" }), definition);
    expect(observed).toMatchObject({ phase: "deleting", phase_reason: null });
  });

  test("[AD34] declared exports are stored, and a secret one as a reference even if its value was sent", () => {
    const exports = { host: "db.shop.svc", password: "hush", unheard_of: "x" };
    expect(afterReport(instance(), report({ exports }), definition)?.exports).toEqual({
      host: "db.shop.svc",
      password: { secret_ref: { name: "db-addon-exports", key: "password" } },
    });
    expect(afterReport(instance(), report({ exports: { host: null, password: null } }), definition)?.exports).toEqual({
      password: { secret_ref: { name: "db-addon-exports", key: "password" } },
    });
  });

  test("[AD34] without a definition no exports are stored", () => {
    expect(afterReport(instance(), report({ exports: { host: "x" } }), null)?.exports).toEqual({});
  });
});

test("[AD12] a chart version must be one of those that the definition offers", () => {
  const chart = { repo: "https://charts.example.com", name: "store", version: "2.0.0", versions: ["2.0.0", "1.0.0"] };
  expect(chartVersionProblems({ chart }, "1.0.0")).toEqual([]);
  expect(chartVersionProblems({ chart }, "3.0.0")).toEqual([
    { loc: ["body", "chart_version"], msg: "Input should be one of 2.0.0, 1.0.0", type: "value_error" },
  ]);
});
