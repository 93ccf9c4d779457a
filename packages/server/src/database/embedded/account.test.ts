import { describe, expect, test } from "vitest";
import { uidFromPasswd, unusedAccount } from "./account.ts";

const account = { uid: 65520, gid: 65520 };

describe("who the database runs as", () => {
  const root = "root:x:0:0::/root:/bin/sh\n";
  test.each([
    ["a usual system", `${root}nobody:x:65534:65534::/:/bin/false\n`, 65534],
    ["a system without it", `${root}nobody2:x:1:1::/:/\n`, undefined],
  ])("[DB11] the uid of nobody, who makes the first database, is found on %s", (_, passwd, expected) => {
    expect(uidFromPasswd(passwd, "nobody")).toBe(expected);
  });

  test("[DB11] the database runs as a number that is neither a user nor a group of the machine", () => {
    expect(unusedAccount(root, "")).toEqual(account);
    expect(unusedAccount(`${root}a:x:65520:1::/:/\n`, "g:x:65521:\n")).toEqual({ uid: 65522, gid: 65522 });
    const all = Array.from({ length: 14 }, (_, at) => `g${at}:x:${65520 + at}:`).join("\n");
    expect(unusedAccount(root, all)).toBeUndefined();
  });
});
