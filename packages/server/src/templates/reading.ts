import {
  ArchiveProblem,
  type ChartChoice,
  chartFiles,
  chooseVersion,
  type IndexAnswer,
  IndexProblem,
  type IndexQuestion,
  LARGEST_FILE_BYTES,
  readIndex,
  type VersionQuestion,
} from "@binnacle/charts/reading";
import type { ChartInspection, RegistryTemplate } from "@binnacle/contract";
import { parse } from "yaml";
import { jsonSize } from "../http/body.ts";
import { answerQuestion, type PatternAnswer, type PatternQuestion } from "./pattern.ts";
import { marksIn, readYaml, type YamlReading } from "./template-yaml.ts";
import { inferSchema } from "./value-schema.ts";

/**
 * The readings of what strangers have written that can take long, or much memory. They run on a thread of their own,
 * which is ended at a deadline; see `readers.adapter.ts`.
 */
export interface Readings {
  template: { given: string; read: YamlReading };
  patterns: { given: readonly PatternQuestion[]; read: PatternAnswer[] };
  registry: { given: Uint8Array; read: RegistryTemplate[] };
  index: { given: IndexQuestion; read: IndexAnswer };
  versions: { given: VersionQuestion; read: ChartChoice };
  /** Of the packed chart. */
  chart: { given: Uint8Array; read: ChartContent };
}
export type ReadingKind = keyof Readings;

export type ChartContent = Omit<ChartInspection, "chart_metadata"> & {
  readonly metadata: Pick<ChartInspection["chart_metadata"], "name" | "description" | "app_version"> & {
    readonly version: string | null;
  };
};

/** What keeps it from being read, in words that go on after "it cannot be read: ". */
export class ReadingProblem extends Error {
  override readonly name = "ReadingProblem";
}

interface Limits {
  /** In the YAML; see `marksIn`. */
  readonly marks: number;
  /** In what it says, its aliases written out. */
  readonly values: number;
  readonly characters: number;
}

/** A file of half a megabyte, most of which mostly are comments. */
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
  async registry(bytes) {
    const document = yamlValue(asBuffer(bytes).toString("utf8"), REGISTRY_LIMITS);
    // It brings the schemas of the contract along, which the other readings do without.
    const { templatesIn } = await import("./registry-templates.ts");
    return templatesIn(document) ?? noList();
  },
  index: readIndex,
  versions: chooseVersion,
  chart: readChart,
};

/** A thread gets the bytes of a buffer without its methods. */
const asBuffer = ({ buffer, byteOffset, length }: Uint8Array) => Buffer.from(buffer, byteOffset, length);

function noList(): never {
  throw new ReadingProblem("its answer is no list of templates");
}

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
  // It brings the schemas of the contract along, which the other readings do without.
  const { secretPathsIn } = await import("./chart-secrets.ts");
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

/** As JSON has it. A few aliases are taken, as people write them in the values of charts. */
function yamlValue(text: string, most: Limits): unknown {
  if (marksIn(text) > most.marks) throw new ReadingProblem("its YAML holds too much");
  const json = JSON.stringify(parsed(text) ?? null);
  const { depth, values } = jsonSize(json, DEEPEST_NESTING);
  if (depth > DEEPEST_NESTING) throw new ReadingProblem("its YAML nests too deeply");
  if (values > most.values || json.length > most.characters) throw new ReadingProblem("its YAML holds too much");
  return JSON.parse(json);
}

function parsed(text: string): unknown {
  try {
    return parse(text, { maxAliasCount: MOST_ALIASES, uniqueKeys: false, logLevel: "error" });
  } catch {
    throw new ReadingProblem("its YAML cannot be read");
  }
}

/** A schema that is none, or too large to be shown, is as good as none. */
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

/** Which of our own classes a problem is, so that it can be told on the other side of a thread. */
export const PROBLEMS = { ReadingProblem, ArchiveProblem, IndexProblem };
export type ProblemKind = keyof typeof PROBLEMS;
