import { describe, expect, test } from "vitest";
import {
  failureReason,
  isBackendCommand,
  isPassingFailure,
  isPostmasterCommand,
  parentFromStat,
  parsePidFile,
  withPid,
} from "./postmaster-state.ts";

const READY = "812\n/srv/data/postgres\n1790000000\n5432\n/srv/data/postgres-socket\n\n  1048577   3\nready   \n";

describe("the lock file of a database", () => {
  test.each([
    ["a running one", READY, { pid: 812, socket: { folder: "/srv/data/postgres-socket", port: 5432 } }],
    ["one without its socket yet", "812\n/srv/data/postgres\n1790000000\n5432\n\n", { pid: 812, socket: undefined }],
    ["one just created", "812\n/srv/data/postgres\n", { pid: 812, socket: undefined }],
    ["a stand-alone backend", "-812\n/srv/data/postgres\n", { pid: 812, socket: undefined }],
    ["an empty file", "", undefined],
    ["garbage", "\0\0\0\0", undefined],
    ["pid zero", "0\n", undefined],
  ])("[DB10] reads the lock file of %s", (_, text, expected) => {
    expect(parsePidFile(text)).toEqual(expected);
  });

  test("[DB10] keeps the record of the shared memory when it disarms a stale lock file", () => {
    expect(withPid(READY, 7)).toBe(READY.replace("812", "7"));
    expect(withPid("812", 7)).toBe("7\n");
  });
});

describe("the process behind a number", () => {
  test.each([
    ["this database", "/opt/bin/postgres\0-D\0/srv/data/postgres\0-c\0port=5432\0", true],
    ["a database of another folder", "/opt/bin/postgres\0-D\0/srv/other/postgres\0", false],
    ["a longer folder name", "/opt/bin/postgres\0-D\0/srv/data/postgres2\0", false],
    ["a backend", "postgres: binnacle postgres [local] idle", false],
    ["an editor of its files", "vi\0/srv/data/postgres\0", false],
    ["a zombie", "", false],
  ])("[DB10] tells the running database from %s", (_, commandLine, expected) => {
    expect(isPostmasterCommand(commandLine, "/srv/data/postgres")).toBe(expected);
  });

  test("[DB8] knows backends and their parents", () => {
    expect(isBackendCommand("postgres: checkpointer ")).toBe(true);
    expect(isBackendCommand("/opt/bin/postgres\0-D\0/srv\0")).toBe(false);
    expect(parentFromStat("99 (odd ) (name) S 812 99 99 0 -1")).toBe(812);
    expect(parentFromStat("")).toBeUndefined();
  });
});

describe("why a database has not started", () => {
  const shared = "2026-01-01 UTC [9] FATAL:  pre-existing shared memory block (key 1, ID 2) is still in use\n";

  test.each([
    [
      "the last cause",
      `LOG:  starting\n${shared}LOG:  shut down\n`,
      "pre-existing shared memory block (key 1, ID 2) is still in use",
    ],
    [
      "initdb's cause",
      "initdb: error: could not look up effective user ID 7\n",
      "could not look up effective user ID 7",
    ],
    ["no cause", "LOG:  starting\n", undefined],
  ])("[DB15] gives the operator %s", (_, said, expected) => {
    expect(failureReason(said)).toBe(expected);
  });

  test.each([
    [shared, true],
    ['FATAL:  lock file "postmaster.pid" already exists\n', true],
    ['FATAL:  lock file "/s/.s.PGSQL.5432.lock" already exists\n', true],
    ['FATAL:  lock file "postmaster.pid" is empty\n', true],
    ["FATAL:  database files are incompatible with server\n", false],
    ["", false],
  ])("[DB15] knows whether %j passes by itself", (said, expected) => {
    expect(isPassingFailure(said)).toBe(expected);
  });
});
