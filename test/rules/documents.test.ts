import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CLI_VARIABLES } from "../../packages/cli/src/state.ts";
import { VARIABLES as OPERATOR_VARIABLES } from "../../packages/operator/src/config/variables.ts";
import { VARIABLES } from "../../packages/server/src/config.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const read = (file: string) => readFileSync(join(ROOT, file), "utf8");
const pagesIn = (folder: string) =>
  readdirSync(join(ROOT, folder))
    .filter((file) => file.endsWith(".md"))
    .map((file) => `${folder}/${file}`);
const DOCUMENTS = [
  "README.md",
  "CONTRIBUTING.md",
  "docs/spec/README.md",
  "packages/client/README.md",
  "bench/README.md",
  ...["docs", "docs/concepts", "docs/install", "docs/operations"].flatMap(pagesIn),
];

const SCRIPTS = new Set(Object.keys(JSON.parse(read("package.json")).scripts));
/** Read by the tests of the console alone, and by install.sh. */
const OF_OTHERS = ["BINNACLE_PICTURES", "BINNACLE_INSTALL_DIR"];
const NAMES = new Set<string>(
  [...VARIABLES, ...OPERATOR_VARIABLES].map(({ name }) => name).concat(CLI_VARIABLES, OF_OTHERS),
);

test.each(DOCUMENTS)("[SP4] the files, scripts and variables that %s names exist", (document) => {
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

/** The anchors that GitHub gives to the headings of a page. */
const anchorsOf = (page: string) =>
  [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );

test.each(DOCUMENTS)("[SP3111] the sections that %s links to exist", (document) => {
  const links = [...read(document).matchAll(/\]\((?!https?:)([^)#]*)#([^)]+)\)/g)];
  const lost = links.filter(([, page, anchor = ""]) => {
    const target = page ? join(document, "..", page) : document;
    return !anchorsOf(target).includes(anchor);
  });
  expect(lost.map(([link]) => link)).toEqual([]);
});
