import { basename } from "node:path";
import { describe, expect, test } from "vitest";
import {
  chooseCluster,
  chooseSocketFolder,
  claimOfHome,
  classifyHome,
  firstClosedFolder,
  folderHash,
  foldersTo,
  homeFolder,
  isHomeName,
  joinsHome,
  parseHomeRecord,
  uidFromPasswd,
  unfinishedCreator,
  unfinishedName,
  unusedAccount,
} from "./placement.ts";

const account = { uid: 65520, gid: 65520 };

describe("who the database runs as", () => {
  const root = "root:x:0:0::/root:/bin/sh\n";
  test.each([
    ["a usual system", `${root}nobody:x:65534:65534::/:/bin/false\n`, 65534],
    ["macOS", "# comment\nnobody:*:-2:-2:Unprivileged:/var/empty:/usr/bin/false\n", 4294967294],
    ["a system without it", `${root}nobody2:x:1:1::/:/\n`, undefined],
  ])("[DB11] finds nobody, who makes it, on %s", (_, passwd, expected) => {
    expect(uidFromPasswd(passwd, "nobody")).toBe(expected);
  });

  test("[DB11] is a number that is neither a user nor a group of the machine", () => {
    expect(unusedAccount(root, "")).toEqual(account);
    expect(unusedAccount(`${root}a:x:65520:1::/:/\n`, "g:x:65521:\n")).toEqual({ uid: 65522, gid: 65522 });
    const all = Array.from({ length: 14 }, (_, at) => `g${at}:x:${65520 + at}:`).join("\n");
    expect(unusedAccount(root, all)).toBeUndefined();
  });
});

describe("what the database user can reach", () => {
  const folder = (path: string, mode: number, uid = 0, gid = 0) => ({ path, mode: 0o40000 | mode, uid, gid });

  test.each([
    ["open all the way", [folder("/", 0o755), folder("/srv", 0o755)], undefined],
    ["passable without being listable", [folder("/", 0o755), folder("/srv", 0o711)], undefined],
    ["root's own folder above", [folder("/", 0o755), folder("/root", 0o700), folder("/root/app", 0o777)], "/root"],
    ["closed to others, open to its owner", [folder("/d", 0o700, 65520)], undefined],
    ["open to others, closed to its owner", [folder("/d", 0o001, 65520)], "/d"],
    ["open to the its group", [folder("/d", 0o710, 0, 65520)], undefined],
    ["open to others, closed to the its group", [folder("/d", 0o701, 0, 65520)], "/d"],
    ["readable but not searchable", [folder("/d", 0o744)], "/d"],
    ["shared and sticky", [folder("/tmp", 0o1777)], undefined],
  ])("[DB12] judges a path that is %s by every folder on the way", (_, folders, expected) => {
    expect(firstClosedFolder(folders, account)).toBe(expected);
  });

  test("[DB12] looks at every folder from the root down", () => {
    expect(foldersTo("/srv/app/data")).toEqual(["/", "/srv", "/srv/app", "/srv/app/data"]);
  });
});

describe("where the database is", () => {
  const hash = folderHash("/srv/data");

  test("[DB12] gives each closed data folder a home of its own on system ground", () => {
    expect(homeFolder("/var/lib/b", "/srv/data")).toBe(`/var/lib/b/${hash}`);
    expect(homeFolder("/var/lib/b", "/srv/data", 2)).toBe(`/var/lib/b/${hash}-2`);
    expect([hash, `${hash}-2`].map(isHomeName)).toEqual([true, true]);
    expect(["postgresql-18.4.0-linux-x64", `${hash}.unfinished-1-ab`].map(isHomeName)).toEqual([false, false]);
  });

  test.each([
    [
      "makes a new one in an open data folder",
      "/srv/data",
      { kind: "nothing" },
      { pgdata: "/srv/data/postgres", link: false },
    ],
    [
      "makes a new one outside a closed data folder, with a link",
      "/var/lib/b",
      { kind: "nothing" },
      { pgdata: "/var/lib/b/postgres", link: true },
    ],
    [
      "stays with the one outside when the data folder has been opened",
      "/srv/data",
      { kind: "cluster", realPath: "/var/lib/b/postgres", closedAt: undefined },
      { pgdata: "/var/lib/b/postgres", link: false },
    ],
  ] as const)("[DB13] %s", (_, home, found, expected) => {
    expect(chooseCluster("/srv/data", home, found)).toEqual({ kind: "use", ...expected });
  });

  test.each([
    [
      "a data folder closed since",
      { kind: "cluster", realPath: "/srv/data/postgres", closedAt: "/srv" },
      "chmod o+x /srv",
    ],
    ["a link to a missing folder", { kind: "broken link", target: "/gone/postgres" }, "/gone/postgres"],
  ] as const)("[DB13] refuses %s instead of beginning an empty database", (_, found, named) => {
    const choice = chooseCluster("/srv/data", "/var/lib/b", found);
    expect(choice).toEqual({ kind: "refuse", reason: expect.stringContaining(named) });
  });
});

describe("where the socket is", () => {
  const room = 103 - "/.s.PGSQL.5432".length;

  test.each([
    ["the longest folder that fits", `/${"a".repeat(room - 1)}`, true],
    ["one byte more", `/${"a".repeat(room)}`, false],
    ["fewer characters but more bytes", `/${"é".repeat(room / 2 + 1)}`, false],
  ])("[DB14] measures %s", (_, folder, fits) => {
    expect(chooseSocketFolder([folder, "/tmp/short"])).toBe(fits ? folder : "/tmp/short");
  });

  test("[DB14] finds no folder when every one is too long", () => {
    expect(chooseSocketFolder([`/${"a".repeat(200)}`])).toBeUndefined();
  });
});

test.each([
  [basename(unfinishedName("/srv/data/postgres", 42, "ab12")), 42],
  ["postgresql-18.4.0-linux-x64.unfinished-7-ab12", 7],
  ["postgres", undefined],
  ["postgres.log", undefined],
  ["postgresql-18.4.0", undefined],
  ["postgres.unfinished-x", undefined],
  [".unfinished-7-ab12", undefined],
])("[DB9] knows who has left %s unfinished", (name, maker) => {
  expect(unfinishedCreator(name)).toBe(maker);
});

describe("whose database it is", () => {
  const record = { home: "/var/lib/b/1", dataDir: "/root/data", identity: "7-100", linked: true, shared: false };
  const gone = { record, names: 1, dataDir: "absent" } as const;

  test.each([
    ["its data folder has lost the record and its path", gone, "gone"],
    ["its data folder is where it was", { ...gone, names: 2, dataDir: "present" }, "keep"],
    ["its data folder was moved, and the record with it", { ...gone, names: 2 }, "keep"],
    ["only the record was removed from its data folder", { ...gone, dataDir: "present" }, "keep"],
    ["the path cannot be looked at", { ...gone, dataDir: "unknown" }, "keep"],
    ["it has no record", { ...gone, record: undefined }, "keep"],
    [
      "its data folder is on another file system, which may be unmounted",
      { ...gone, record: { ...record, linked: false } },
      "doubtful",
    ],
    ["a copy of its data folder uses it too", { ...gone, record: { ...record, shared: true } }, "doubtful"],
  ] as const)("[DB20] decides over a home when %s", (_, facts, fate) => {
    expect(classifyHome(facts)).toBe(fate);
  });

  const here = { dataDir: "/root/data", identity: "8-200", carries: "nothing" } as const;
  const present = { ...gone, dataDir: "present" } as const;
  test.each([
    ["a first start", { record: undefined, names: 0, dataDir: "unknown" }, here, "ours"],
    ["the folder that has the record", { ...present, names: 2 }, { ...here, carries: "record" }, "ours"],
    ["a folder made again after its removal", present, here, "stale"],
    ["the very folder, from which everything was removed", present, { ...here, identity: "7-100" }, "ours"],
    ["a folder restored from a backup", present, { ...here, carries: "copy" }, "ours"],
    ["a new folder where one was moved away", { ...present, names: 2 }, here, "taken"],
    ["a copy where the original was moved away", { ...present, names: 2 }, { ...here, carries: "copy" }, "taken"],
    ["the home of a folder moved elsewhere", { ...present, record: { ...record, dataDir: "/b" } }, here, "taken"],
    ["the home of one moved and then removed", { ...gone, record: { ...record, dataDir: "/b" } }, here, "stale"],
    ["the same path on another file system", { ...present, record: { ...record, linked: false } }, here, "ours"],
    ["a home that two folders use", { ...present, record: { ...record, shared: true } }, here, "taken"],
    [
      "another path on another file system",
      { ...present, record: { ...record, dataDir: "/b", linked: false } },
      here,
      "taken",
    ],
  ] as const)("[DB21] gives a home to %s or not", (_, facts, claimant, claim) => {
    expect(claimOfHome(facts, claimant)).toBe(claim);
  });

  const elsewhere = { ...record, dataDir: "/b" };
  test.each([
    ["the recorded folder was copied", { ...present, names: 2, record: elsewhere }, true],
    ["the recorded folder has lost its record", { ...present, record: elsewhere }, true],
    ["the recorded folder was copied, and then moved", { ...gone, names: 2, record: elsewhere }, true],
    ["the recorded folder was moved away from here", { ...present, names: 2 }, true],
    ["two folders use it already", { ...gone, record: { ...elsewhere, shared: true } }, true],
    ["the recorded folder is gone after it was copied", { ...gone, record: elsewhere }, false],
    ["the folder was restored from a backup", present, false],
    ["the record has no second name anyway", { ...present, record: { ...elsewhere, linked: false } }, false],
  ] as const)("[DB20] shares a home instead of taking it over when %s", (_, facts, expected) => {
    expect(joinsHome(facts, "/root/data")).toBe(expected);
  });

  test.each([
    [JSON.stringify(record), record],
    ["", undefined],
    ["null", undefined],
    ['{"dataDir":"/root/data"', undefined],
    ['{"dataDir":"/root/data","identity":"7-100"}', undefined],
  ])("[DB20] takes nothing but a whole record for one: %s", (text, expected) => {
    expect(parseHomeRecord(text)).toEqual(expected);
  });
});
