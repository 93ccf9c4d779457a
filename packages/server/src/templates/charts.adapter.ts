import {
  ArchiveProblem,
  type ChartAddress,
  type ChartSource,
  ChartUnusable,
  chartFiles,
  type Fetch,
  newestFirst,
  pullChart,
  type RepositoryCredential,
  readYamlApart,
  YamlProblem,
} from "@binnacle/charts";
import type { ChartInspection } from "@binnacle/contract";
import type { Clock } from "../clock.ts";
import { isDeeperThan } from "../http/body.ts";
import { secretPathsIn } from "./chart-secrets.ts";
import { inferSchema } from "./value-schema.ts";

/** With what an organization reads repositories. */
export interface ChartAccess {
  /** Changes with the credentials: what was read with some is not shown to whoever has others. */
  readonly stamp: string;
  readonly credentials: readonly RepositoryCredential[];
}

export const ANONYMOUS: ChartAccess = { stamp: "", credentials: [] };

export interface Charts {
  /** Throws AddressRefused, Unreachable, ChartUnknown and ChartUnusable. */
  inspect(chart: ChartAddress, access?: ChartAccess): Promise<ChartInspection>;
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
    inspect({ repo, name, version }, access = ANONYMOUS) {
      const key = JSON.stringify([repo, name, version, access.stamp]);
      const known = kept.get(key);
      if (known && clock().getTime() - known.at < KEPT_FOR_MS) return known.chart;
      kept.delete(key);
      return keep(key, inspect(fetch, { repo, name, version }, access));
    },
  };
}

async function inspect(fetch: Fetch, chart: ChartAddress, { credentials }: ChartAccess): Promise<ChartInspection> {
  try {
    return await opened(await pullChart(fetch, chart, credentials));
  } catch (error) {
    if (error instanceof ArchiveProblem) throw new ChartUnusable(`the chart's archive is not usable: ${error.message}`);
    if (error instanceof YamlProblem) throw new ChartUnusable(`the chart is not usable: ${error.message}`);
    throw error;
  }
}

const FILES = ["Chart.yaml", "values.yaml", "values.schema.json", "README.md"];

async function opened({ version, versions, archive }: ChartSource): Promise<ChartInspection> {
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
    secret_values: secretPathsIn(schema),
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
