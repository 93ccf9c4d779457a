import { execFile, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { startWorld } from "@binnacle/world";
import { afterAll, expect, test } from "vitest";

const ROOT = new URL("../../../", import.meta.url).pathname;
const ADDRESS = "https://binnacle.example.com";
const guide = readFileSync(join(ROOT, "docs/client.md"), "utf8");

/** Each example with the heading it stands under, and what it prints. */
const examples = guide.split(/^## /m).flatMap((section) => {
  const heading = section.slice(0, section.indexOf("\n"));
  const blocks = [...section.matchAll(/^```ts\n([\s\S]*?)^```\n\n^```text\n([\s\S]*?)^```$/gm)];
  return blocks.map(([, code = "", printed = ""], index) => ({ name: `${heading} ${index + 1}`, code, printed }));
});

const fileOf = (index: number) => join(folder, `example-${index}.ts`);

const world = await startWorld();
const folder = mkdtempSync(join(tmpdir(), "binnacle-guide-"));
mkdirSync(join(folder, "node_modules/@binnacle"), { recursive: true });
symlinkSync(join(ROOT, "packages/client"), join(folder, "node_modules/@binnacle/client"));
writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
examples.forEach(({ code }, index) => {
  writeFileSync(fileOf(index), code.replaceAll(ADDRESS, world.url));
});
afterAll(async () => {
  await world.stop();
  rmSync(folder, { recursive: true, force: true });
});

test("[CN29] every block of code in the guide is an example that is run", () => {
  expect(examples.length).toBeGreaterThan(5);
  expect([...guide.matchAll(/^```(?:ts|js|sh)/gm)]).toHaveLength(examples.length);
});

test("[CN29] the examples of the guide pass the type checker", () => {
  const options = {
    extends: join(ROOT, "tsconfig.json"),
    compilerOptions: { typeRoots: [join(ROOT, "node_modules/@types")] },
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ ...options, include: ["*.ts"] }));
  const compiler = join(ROOT, "node_modules/typescript/bin/tsc");
  const { stdout } = spawnSync(process.execPath, [compiler, "-p", folder], { encoding: "utf8" });
  expect(stdout).toBe("");
});

test.each(examples.map((it, index) => [it.name, it, index] as const))(
  "[CN29] the example %s runs and prints what the guide shows",
  async (_, { printed }, index) => {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [fileOf(index)], { timeout: 30_000 });
    expect({ stdout, stderr }).toEqual({ stdout: printed, stderr: "" });
  },
);
