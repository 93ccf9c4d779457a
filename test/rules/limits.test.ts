import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const ROOT = new URL("../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, ROOT), "utf8");
const rows = [
  ...read("docs/operations/limits.md").matchAll(
    /^\| ([^|]+) \| `([^`|]+)` \| (?:`(\w+)`|—) \| `([^`|]+)` `(\w+)` \|$/gm,
  ),
].map(([, limit = "", value = "", setting, file = "", name = ""]) => ({ limit, value, setting, file, name }));

test("[CF298] the page of limits has every row in one form", () => {
  const lines = read("docs/operations/limits.md")
    .split("\n")
    .filter((line) => /^\| [A-Z]/.test(line));
  expect(rows).toHaveLength(lines.length);
});

test.each(rows)("[CF298] the page of limits has the value of the code: $limit", ({ value, setting, file, name }) => {
  const code = read(file);
  const place = code.search(new RegExp(`\\b${name}\\b\\s*[:=]`));
  expect(place, `${name} in ${file}`).toBeGreaterThan(-1);
  const written = code.slice(place, place + (setting ? 200 : name.length + 4 + value.length));
  expect(written).toContain(value);
  if (setting) expect(written).toContain(`"${setting}"`);
});
