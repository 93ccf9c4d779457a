import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { VARIABLES } from "../../packages/server/src/config/variables.ts";

const GUIDE = new URL("../../docs/operations/configuration.md", import.meta.url);

const shown = (fallback: string | null) => (fallback ? `\`${fallback}\`` : "none");
const rows = VARIABLES.map(({ name, fallback, meaning }) => `| \`${name}\` | ${shown(fallback)} | ${meaning} |`);

test("[CF11] the operations guide lists every variable with its default and its meaning, and no other", () => {
  const listed = readFileSync(GUIDE, "utf8")
    .split("\n")
    .filter((line) => line.startsWith("| `"));
  expect(listed).toEqual(rows);
});

test("[CF11] every variable has a name of its own, and each but three begins with BINNACLE_", () => {
  const names = VARIABLES.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names.filter((name) => !name.startsWith("BINNACLE_"))).toEqual([
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "DATABASE_URL",
    "REDIS_URL",
  ]);
});
