import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { type ArchivedFile, archiveOf } from "@binnacle/charts";
import { parse, stringify } from "yaml";
import type { OperatorImage } from "../clusters/connection.ts";
import { productVersion } from "../product-version.adapter.ts";

/** A chart as a Helm repository offers it, in one version. */
export interface Chart {
  readonly name: string;
  readonly version: string;
  readonly fileName: string;
  readonly archive: Buffer;
  /** The repository's `index.yaml`, with this chart in it. */
  readonly index: string;
  readonly readme: string;
}

/** The operator's chart, and the image that its release is to run where that is not the chart's default. */
export interface OperatorChart extends Chart {
  readonly image: OperatorImage | null;
}

const METADATA = "Chart.yaml";

/** The chart has the version of the product, so that it is the one that was tested with this control plane. */
async function packChart(files: readonly ArchivedFile[], version: string): Promise<Chart> {
  const metadata = { ...parse(textOf(files, METADATA)), version, appVersion: version };
  const name: string = metadata.name;
  const packed = files.map(({ path, content }) => ({
    path: `${name}/${path}`,
    content: path === METADATA ? Buffer.from(stringify(metadata)) : content,
  }));
  const archive = await archiveOf(packed);
  const fileName = `${name}-${version}.tgz`;
  const digest = createHash("sha256").update(archive).digest("hex");
  const index = stringify({ apiVersion: "v1", entries: { [name]: [{ ...metadata, digest, urls: [fileName] }] } });
  return { name, version, fileName, archive, index, readme: textOf(files, "README.md") };
}

function textOf(files: readonly ArchivedFile[], path: string): string {
  const file = files.find((candidate) => candidate.path === path);
  if (!file) throw new Error(`The chart has no ${path}.`);
  return file.content.toString("utf8");
}

const CHARTS = fileURLToPath(new URL("../../../../deploy/charts/", import.meta.url));

/** Packs the operator's chart once, at the start. */
export const loadOperatorChart = async (image: OperatorImage | null = null): Promise<OperatorChart> => ({
  ...(await loadChart("binnacle-operator")),
  image,
});

/** Packs a chart of the release. */
export async function loadChart(name: "binnacle" | "binnacle-operator"): Promise<Chart> {
  const folder = join(CHARTS, name);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(async (entry) => {
      const path = join(entry.parentPath, entry.name);
      return { path: relative(folder, path).split(sep).join("/"), content: await readFile(path) };
    });
  return packChart(await Promise.all(files), await productVersion());
}
