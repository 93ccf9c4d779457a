import type { AddonReport } from "@binnacle/contract";
import { expect, test } from "vitest";
import { someInstance } from "./addon.fixture.ts";
import type { Instance } from "./addon.ts";
import { addonAfterReport, missingAddon } from "./addon-sync.ts";

const LATER = new Date("2026-01-31T09:31:00Z");

const instance = (facts: Partial<Instance> = {}): Instance =>
  someInstance({ phase: "upgrading", exports: { host: "db.shop" }, ...facts });
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
  addonAfterReport(before, generation, report(facts), definition, LATER);

test("[DS20] a report on the current generation sets phase and exports of the addon instance", () => {
  expect(reported(instance(), 3)).toEqual(
    instance({
      phase: "ready",
      phase_since: LATER,
      phase_reason: "Installed",
      phase_message: "The release is deployed.",
      observed_generation: 3,
      exports: { host: "db.shop", password: { secret_ref: { name: "db-addon-exports", key: "password" } } },
    }),
  );
});

test("[DS20] without a definition the exports stay as they are, and an export with a password is left out", () => {
  expect(addonAfterReport(instance(), 3, report({ exports: {} }), null, LATER)).toMatchObject({
    phase: "ready",
    exports: { host: "db.shop" },
  });
  expect(reported(instance(), 3, { exports: { host: "http://root:hunter2@db" } }).exports).toEqual({});
});

test("[DS13] a report on an earlier generation does not change the phase of an addon instance", () => {
  expect(reported(instance(), 2)).toMatchObject({ phase: "upgrading", phase_reason: null, observed_generation: 2 });
});

test.each([
  ["never told", 4],
  ["overtaken", 1],
])("[DS12] a report on a generation that was %s changes nothing of an addon instance", (_, generation) => {
  const before = instance();
  expect(reported(before, generation)).toBe(before);
});

test("[DS24] the same report again changes nothing of an addon instance", () => {
  const once = reported(instance(), 3);
  expect(reported(once, 3)).toBe(once);
});

test("[DS16] a reported phase neither begins nor ends a deletion, and the reported message is shown", () => {
  const [staying, leaving] = [instance(), instance({ phase: "deleting" })];
  expect(reported(staying, 3, { phase: "deleting" })).toBe(staying);
  expect(reported(leaving, 3).phase).toBe("deleting");
  expect(reported(leaving, 3, { phase: "deleting", message: "A hook fails." })).toMatchObject({
    phase: "deleting",
    phase_message: "A hook fails.",
  });
  expect(reported(leaving, 2, { phase: "deleting", message: "A hook fails." })).toBe(leaving);
});

test("[DS23] an addon instance that was deleted on the cluster is pending", () => {
  expect(missingAddon(instance(), LATER)).toMatchObject({ phase: "pending", phase_reason: "DeletedOnCluster" });
  const leaving = instance({ phase: "deleting" });
  expect(missingAddon(leaving, LATER)).toBe(leaving);
});
