import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * `scripts/ci-summary.ts <folder with Vitest's JSON reports>` counts each test once, however many suites have run it: it has
 * failed where it failed in any of them, and passed where it passed in one and failed in none. The failed ones are named at the end,
 * where they are found in an output of a thousand lines.
 */
interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

const [folder = "."] = process.argv.slice(2);
const outcomes = new Map<string, Set<string>>();
for (const file of readdirSync(folder).filter((name) => name.endsWith(".json"))) {
  const { testResults } = JSON.parse(readFileSync(join(folder, file), "utf8")) as Report;
  for (const { name, assertionResults } of testResults) {
    // Suites run from several clones.
    const path = name.replace(/^.*?\/(?=(?:packages|test)\/)/, "");
    for (const { fullName, status } of assertionResults) {
      const key = `${path} ${fullName}`;
      outcomes.set(key, (outcomes.get(key) ?? new Set()).add(status));
    }
  }
}

const counts = { passed: 0, failed: 0, skipped: 0 };
for (const [test, statuses] of outcomes) {
  if (statuses.has("failed")) process.stdout.write(`FAILED ${test}\n`);
  if (statuses.has("failed")) counts.failed += 1;
  else if (statuses.has("passed")) counts.passed += 1;
  else counts.skipped += 1;
}
process.stdout.write(`Tests: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`);
