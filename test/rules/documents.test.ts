import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CLI_VARIABLES } from "../../packages/cli/src/state.ts";
import { VARIABLES as OPERATOR_VARIABLES } from "../../packages/operator/src/config/variables.ts";
import { VARIABLES } from "../../packages/server/src/config.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const read = (file: string) => readFileSync(join(ROOT, file), "utf8");
const operations = readdirSync(join(ROOT, "docs/operations")).map((file) => `docs/operations/${file}`);
const DOCUMENTS = [
  "README.md",
  "CONTRIBUTING.md",
  "docs/spec/README.md",
  "docs/cli.md",
  "docs/client.md",
  "docs/curl.md",
  "packages/client/README.md",
  "bench/README.md",
  ...operations,
];

const SCRIPTS = new Set(Object.keys(JSON.parse(read("package.json")).scripts));
const NAMES = new Set<string>([...VARIABLES, ...OPERATOR_VARIABLES].map(({ name }) => name).concat(CLI_VARIABLES));

test.each(DOCUMENTS)("[SP4] what %s names exists", (document) => {
  const text = read(document);
  const paths = [...text.matchAll(/`((?:packages|docs|test|bench|scripts|catalog|deploy|\.ci)\/[\w./-]*)`/g)].map(
    (m) => m[1] ?? "",
  );
  const links = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map((m) => join(document, "..", m[1] ?? ""));
  expect([...paths, ...links].filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);

  const scripts = [...text.matchAll(/npm run ([\w:-]+)/g)].map((m) => m[1] ?? "");
  expect(scripts.filter((script) => !SCRIPTS.has(script))).toEqual([]);

  const variables = [...text.matchAll(/\bBINNACLE_[A-Z_]+\b/g)].map((m) => m[0]);
  expect(variables.filter((variable) => !NAMES.has(variable))).toEqual([]);
});
