import { describe, expect, test } from "vitest";
import {
  accountFromPasswd,
  chooseCluster,
  chooseSocketFolder,
  firstClosedFolder,
  folderHash,
  foldersTo,
  homeFolder,
  unfinishedMaker,
  unfinishedName,
} from "./placement.ts";

const nobody = { uid: 65534, gid: 65534 };

describe("who the database runs as", () => {
  test.each([
    ["a usual system", "root:x:0:0::/root:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n", nobody],
    [
      "macOS",
      "# comment\nnobody:*:-2:-2:Unprivileged:/var/empty:/usr/bin/false\n",
      { uid: 4294967294, gid: 4294967294 },
    ],
    ["a system without it", "root:x:0:0::/root:/bin/sh\nnobody2:x:1:1::/:/\n", undefined],
  ])("[DB11] finds nobody on %s", (_, passwd, expected) => {
    expect(accountFromPasswd(passwd, "nobody")).toEqual(expected);
  });
});

describe("what the database user can reach", () => {
  const folder = (path: string, mode: number, uid = 0, gid = 0) => ({ path, mode: 0o40000 | mode, uid, gid });

  test.each([
    ["open all the way", [folder("/", 0o755), folder("/srv", 0o755)], undefined],
    ["passable without being listable", [folder("/", 0o755), folder("/srv", 0o711)], undefined],
    ["root's own folder above", [folder("/", 0o755), folder("/root", 0o700), folder("/root/app", 0o777)], "/root"],
    ["closed to others, open to its owner nobody", [folder("/d", 0o700, 65534)], undefined],
    ["open to others, closed to its owner nobody", [folder("/d", 0o001, 65534)], "/d"],
    ["open to the group of nobody", [folder("/d", 0o710, 0, 65534)], undefined],
    ["open to others, closed to the group of nobody", [folder("/d", 0o701, 0, 65534)], "/d"],
    ["readable but not searchable", [folder("/d", 0o744)], "/d"],
    ["shared and sticky", [folder("/tmp", 0o1777)], undefined],
  ])("[DB12] judges a path that is %s by every folder on the way", (_, folders, expected) => {
    expect(firstClosedFolder(folders, nobody)).toBe(expected);
  });

  test("[DB12] looks at every folder from the root down", () => {
    expect(foldersTo("/srv/app/data")).toEqual(["/", "/srv", "/srv/app", "/srv/app/data"]);
  });
});

describe("where the database is", () => {
  const hash = folderHash("/srv/data");

  test("[DB12] gives everything a home in the data folder, or on system ground when that is closed", () => {
    expect(homeFolder("/srv/data", true)).toBe("/srv/data");
    expect(homeFolder("/srv/data", false)).toBe(`/var/lib/binnacle/${hash}`);
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
  [unfinishedName("/srv/data/postgres", 42, "ab12"), 42],
  ["/srv/data/postgres", undefined],
  ["/srv/data/postgres.log", undefined],
  ["/srv/data/postgresql-18.4.0", undefined],
  ["/srv/data/postgres.unfinished-x", undefined],
])("[DB9] knows who has left %s unfinished", (path, maker) => {
  expect(unfinishedMaker("/srv/data/postgres", path.slice("/srv/data/".length))).toBe(maker);
});
