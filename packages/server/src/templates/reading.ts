import {
  ArchiveProblem,
  type ChartChoice,
  chartFiles,
  chooseVersion,
  type IndexAnswer,
  IndexProblem,
  type IndexQuestion,
  isSteep,
  jsonSize,
  LARGEST_FILE_BYTES,
  marksIn,
  readIndex,
  type VersionQuestion,
} from "@binnacle/charts/reading";
import type { ChartInspection } from "@binnacle/contract";
import { parse } from "yaml";
import { inferSchema } from "./chart-schema.ts";
import { answerQuestion, type PatternAnswer, type PatternQuestion } from "./pattern.ts";
import { readYaml, type YamlReading } from "./template-yaml.ts";

/**
 * Readings of untrusted input that can take long or much memory. They run on a worker thread, which is terminated at a
 * deadline; see `readers.adapter.ts`.
 */
export interface Readings {
  template: { given: string; read: YamlReading };
  patterns: { given: readonly PatternQuestion[]; read: PatternAnswer[] };
  registry: { given: Uint8Array; read: unknown };
  index: { given: IndexQuestion; read: IndexAnswer };
  versions: { given: VersionQuestion; read: ChartChoice };
  /** The input is the packed chart. */
  chart: { given: Uint8Array; read: ChartContent };
}
export type ReadingKind = keyof Readings;

export type ChartContent = Omit<ChartInspection, "chart_metadata"> & {
  readonly metadata: Pick<ChartInspection["chart_metadata"], "name" | "description" | "app_version"> & {
    readonly version: string | null;
  };
};

/** The reason continues "it cannot be read: ". */
export class ReadingProblem extends Error {
  override readonly name = "ReadingProblem";
}

interface Limits {
  /** The most marks in the YAML; see `marksIn`. */
  readonly marks: number;
  /** The most values after aliases are expanded. */
  readonly values: number;
  readonly characters: number;
}

/** Large enough for a file of half a megabyte that consists mostly of comments. */
const CHART_LIMITS: Limits = { marks: 100_000, values: 50_000, characters: 1024 * 1024 };
const REGISTRY_LIMITS: Limits = { marks: 400_000, values: 200_000, characters: 4 * 1024 * 1024 };
const DEEPEST_NESTING = 64;
const LARGEST_README_CHARACTERS = 256 * 1024;
const LONGEST_METADATA = 4096;
const MOST_ALIASES = 100;

export const READINGS: {
  [K in ReadingKind]: (given: Readings[K]["given"]) => Readings[K]["read"] | Promise<Readings[K]["read"]>;
} = {
  template: readYaml,
  patterns: (questions) => questions.map(answerQuestion),
  registry: (bytes) => yamlValue(asBuffer(bytes).toString("utf8"), REGISTRY_LIMITS),
  index: readIndex,
  versions: chooseVersion,
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
  if (typeof value !== "object" || Array.isArray(value)) throw new ReadingProblem("its YAML is no map");
  return value as Record<string, unknown>;
}

/** Parses YAML to a JSON value. A few aliases are accepted, as they occur in values of charts. */
function yamlValue(text: string, most: Limits): unknown {
  if (isSteep(text)) throw new ReadingProblem("its YAML nests too deeply");
  if (marksIn(text) > most.marks) throw new ReadingProblem("its YAML holds too much");
  const value = parsed(text) ?? null;
  spendOn(value, { values: most.values, characters: most.characters });
  return value;
}

/**
 * Throws where the value is too large or too deep. An alias makes one list appear in many places: it is small in memory
 * and unbounded when it is serialized. The parser's own limit does not detect this if each alias is used a few times.
 */
function spendOn(value: unknown, room: { values: number; characters: number }, depth = 0): void {
  if (depth > DEEPEST_NESTING) throw new ReadingProblem("its YAML nests too deeply");
  room.values--;
  if (typeof value === "string") room.characters -= value.length;
  if (room.values < 0 || room.characters < 0) throw new ReadingProblem("its YAML holds too much");
  if (typeof value !== "object" || value === null) return;
  for (const key in value) {
    if (!Array.isArray(value)) room.characters -= key.length;
    spendOn((value as Record<string, unknown>)[key], room, depth + 1);
  }
}

function parsed(text: string): unknown {
  try {
    return parse(text, { maxAliasCount: MOST_ALIASES, uniqueKeys: false, prettyErrors: false, logLevel: "error" });
  } catch {
    throw new ReadingProblem("its YAML cannot be read");
  }
}

/** Returns null for an invalid or oversized schema. */
function schemaOf(json: string | null): Record<string, unknown> | null {
  if (json === null) return null;
  const { depth, values } = jsonSize(json, DEEPEST_NESTING);
  if (depth > DEEPEST_NESTING || values > CHART_LIMITS.values) return null;
  try {
    const schema: unknown = JSON.parse(json);
    return typeof schema === "object" && schema !== null && !Array.isArray(schema)
      ? (schema as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

/** The problem classes that can be passed between threads. */
export const PROBLEMS = { ReadingProblem, ArchiveProblem, IndexProblem };
export type ProblemKind = keyof typeof PROBLEMS;
