import { expect, test } from "vitest";
import { type Entry, readTar, writeTar } from "../../scripts/images/tar.ts";

const file = (path: string, content = path): Entry => ({ type: "file", path, content: Buffer.from(content) });

/** The headers of an archive, in their order. */
function headersOf(tar: Buffer) {
  const headers: { name: string; mode: string; owner: string; time: string }[] = [];
  for (let at = 0; tar[at] !== 0; ) {
    const field = (start: number, bytes: number) =>
      tar.toString("latin1", at + start, at + start + bytes).replace(/\0.*$/, "");
    headers.push({ name: field(0, 100), mode: field(100, 8), owner: field(108, 8), time: field(136, 12) });
    at += 512 + Math.ceil(Number.parseInt(field(124, 12), 8) / 512) * 512;
  }
  return headers;
}

test("[IM4] the entries of a layer are sorted, with the folders above them, whatever order they are given in", () => {
  const tar = writeTar([file("usr/bin/node"), file("app/server.js"), file("app-data")]);
  expect(headersOf(tar).map(({ name }) => name)).toEqual([
    "app/",
    "app-data",
    "app/server.js",
    "usr/",
    "usr/bin/",
    "usr/bin/node",
  ]);
  expect(writeTar([file("app-data"), file("app/server.js"), file("usr/bin/node")])).toEqual(tar);
});

test("[IM4] everything in a layer is of the year 1970 and belongs to root, except a folder that names its owner", () => {
  const tar = writeTar([file("etc/passwd"), { type: "folder", path: "var/data", mode: 0o750, owner: 65532 }]);
  const headers = headersOf(tar);
  expect(new Set(headers.map(({ time }) => time))).toEqual(new Set(["00000000000"]));
  expect(headers.filter(({ owner }) => owner !== "0000000")).toEqual([
    { name: "var/data/", mode: "0000750", owner: "0177774", time: "00000000000" },
  ]);
});

test("[IM4] files of a layer can be read by everybody, and only those that say so can be run", () => {
  const tar = writeTar([file("plain"), { ...file("program"), mode: 0o755 } as Entry]);
  expect(headersOf(tar).map(({ mode }) => mode)).toEqual(["0000644", "0000755"]);
});

test("[IM4] two entries with one path are refused, because their order would decide", () => {
  expect(() => writeTar([file("a", "one"), file("a", "other")])).toThrow("Two entries of one archive have the path a.");
});

test("[IM4] an archive that was written is read again, long paths included", () => {
  const long = `${"folder/".repeat(20)}file.js`;
  const link: Entry = { type: "link", path: "lib/libc.so", target: "libc.so.6" };
  const entries = readTar(writeTar([file(long, "long"), link, file("empty", "")]));
  expect([...entries.keys()]).toEqual(["empty", long, "lib/libc.so"]);
  expect(entries.get(long)).toEqual(file(long, "long"));
  expect(entries.get("lib/libc.so")).toEqual(link);
});

test("[IM4] a path that does not fit into a header is refused", () => {
  expect(() => writeTar([file("x".repeat(101))])).toThrow("The path is too long for a tar archive");
});

test("[IM5] an archive that ends in the middle of a file is refused", () => {
  const tar = writeTar([file("a", "content")]);
  expect(() => readTar(tar.subarray(0, 515))).toThrow("The archive ends in the middle of a file.");
});
