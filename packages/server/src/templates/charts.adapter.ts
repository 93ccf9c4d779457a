import { createHash } from "node:crypto";
import type { ChartInspection } from "@binnacle/contract";
import type { Clock } from "../clock.ts";
import { isDeeperThan } from "../http/body.ts";
import { AddressRefused, type Fetch, Unreachable } from "../outbound/fetch.adapter.ts";
import { ArchiveProblem, chartFiles } from "./chart-archive.ts";
import { type ChartSource, ChartUnknown } from "./chart-source.ts";
import { newestFirst } from "./chart-version.ts";
import { IndexProblem } from "./helm-index.ts";
import { helmSource } from "./helm-repository.adapter.ts";
import { ociSource } from "./oci.adapter.ts";
import { inferSchema } from "./value-schema.ts";
import { readYamlApart, YamlProblem } from "./yaml-apart.adapter.ts";

export interface Charts {
  /** Throws ChartUnknown, AddressRefused and Unreachable. */
  inspect(repo: string, name: string, version?: string): Promise<ChartInspection>;
}

const KEPT_FOR_MS = 60 * 60 * 1000;
const MOST_KEPT = 50;
const LARGEST_FILE_BYTES = 512 * 1024;
const LARGEST_README_CHARACTERS = 256 * 1024;
const DEEPEST_NESTING = 64;

interface Kept {
  readonly at: number;
  readonly chart: Promise<ChartInspection>;
}

/** Keeps what it has read for an hour: charts of a version do not change, and repositories count requests. */
export function createCharts(fetch: Fetch, clock: Clock): Charts {
  const kept = new Map<string, Kept>();

  function keep(key: string, chart: Promise<ChartInspection>): Promise<ChartInspection> {
    const [oldest] = kept.keys();
    if (kept.size >= MOST_KEPT && oldest !== undefined) kept.delete(oldest);
    kept.set(key, { at: clock().getTime(), chart });
    // A failure is nobody's to keep: the next one asks again.
    chart.catch(() => kept.delete(key));
    return chart;
  }

  return {
    inspect(repo, name, version) {
      const key = JSON.stringify([repo, name, version]);
      const known = kept.get(key);
      if (known && clock().getTime() - known.at < KEPT_FOR_MS) return known.chart;
      kept.delete(key);
      return keep(key, inspect(fetch, repo, name, version));
    },
  };
}

async function inspect(fetch: Fetch, repo: string, name: string, version?: string): Promise<ChartInspection> {
  const url = URL.parse(repo);
  if (!url?.host || !/^(https?|oci):$/.test(url.protocol)) {
    throw new AddressRefused("The repository must begin with https://, http:// or oci://");
  }
  // A chart's name is one step of a path, whatever a user writes.
  if (/[/\\]/.test(name)) throw new ChartUnknown();
  try {
    const read = url.protocol === "oci:" ? ociSource : helmSource;
    return await opened(await read(fetch, repo, name, version));
  } catch (error) {
    if (error instanceof ArchiveProblem) throw new Unreachable(`the chart's archive is not usable: ${error.message}`);
    if (error instanceof IndexProblem) throw new Unreachable(`its index is not usable: ${error.message}`);
    if (error instanceof YamlProblem) throw new Unreachable(`the chart is not usable: ${error.message}`);
    throw error;
  }
}

const FILES = ["Chart.yaml", "values.yaml", "values.schema.json", "README.md"];

async function opened({ version, versions, archive, digest }: ChartSource): Promise<ChartInspection> {
  if (digest && createHash("sha256").update(archive).digest("hex") !== digest.replace(/^sha256:/, "")) {
    throw new Unreachable("the chart's archive is not what the index says it is");
  }
  const files = await chartFiles(archive, FILES);
  const textOf = (name: string) => {
    const file = files.get(name);
    if (file && file.length > LARGEST_FILE_BYTES) throw new ArchiveProblem(`${name} is too large`);
    return file?.toString("utf8") ?? null;
  };
  const metadata = await mapOf(textOf("Chart.yaml"));
  if (typeof metadata["name"] !== "string") throw new ArchiveProblem("it holds no chart");
  const defaults = await mapOf(textOf("values.yaml"));
  const schema = schemaOf(textOf("values.schema.json"));
  const text = (value: unknown) => (typeof value === "string" || typeof value === "number" ? String(value) : null);
  return {
    chart_metadata: {
      name: metadata["name"],
      version: text(metadata["version"]) ?? version,
      description: text(metadata["description"]),
      app_version: text(metadata["appVersion"]),
      versions: newestFirst(versions),
    },
    has_schema: schema !== null,
    schema: schema ?? inferSchema(defaults),
    defaults,
    readme: files.get("README.md")?.toString("utf8").slice(0, LARGEST_README_CHARACTERS) ?? null,
  };
}

async function mapOf(yaml: string | null): Promise<Record<string, unknown>> {
  if (yaml === null) return {};
  const value = (await readYamlApart(yaml)) ?? {};
  if (typeof value !== "object" || Array.isArray(value)) throw new YamlProblem("its YAML is no map");
  if (isDeeperThan(JSON.stringify(value), DEEPEST_NESTING)) throw new YamlProblem("its YAML nests too deeply");
  return value as Record<string, unknown>;
}

/** A schema that is none is as good as none. */
function schemaOf(json: string | null): Record<string, unknown> | null {
  if (json === null || isDeeperThan(json, DEEPEST_NESTING)) return null;
  try {
    const schema: unknown = JSON.parse(json);
    return typeof schema === "object" && schema !== null && !Array.isArray(schema)
      ? (schema as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}
