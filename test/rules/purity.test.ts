import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const SERVER = new URL("../../packages/server/src/", import.meta.url).pathname;
const FOLDERS = ["dispatch", "hub"];
const SUFFIXED = /\.(adapter|fixture|runner|store|test)\.ts$/;

/** The forms in which a file reaches the clock, a timer, randomness, I/O or SQL by itself. */
const IMPURE: readonly (readonly [string, RegExp])[] = [
  ["a timer", /\bset(?:Timeout|Interval|Immediate)\(/],
  ["the clock", /\bperformance\.|\bDate\.now\(|\bnew Date\(\)/],
  ["randomness", /\bMath\.random\(|\brandom(?:UUID|Bytes|Int)\(|\bnewId\(/],
  ["I/O", /^import (?!type )[^;]*from "(?:node:(?!crypto")[^"]*|ws|pg|undici|ioredis)"/m],
  ["SQL", /\bsql`|\.(?:selectFrom|insertInto|updateTable|deleteFrom)\(/],
  ["a file that is not pure", /^import (?!type )[^;]*from "\.[^"]*\.(?:adapter|runner|store)\.ts"/m],
];

const impurities = (text: string) => IMPURE.filter(([, pattern]) => pattern.test(text)).map(([name]) => name);

const files = FOLDERS.flatMap((folder) =>
  readdirSync(join(SERVER, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !SUFFIXED.test(file))
    .map((file) => join(folder, file)),
);

test.each(files)("[SP5] %s is pure, as its name says", (file) => {
  expect(impurities(readFileSync(join(SERVER, file), "utf8"))).toEqual([]);
});

test("[SP5] a .store holds SQL, and a .runner holds none", () => {
  const named = (suffix: string) =>
    FOLDERS.flatMap((folder) =>
      readdirSync(join(SERVER, folder))
        .filter((file) => file.endsWith(suffix))
        .map((file) => [file, impurities(readFileSync(join(SERVER, folder, file), "utf8")).includes("SQL")] as const),
    );
  expect(named(".store.ts").filter(([, hasSql]) => !hasSql)).toEqual([]);
  expect(named(".runner.ts").filter(([, hasSql]) => hasSql)).toEqual([]);
});

test.each([
  ["setTimeout(run, 5)", "a timer"],
  ["const now = performance.now();", "the clock"],
  ["const id = newId();", "randomness"],
  ['import { readFile } from "node:fs/promises";', "I/O"],
  ['db.selectFrom("apps")', "SQL"],
  ['import { admit } from "./session.store.ts";', "a file that is not pure"],
])("[SP5] %s is found", (text, name) => {
  expect(impurities(text)).toEqual([name]);
});
