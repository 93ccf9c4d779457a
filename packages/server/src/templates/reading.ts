import {
  ArchiveProblem,
  CHART_READINGS,
  chartFiles,
  jsonSize,
  LARGEST_FILE_BYTES,
  ReadingProblem,
  YamlProblem,
  yamlDocuments,
} from "@binnacle/charts/reading";
import type { ChartInspection } from "@binnacle/contract";
import { inferSchema } from "./chart-schema.ts";
import { answerQuestion, type PatternQuestion } from "./pattern.ts";
import { readYaml } from "./template-yaml.ts";

type ChartContent = Omit<ChartInspection, "chart_metadata"> & {
  readonly metadata: Pick<ChartInspection["chart_metadata"], "name" | "description" | "app_version"> & {
    readonly version: string | null;
  };
};

const DEEPEST_NESTING = 64;
const ALIASED = { depth: DEEPEST_NESTING, aliases: 100, repeatedKeys: "last wins" } as const;
/** Large enough for a file of half a megabyte that consists mostly of comments. */
const CHART_LIMITS = { ...ALIASED, nodes: 100_000, characters: 1024 * 1024 };
const CATALOG_LIMITS = { ...ALIASED, nodes: 400_000, characters: 4 * 1024 * 1024 };
const LARGEST_SCHEMA_VALUES = 50_000;
const LARGEST_README_CHARACTERS = 256 * 1024;
const LONGEST_METADATA = 4096;

/**
 * Readings of untrusted input that can take long or much memory. They run on a worker thread, which is terminated at a
 * deadline; see `readers.adapter.ts`.
 */
export const READINGS = {
  ...CHART_READINGS,
  template: readYaml,
  patterns: (questions: readonly PatternQuestion[]) => questions.map(answerQuestion),
  templateCatalog: (bytes: Uint8Array) => yamlValue(asBuffer(bytes).toString("utf8"), CATALOG_LIMITS),
  chart: readChart,
};

/** A buffer arrives on the thread as plain bytes. */
const asBuffer = ({ buffer, byteOffset, length }: Uint8Array) => Buffer.from(buffer, byteOffset, length);

const FILES = ["Chart.yaml", "values.yaml", "values.schema.json", "README.md"] as const;

async function readChart(archive: Uint8Array): Promise<ChartContent> {
  const files = await chartFiles(archive, FILES);
  const fileText = (name: (typeof FILES)[number]) => {
    const file = files.get(name);
    if (file && file.length > LARGEST_FILE_BYTES) throw new ArchiveProblem(`${name} is too large`);
    return file?.toString("utf8") ?? null;
  };
  const metadata = mapOf(fileText("Chart.yaml"));
  if (typeof metadata["name"] !== "string") throw new ArchiveProblem("it holds no chart");
  const defaults = mapOf(fileText("values.yaml"));
  const schema = schemaOf(fileText("values.schema.json"));
  // It imports the schemas of the contract, which the other readings do not need.
  const { secretPathsIn } = await import("./chart-schema.ts");
  const text = (value: unknown) =>
    typeof value === "string" || typeof value === "number" ? String(value).slice(0, LONGEST_METADATA) : null;
  return {
    metadata: {
      name: metadata["name"].slice(0, LONGEST_METADATA),
      version: text(metadata["version"]),
      description: text(metadata["description"]),
      app_version: text(metadata["appVersion"]),
    },
    has_schema: schema !== null,
    schema: schema ?? inferSchema(defaults),
    secret_values: secretPathsIn(schema),
    defaults,
    readme: files.get("README.md")?.toString("utf8").slice(0, LARGEST_README_CHARACTERS) ?? null,
  };
}

function mapOf(yaml: string | null): Record<string, unknown> {
  if (yaml === null) return {};
  const value = yamlValue(yaml, CHART_LIMITS) ?? {};
  if (typeof value !== "object" || Array.isArray(value)) throw new ReadingProblem("its YAML is not a map");
  return value as Record<string, unknown>;
}

/** Parses YAML to a JSON value. A few aliases are accepted, as they occur in values of charts. */
function yamlValue(text: string, limits: Parameters<typeof yamlDocuments>[1]): unknown {
  try {
    const [value = null, ...more] = yamlDocuments(text, limits);
    if (more.length === 0) return value;
  } catch (error) {
    if (!(error instanceof YamlProblem)) throw error;
    if (error.kind === "too deep") throw new ReadingProblem("its YAML nests too deeply");
    if (error.kind === "too large") throw new ReadingProblem("its YAML holds too much");
  }
  throw new ReadingProblem("its YAML cannot be read");
}

/** Returns null for an invalid or oversized schema. */
function schemaOf(json: string | null): Record<string, unknown> | null {
  if (json === null) return null;
  const { depth, values } = jsonSize(json, DEEPEST_NESTING);
  if (depth > DEEPEST_NESTING || values > LARGEST_SCHEMA_VALUES) return null;
  try {
    const schema: unknown = JSON.parse(json);
    return typeof schema === "object" && schema !== null && !Array.isArray(schema)
      ? (schema as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}
