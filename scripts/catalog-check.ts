import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type AddonDefinition, loadCatalog } from "../packages/server/src/catalog/catalog.adapter.ts";
import { findings, releasesOf, unknownValues, valuesOf } from "./catalog-findings.ts";

/**
 * Renders every offered version of every addon's chart with Helm and compares it with the addon's definition. Takes the
 * folder that holds the charts with their dependencies, each as `<chart>-<version>.tgz`, as `helm pull` writes it, or
 * unpacked as `<chart>-<version>`. A chart that is not there is a failure, because nothing was checked.
 */
const { positionals } = parseArgs({ allowPositionals: true });
const [folder] = positionals;
if (folder === undefined) {
  process.stderr.write("Name the folder with the charts: npm run catalog:check -- <folder>\n");
  process.exit(2);
}
const HELM = process.env["HELM_BIN"] ?? join(homedir(), ".cache/binnacle/kube/bin/helm");

function problemsOf(definition: AddonDefinition, version: string): string[] {
  const base = join(folder ?? "", `${definition.chart.name}-${version}`);
  const chart = [base, `${base}.tgz`].find((path) => existsSync(path));
  if (chart === undefined) return [`not checked: there is neither ${base} nor ${base}.tgz`];
  try {
    const shown = helm(["show", "chart", chart]);
    if (!shown.split("\n").some((line) => line.replace(/["']/g, "").trim() === `version: ${version}`)) {
      return [`${chart} is a chart of another version`];
    }
    const unknown = unknownValues(definition, helm(["show", "values", chart]));
    const different = releasesOf(definition).flatMap((release) => {
      const args = ["template", release.name, chart, "--namespace", release.namespace, "--values", "-"];
      const found = findings(definition, release, helm(args, JSON.stringify(valuesOf(definition))));
      return found.map((problem) => `as release ${release.name}: ${problem}`);
    });
    return [...unknown, ...different];
  } catch (error) {
    return [`helm fails: ${(error as { stderr?: string }).stderr?.trim() || (error as Error).message}`];
  }
}

const helm = (args: readonly string[], input = ""): string =>
  execFileSync(HELM, args, { input, encoding: "utf8", maxBuffer: 64 << 20, stdio: ["pipe", "pipe", "pipe"] });

const { addons } = await loadCatalog();
let failures = 0;
for (const definition of addons) {
  for (const version of definition.chart.versions) {
    const problems = problemsOf(definition, version);
    if (problems.length > 0) failures += 1;
    process.stdout.write(
      `${problems.length > 0 ? "✗" : "✓"} ${definition.name}: ${definition.chart.name} ${version}\n`,
    );
    for (const problem of problems) process.stdout.write(`    ${problem}\n`);
  }
}
process.exitCode = failures > 0 ? 1 : 0;
