import { readdir, readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { type Chart, packChart } from "./chart.ts";

const SHIPPED = fileURLToPath(new URL("../../../../deploy/charts/binnacle-operator", import.meta.url));
const PACKAGE = new URL("../../package.json", import.meta.url);

/** The operator's chart, packed once, at the start. */
export async function loadOperatorChart(): Promise<Chart> {
  const { version } = JSON.parse(await readFile(PACKAGE, "utf8")) as { version: string };
  const entries = await readdir(SHIPPED, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(async (entry) => {
      const path = join(entry.parentPath, entry.name);
      return { path: relative(SHIPPED, path).split(sep).join("/"), content: await readFile(path) };
    });
  return packChart(await Promise.all(files), version);
}
