import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const PACKAGES = new URL("../../packages/", import.meta.url).pathname;

/** The suffixes of files that may do more than compute. */
const SUFFIXED = /\.(adapter|command|fixture|reconciler|routes|runner|store|test|worker)\.ts$/;
/** Programs, and what puts them together, name everything they start; migrations are SQL. */
const COMPOSED =
  /^(cli|operator|sandbox|server)\/src\/(main|control-plane|operator|routes|dispatched-kinds|kinds)\.ts$|\/roles\/|\/migrations\/|\/migrate\.ts$|\/index\.ts$/;

/** The forms in which a file reaches the clock, a timer, randomness, I/O or SQL by itself. */
const IMPURE: readonly (readonly [string, RegExp])[] = [
  ["a timer", /\bset(?:Timeout|Interval|Immediate)\(/],
  ["the clock", /\bperformance\.now\(|\bDate\.now\(|\bnew Date\(\)/],
  ["randomness", /\bMath\.random\(|\brandom(?:UUID|Bytes|Int|FillSync)\(/],
  [
    "I/O",
    /^import (?!type )[^;]*from "(?:node:(?:child_process|dgram|dns|fs|http|https|readline|timers|tls|worker_threads)(?:\/promises)?|ws|pg|undici|ioredis)"/m,
  ],
  // Whether a text is an address is a question to the text alone.
  ["sockets", /^import (?!type )(?!\{[^}]*\b(?:isIP|isIPv4|isIPv6|BlockList)\b)[^;]*from "node:net"/m],
  ["the process", /\bprocess\.(?:env|exit|kill|on|once|stdout|stderr|stdin)\b/],
  [
    "SQL",
    /\bsql(?:<[^`]*>)?`|`\s*(?:select\s[^`]*\sfrom|insert into|update\s\S+\sset|delete from)\s|\.(?:selectFrom|insertInto|updateTable|deleteFrom)\(/,
  ],
  ["a file that is not pure", /^import (?!type )[^;]*from "\.[^"]*\.(?:adapter|reconciler|runner|store)\.ts"/m],
];

const withoutComments = (code: string) => code.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|\s)\/\/.*$/gm, "$1");
const impurities = (code: string) =>
  IMPURE.filter(([, pattern]) => pattern.test(withoutComments(code))).map(([name]) => name);

const sources = readdirSync(PACKAGES, { recursive: true, encoding: "utf8" })
  .filter((file) => /^[^/]+\/src\/.*\.tsx?$/.test(file))
  .map((file) => ({ file, code: readFileSync(join(PACKAGES, file), "utf8") }));
const files = sources
  .filter(({ file }) => file.endsWith(".ts"))
  .map(({ file, code }) => ({ file, found: impurities(code) }));

test("[SP5] a file is pure unless its name says otherwise", () => {
  const unsuffixed = files.filter(({ file }) => !SUFFIXED.test(file) && !COMPOSED.test(file));
  expect(unsuffixed.length).toBeGreaterThan(200);
  const impure = unsuffixed.filter(({ found }) => found.length > 0);
  expect(impure.map(({ file, found }) => `${file}: ${found.join(", ")}`)).toEqual([]);
});

test("[SP6] SQL stands only in .store files of the server, and every .store file holds SQL", () => {
  const ofServer = files.filter(({ file }) => file.startsWith("server/") && !COMPOSED.test(file));
  const [stores, others] = [true, false].map((isStore) =>
    ofServer.filter(
      ({ file }) => !/\.(command|fixture|test)\.ts$/.test(file) && file.endsWith(".store.ts") === isStore,
    ),
  );
  expect(stores?.filter(({ found }) => !found.includes("SQL")).map(({ file }) => file)).toEqual([]);
  expect(others?.filter(({ found }) => found.includes("SQL")).map(({ file }) => file)).toEqual([]);
});

/** Libraries that read text of others, or run it apart, with the files that may use them. */
const READERS: readonly (readonly [string, RegExp])[] = [
  ["js-yaml", /^charts\/src\/yaml\.ts$|^operator\/src\/kube\/kubeconfig\.ts$/],
  ["node:worker_threads", /^charts\/src\//],
  [
    "yaml",
    /^(cli|manifest|sandbox)\/src\/|^console\/src\/templates\/create\/|^server\/src\/(catalog\/catalog-file|operator-chart\/operator-chart\.adapter)\.ts$/,
  ],
];

test.each(READERS)("[SP10] %s is imported where its text is bounded, and nowhere else", (library, allowed) => {
  const users = sources.filter(
    ({ file, code }) => !/\.(test|fixture)\.tsx?$/.test(file) && code.includes(`from "${library}"`),
  );
  expect(users.length).toBeGreaterThan(0);
  expect(users.map(({ file }) => file).filter((file) => !allowed.test(file))).toEqual([]);
});

test("[SP11] no other package reaches into the files of the operator past its exports", () => {
  const others = sources.filter(({ file }) => !file.startsWith("operator/"));
  expect(others.filter(({ code }) => /from "[^"]*\/operator\/src\//.test(code)).map(({ file }) => file)).toEqual([]);
});

test.each([
  ["setTimeout(run, 5)", "a timer"],
  ["const now = performance.now();", "the clock"],
  ["const id = randomUUID();", "randomness"],
  ['import { readFile } from "node:fs/promises";', "I/O"],
  ['import { connect } from "node:net";', "sockets"],
  ["process.exit(1)", "the process"],
  ['db.selectFrom("apps")', "SQL"],
  ["sql<{ at: Date }>`select 1`", "SQL"],
  ['import { admit } from "./session.store.ts";', "a file that is not pure"],
])("[SP5] the impurity of %s is found", (code, name) => {
  expect(impurities(code)).toEqual([name]);
});
