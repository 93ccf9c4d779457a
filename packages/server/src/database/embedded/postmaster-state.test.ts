import { describe, expect, test } from "vitest";
import {
  failureReason,
  fitsSocketPath,
  isBackendCommand,
  isFullDisk,
  isPostmasterCommand,
  isTransientFailure,
  otherMajor,
  parentFromStat,
  parsePidFile,
  withPid,
} from "./postmaster-state.ts";

const READY = "812\n/srv/data/postgres\n1790000000\n5432\n/srv/data/postgres-socket\n\n  1048577   3\nready   \n";

describe("the lock file of a database", () => {
  test.each([
    ["a running one", READY, { pid: 812, socket: { folder: "/srv/data/postgres-socket", port: 5432 } }],
    [
      "one in the working directory",
      READY.replaceAll("/srv/data/postgres-socket", "/proc/self/cwd"),
      { pid: 812, socket: { folder: "/srv/data/postgres", port: 5432 } },
    ],
    ["one without its socket yet", "812\n/srv/data/postgres\n1790000000\n5432\n\n", { pid: 812, socket: undefined }],
    ["one just created", "812\n/srv/data/postgres\n", { pid: 812, socket: undefined }],
    ["a stand-alone backend", "-812\n/srv/data/postgres\n", { pid: 812, socket: undefined }],
    ["an empty file", "", undefined],
    ["garbage", "\0\0\0\0", undefined],
    ["pid zero", "0\n", undefined],
  ])("[DB10] process and socket are read from the lock file of %s", (_, text, expected) => {
    expect(parsePidFile(text, "/srv/data/postgres")).toEqual(expected);
  });

  test("[DB10] disarming a stale lock file keeps its record of the shared memory", () => {
    expect(withPid(READY, 7)).toBe(READY.replace("812", "7"));
    expect(withPid("812", 7)).toBe("7\n");
  });
});

describe("where the socket is", () => {
  const room = 103 - "/.s.PGSQL.5432".length;

  test.each([
    ["the longest folder that fits", `/${"a".repeat(room - 1)}`, true],
    ["one byte more", `/${"a".repeat(room)}`, false],
    ["fewer characters but more bytes", `/${"é".repeat(room / 2 + 1)}`, false],
  ])("[DB14] the length of a socket's path is measured in bytes: %s", (_, folder, fits) => {
    expect(fitsSocketPath(folder)).toBe(fits);
  });
});

describe("the process behind a number", () => {
  const BY_SETTING = "/opt/bin/postgres\0-D\0/proc/self/cwd\0-c\0binnacle.data_directory=";

  test.each([
    ["this database", "/opt/bin/postgres\0-D\0/srv/data/postgres\0-c\0port=5432\0", true],
    ["this database by its setting", `${BY_SETTING}/srv/data/postgres\0`, true],
    ["a database of another folder by its setting", `${BY_SETTING}/srv/other/postgres\0`, false],
    ["a database of another folder", "/opt/bin/postgres\0-D\0/srv/other/postgres\0", false],
    ["a longer folder name", "/opt/bin/postgres\0-D\0/srv/data/postgres2\0", false],
    ["a backend", "postgres: binnacle postgres [local] idle", false],
    ["an editor of its files", "vi\0/srv/data/postgres\0", false],
    ["a zombie", "", false],
  ])(
    "[DB10] the command line of a process shows whether it is the running database: %s",
    (_, commandLine, expected) => {
      expect(isPostmasterCommand(commandLine, "/srv/data/postgres")).toBe(expected);
    },
  );

  test("[DB8] backends are known by their command line, and their parents are read from the process table", () => {
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
    [
      "the cause before what it tells those who connect meanwhile",
      'PANIC:  could not write to file "pg_wal/1": No space left on device\nFATAL:  the database system is shutting down\n',
      'could not write to file "pg_wal/1": No space left on device',
    ],
    ["no cause", "LOG:  starting\n", undefined],
  ])("[DB15] the report of a failed start of the database has %s", (_, output, expected) => {
    expect(failureReason(output)).toBe(expected);
  });

  test.each([
    [shared, true],
    ['FATAL:  lock file "postmaster.pid" already exists\n', true],
    ['FATAL:  lock file "/s/.s.PGSQL.5432.lock" already exists\n', true],
    ['FATAL:  lock file "postmaster.pid" is empty\n', true],
    ["FATAL:  database files are incompatible with server\n", false],
    ["", false],
  ])(
    "[DB15] whether a failed start of the database passes by itself is known from the message: %j",
    (output, expected) => {
      expect(isTransientFailure(output)).toBe(expected);
    },
  );
});

test.each([
  ['could not write lock file "postmaster.pid": No space left on device', true],
  ["ENOSPC: no space left on device, write", true],
  ['could not write to file "pg_wal/xlogtemp.9": Disk quota exceeded', true],
  ["database files are incompatible with server", false],
])("[DB600] a full disk is known from the reason for which the database has ended: %j", (reason, expected) => {
  expect(isFullDisk(reason)).toBe(expected);
});

test.each([
  ["17", ["binnacle-server backup <file>", "move that folder away", "binnacle-server restore <file>"]],
  ["19", ["Start the version of Binnacle that ran before", "move that folder away"]],
])("[DB601] a database of PostgreSQL %s is refused with both versions and the way to go", (found, words) => {
  const message = otherMajor(found, "18", "/srv/data/postgres");
  for (const word of [`PostgreSQL ${found}`, "PostgreSQL 18", "/srv/data/postgres", "Nothing was changed", ...words]) {
    expect(message).toContain(word);
  }
});
