import { readdir, readFile, stat } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { AddonDefinitionFile, BundleManifest, StackTemplateFile } from "@binnacle/contract";
import type { Static, TSchema } from "typebox";
import { oldestFirst } from "../bundles/bundle.ts";
import { definitionId, fileReader, type Kind } from "./catalog-file.ts";
import { ADDONS, BUNDLES, TEMPLATES } from "./checks.ts";

export interface AddonDefinition extends AddonDefinitionFile {
  readonly id: string;
}

/** The catalog that ships with Binnacle. Bundles are ordered oldest first, the rest by name. */
export interface Catalog {
  readonly bundles: readonly BundleManifest[];
  readonly addons: readonly AddonDefinition[];
  readonly templates: readonly StackTemplateFile[];
}

export class CatalogProblems extends Error {
  override readonly name = "CatalogProblems";
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(`The catalog is not usable:\n${problems.map((problem) => `  - ${problem}`).join("\n")}`);
    this.problems = problems;
  }
}

export const MOST_FILES = 500;
export const LARGEST_FILE_BYTES = 256 * 1024;

const SHIPPED = fileURLToPath(new URL("../../../../catalog", import.meta.url));

/** Reads the catalog at the start. Throws CatalogProblems with all problems of all files. */
export async function loadCatalog(folder: string = SHIPPED): Promise<Catalog> {
  const problems: string[] = [];
  const load = async <S extends TSchema>(name: string, kind: Kind<S>): Promise<Static<S>[]> => {
    const read = fileReader(kind);
    const files = await filesIn(folder, name, problems);
    const readings = files.map(({ file, text }) => read(file, text));
    problems.push(...readings.flatMap((reading) => reading.problems));
    const entries = readings.flatMap(({ entry }) => (entry === null ? [] : [entry]));
    return entries.toSorted((one, other) => (kind.nameOf(one) < kind.nameOf(other) ? -1 : 1));
  };
  const bundles = await load("bundles", BUNDLES);
  const addons = await load("addons", ADDONS);
  const templates = await load("templates", TEMPLATES);
  if (problems.length > 0) throw new CatalogProblems(problems);
  return {
    bundles: oldestFirst(bundles),
    addons: addons.map((definition) => ({ id: definitionId(definition.name), ...definition })),
    templates,
  };
}

interface CatalogFile {
  readonly file: string;
  readonly text: string;
}

async function filesIn(folder: string, name: string, problems: string[]): Promise<CatalogFile[]> {
  const names = (await readdir(`${folder}/${name}`).catch(() => [])).toSorted();
  if (names.length === 0 || names.length > MOST_FILES) {
    problems.push(`${name}: there must be 1 to ${MOST_FILES} files (there are ${names.length})`);
    return [];
  }
  const found: CatalogFile[] = [];
  for (const fileName of names) {
    const file = `${name}/${fileName}`;
    const text = fileName.endsWith(".yaml") ? await textOf(`${folder}/${file}`) : "it is no .yaml file";
    if (typeof text === "string") problems.push(`${file}: ${text}`);
    else found.push({ file, ...text });
  }
  return found;
}

/** Returns a sentence as a string if the file cannot be read. */
async function textOf(path: string): Promise<{ text: string } | string> {
  try {
    const { size } = await stat(path);
    if (size > LARGEST_FILE_BYTES) return `it is larger than ${LARGEST_FILE_BYTES} bytes`;
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(await readFile(path)) };
  } catch (error) {
    return `it cannot be read (${(error as Error).message})`;
  }
}
