import { type ArchivedFile, packFiles, unpackChart } from "./archive.ts";
import { ArchiveProblem } from "./problems.ts";

/** A chart as Helm is given it. */
export interface HelmChart {
  readonly archive: Buffer;
  /** A schema in it names another document, which Helm would read from the network or from our disk. */
  readonly refersOutside: boolean;
}

/** Charts within charts. */
const DEEPEST_CHARTS = 5;
const LARGEST_UNPACKED_BYTES = 128 * 1024 * 1024;

/**
 * The chart, unpacked and packed again. So Helm sees the very files that were looked at here: two programs may read one
 * archive differently, and a schema that only Helm sees would send it anywhere.
 */
export async function helmChart(archive: Buffer): Promise<HelmChart> {
  let [room, refersOutside] = [LARGEST_UNPACKED_BYTES, false];

  async function again(packed: Buffer, depth: number): Promise<Buffer> {
    if (depth > DEEPEST_CHARTS) throw new ArchiveProblem("charts nest too deeply in it");
    const files: ArchivedFile[] = [];
    for (const { path, content } of await unpackChart(packed)) {
      room -= content.length;
      if (room < 0) throw new ArchiveProblem("it unpacks to too much");
      refersOutside ||= isSchema(path) && !isSelfContained(content.toString("utf8"));
      files.push({ path, content: isChartWithin(path) ? await again(content, depth + 1) : content });
    }
    return packFiles(files, { level: 1 });
  }

  return { archive: await again(archive, 1), refersOutside };
}

const isSchema = (path: string) => path.endsWith("values.schema.json");
const isChartWithin = (path: string) => /(^|\/)charts\/[^/]+\.tgz$/.test(path);

const REFERENCES = new Set(["$ref", "$dynamicRef", "$recursiveRef"]);
/** Known to every validator, so that none fetches them. */
const KNOWN_DIALECT = /^https?:\/\/json-schema\.org\/(draft-0[4-7]|draft\/2019-09|draft\/2020-12)\/schema#?$/;

/** Whether a JSON Schema is checked without another document. One that cannot be read is not said to be. */
export function isSelfContained(text: string): boolean {
  let schema: unknown;
  try {
    schema = JSON.parse(text);
  } catch {
    return false;
  }
  // A list instead of recursion: a schema may nest as deeply as it is long.
  for (const open = [schema]; open.length > 0; ) {
    const value = open.pop();
    if (typeof value !== "object" || value === null) continue;
    for (const [key, inner] of Object.entries(value)) {
      if (typeof inner === "object") open.push(inner);
      else if (REFERENCES.has(key) && !String(inner).startsWith("#")) return false;
      else if (key === "$schema" && !KNOWN_DIALECT.test(String(inner))) return false;
    }
  }
  return true;
}
