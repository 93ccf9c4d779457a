import { expect, test } from "vitest";
import type { AppliedMigration, Migrations } from "../database/migration.ts";
import type { UpgradeFacts } from "./upgrade-facts.store.ts";
import { upgradeReport } from "./upgrade-report.ts";

const FIRST: AppliedMigration = { name: "0001_first", oldest_release: "0.1.0", applied_by: "0.1.0" };
const FACTS: UpgradeFacts = {
  applied: [FIRST],
  servers: ["0.1.0"],
  operators: [{ release: "0.1.0", connected: true, clusters: 3 }],
};
const first = { oldestRelease: "0.1.0", locks: {}, steps: [] };
const adding = (oldestRelease: string): Migrations => ({
  "0001_first": first,
  "0002_labels": { oldestRelease, locks: { apps: "ACCESS EXCLUSIVE", orgs: "SHARE" }, steps: [] },
});
const report = (facts: Partial<UpgradeFacts>, migrations = adding("0.1.0"), release = "0.2.0") =>
  upgradeReport({ release, migrations, sqlOf: () => ["alter table apps …"] }, { ...FACTS, ...facts });

test("[UG9] the report names the steps, the locks, the way back and who is connected", () => {
  expect(report({})).toEqual({
    exitCode: 0,
    text: `Release 0.2.0, on a database with 1 migration.

Migrations to be applied, all in one transaction, which holds its locks until it ends:
  0002_labels, after which release 0.1.0 and later ones work
    step: alter table apps …
    locks: apps ACCESS EXCLUSIVE (holds up reads and writes), orgs SHARE (holds up writes)
Way back: release 0.1.0 and later ones start on the migrated database.
Servers: 0.1.0 (supported)
Operators: 0.1.0 in 3 clusters (supported)

Ready.
`,
  });
});

const operators = (release: string | null, clusters = 1) => ({ operators: [{ release, connected: false, clusters }] });

test.each<[string, Partial<UpgradeFacts>, Migrations, RegExp]>([
  [
    "a running server would break",
    {},
    adding("0.2.0"),
    /Release 0\.1\.0 does not work after the migrations, which need 0\.2\.0: stop/,
  ],
  [
    "the release that was in use last could not go on",
    { servers: [] },
    adding("0.2.0"),
    /Release 0\.1\.0 does not work after the migrations, which need 0\.2\.0: stop/,
  ],
  [
    "a server is two minors behind",
    { servers: ["0.0.9", "0.3.0"] },
    adding("0.0.1"),
    /one minor at a time|not next to/,
  ],
  ["a server names no release", { servers: [null] }, adding("0.1.0"), /does not name its release: find out/],
  ["an operator is too old", operators("0.0.1", 2), adding("0.1.0"), /Operators of release 0\.0\.1 run in 2 clusters/],
  ["an operator is too new", operators("0.4.0"), adding("0.1.0"), /Operators of release 0\.4\.0 run in 1 cluster;/],
  ["an operator names no release", operators("simulated"), adding("0.1.0"), /does not name a release: simulated/],
  [
    "a migration declares nothing",
    {},
    { "0001_first": first, "0002_labels": { up: async () => undefined } },
    /0002_labels .* declares nothing: take a backup/,
  ],
])("[UG10] it ends with 2 and says what to do where %s", (_, facts, migrations, expected) => {
  const { exitCode, text } = report(facts, migrations);
  expect(exitCode).toBe(2);
  expect(text).toContain("Before you upgrade:");
  expect(text).toMatch(expected);
});

test("[UG10] it ends with 3 where this release cannot run on the database", () => {
  const applied = [FIRST, { name: "0009_later", oldest_release: "0.3.0", applied_by: "0.4.0" }];
  const { exitCode, text } = report({ applied });
  expect([exitCode, text]).toEqual([3, expect.stringMatching(/^The database was migrated by release 0\.4\.0/)]);
});

test("[UG9] a former release that may go on is told which migrations it does not know, and a new database that it is new", () => {
  const later = { name: "0002_labels", oldest_release: "0.1.0", applied_by: "0.2.0" };
  const back = report({ applied: [FIRST, later] }, { "0001_first": first }, "0.1.0");
  expect(back.exitCode).toBe(0);
  expect(back.text).toContain("0002_labels was applied by release 0.2.0 and works from release 0.1.0 on.");
  expect(back.text).toContain("No migration is to be applied.");
  const empty = report({ applied: [], servers: [], operators: [] });
  expect(empty).toMatchObject({ exitCode: 0, text: expect.stringContaining("on an empty database") });
});
