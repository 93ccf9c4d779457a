import { expect, test } from "vitest";
import {
  type AppliedMigration,
  type Migrations,
  oldestReleaseOf,
  pendingMigrations,
  SchemaRefused,
} from "./migration.ts";

const declared = (oldestRelease: string) => ({ oldestRelease, locks: {}, steps: [] });
const KNOWN: Migrations = { "0001_first": declared("0.1.0"), "0002_second": declared("0.1.0") };
const FIRST: AppliedMigration = { name: "0001_first", oldest_release: "0.1.0", applied_by: "0.1.0" };
const SECOND: AppliedMigration = { ...FIRST, name: "0002_second" };
const later = (oldest_release: string | null, applied_by: string | null = "0.2.0"): AppliedMigration => ({
  name: "0003_later",
  oldest_release,
  applied_by,
});
const pendingOf = (...applied: AppliedMigration[]) => pendingMigrations(KNOWN, applied, "0.1.0");

test("[UG1] what is not applied yet is pending, in the order of the names, and nothing where a later release allows this one", () => {
  expect(pendingMigrations({ "0002_second": declared("0.1.0"), ...KNOWN }, [], "0.1.0")).toEqual([
    "0001_first",
    "0002_second",
  ]);
  expect(pendingOf(FIRST)).toEqual(["0002_second"]);
  expect(pendingOf(FIRST, SECOND, later("0.1.0"))).toEqual([]);
});

test.each([
  [
    later("0.2.0"),
    /by release 0\.2\.0: its migration 0003_later works with release 0\.2\.0 and later ones, and this is release 0\.1\.0\..*Start release 0\.2\.0 or a later one, or restore/,
  ],
  [later(null), /0003_later does not say that other releases work with it.*Start release 0\.2\.0, or restore/],
  [{ name: "0003_later" }, /by a later version: its migration 0003_later.*Start that version, or restore/],
  [later("soon"), /0003_later works with release soon/],
])("[UG2] a server of 0.1.0 refuses a database with %j", (migration, message) => {
  expect(() => pendingOf(FIRST, SECOND, migration)).toThrow(SchemaRefused);
  expect(() => pendingOf(FIRST, SECOND, migration)).toThrow(message);
});

test("[UG4] a migration that is missing before later ones is refused, whether those are known or not", () => {
  for (const applied of [[SECOND], [FIRST, later("0.1.0")]]) {
    expect(() => pendingOf(...applied)).toThrow(SchemaRefused);
    expect(() => pendingOf(...applied)).toThrow(/has later migrations than 000\d_\w+, but not this one/);
  }
});

test("[UG9] the oldest release that works is the latest that any migration asks for, and not known where one does not say", () => {
  expect(oldestReleaseOf(["0.2.0", "0.10.0", "0.9.0"])).toBe("0.10.0");
  expect(oldestReleaseOf(["0.2.0", null])).toBeNull();
  expect(oldestReleaseOf([])).toBeNull();
});
