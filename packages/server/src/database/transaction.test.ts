import { expect, test } from "vitest";
import { isOutage, isOutOfRoom, isUnreachable } from "./transaction.ts";

test.each([
  "Connection terminated unexpectedly",
  "Client has encountered a connection error and is not queryable",
  "Client was closed and is not queryable",
  "timeout exceeded when trying to connect",
  "timeout expired",
])("[HA4] the error %j of a lost connection says that the database cannot be reached", (message) => {
  expect(isUnreachable(new Error(message))).toBe(true);
});

test("[HA6] a full disk of the database is not an outage, and is told apart from other errors", () => {
  const full = Object.assign(new Error("could not extend file"), { code: "53100" });
  expect([isOutOfRoom(full), isUnreachable(full), isOutOfRoom(new Error("another"))]).toEqual([true, false, false]);
});

test.each([
  ["a file cannot be extended", "53100", "could not extend file", true],
  [
    "the log of changes cannot be written",
    "53100",
    'could not write to file "pg_wal/xlogtemp.9": No space left on device',
    true,
  ],
  ["the quota of its user is used up", "XX000", 'could not extend file "base/5/1": Disk quota exceeded', true],
  ["an internal error that is about something else", "XX000", "cache lookup failed for relation 1", false],
  ["a disk that cannot be read", "58030", 'could not read block 1 in file "base/5/1": Input/output error', false],
])("[DB600] whether the disk of the database is full is known from its error: %s", (_, code, message, expected) => {
  const error = Object.assign(new Error(message), { code });
  expect([isOutOfRoom(error), isOutage(error), isUnreachable(error)]).toEqual([expected, expected, false]);
});
