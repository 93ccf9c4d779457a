import type { AddonReport } from "@binnacle/contract";
import { expect, test } from "vitest";
import type { Instance } from "./addon.ts";
import { addonAfterReport, missingAddon } from "./addon-sync.ts";

const ID = "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11";
const NOW = new Date("2026-01-31T09:30:00Z");

const instance = (facts: Partial<Instance> = {}): Instance => ({
  id: ID,
  org_id: ID,
  cluster_id: ID,
  project_id: ID,
  namespace: "shop",
  name: "db",
  definition_id: ID,
  values: {},
  chart_version: "1.0.0",
  generation: 3,
  revision_number: 2,
  phase: "upgrading",
  phase_reason: null,
  phase_message: null,
  observed_generation: 2,
  exports: { host: "db.shop" },
  reported_at: null,
  created_at: NOW,
  updated_at: NOW,
  ...facts,
});
const report = (facts: Partial<AddonReport> = {}): AddonReport => ({
  phase: "ready",
  reason: "Installed",
  message: "The release is deployed.",
  exports: { host: "db.shop", password: null },
  ...facts,
});
const definition = {
  export_schema: {
    host: { description: "The host.", secret: false, from: { service: "db" } },
    password: { description: "The password.", secret: true, from: { secret: "db", key: "password" } },
  },
};
const reported = (before: Instance, generation: number, facts: Partial<AddonReport> = {}) =>
  addonAfterReport(before, generation, report(facts), definition);

test("[DS20] a report on the present generation says how the instance is, and what it exports", () => {
  expect(reported(instance(), 3)).toEqual(
    instance({
      phase: "ready",
      phase_reason: "Installed",
      phase_message: "The release is deployed.",
      observed_generation: 3,
      exports: { host: "db.shop", password: { secret_ref: { name: "db-addon-exports", key: "password" } } },
    }),
  );
});

test("[DS20] without a definition the exports stay as they are, and one that is not fit to be shown is left out", () => {
  expect(addonAfterReport(instance(), 3, report({ exports: {} }), null)).toMatchObject({
    phase: "ready",
    exports: { host: "db.shop" },
  });
  expect(reported(instance(), 3, { exports: { host: "http://root:hunter2@db" } }).exports).toEqual({});
});

test("[DS13] a report on an earlier generation does not turn the phase", () => {
  expect(reported(instance(), 2)).toMatchObject({ phase: "upgrading", phase_reason: null, observed_generation: 2 });
});

test.each([
  ["never told", 4],
  ["overtaken", 1],
])("[DS12] one that was %s changes nothing", (_, generation) => {
  const before = instance();
  expect(reported(before, generation)).toBe(before);
});

test("[DS24] the same report again changes nothing", () => {
  const once = reported(instance(), 3);
  expect(reported(once, 3)).toBe(once);
});

test("[DS16] a deletion is neither begun nor ended by a phase, and says what keeps it", () => {
  const [staying, leaving] = [instance(), instance({ phase: "deleting" })];
  expect(reported(staying, 3, { phase: "deleting" })).toBe(staying);
  expect(reported(leaving, 3).phase).toBe("deleting");
  expect(reported(leaving, 3, { phase: "deleting", message: "A hook fails." })).toMatchObject({
    phase: "deleting",
    phase_message: "A hook fails.",
  });
  expect(reported(leaving, 2, { phase: "deleting", message: "A hook fails." })).toBe(leaving);
});

test("[DS23] an instance that was deleted on the cluster is pending", () => {
  expect(missingAddon(instance())).toMatchObject({ phase: "pending", phase_reason: "DeletedOnCluster" });
  const leaving = instance({ phase: "deleting" });
  expect(missingAddon(leaving)).toBe(leaving);
});
