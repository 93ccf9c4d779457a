import { YamlProblem, yamlDocuments } from "@binnacle/charts/reading";
import { isRecord } from "../kube/managed-fields.ts";
import type { Fields } from "../kube/object-fields.ts";

/**
 * Reads the text of a chart's objects as Kubernetes does, and refuses all that the two could read differently: an object
 * that is not seen here would be installed without having been inspected.
 */

export class UnreadableManifest extends Error {
  override readonly name = "UnreadableManifest";
}

/** Kubernetes begins a new line at these, and YAML 1.2 does not: the rest of a comment would be a field. */
const OTHER_LINE_BREAKS = /[\r\u0085\u2028\u2029]/;
/** Kubernetes skips a byte order mark at the beginning of any line. */
const BYTE_ORDER_MARK = /^\ufeff/gm;
const SEPARATOR = /^---(.*)$/;
/** Of one document, with lists and what is in them. An alias repeats a list without its text. */
const MOST_OBJECTS = 10_000;
/** A manifest of the longest that Helm stores has fewer nodes. */
const LIMITS = { depth: 100, nodes: 4_000_000, aliases: 1_000, mergeKeys: "refused" } as const;

/** The documents of a manifest, parted as Kubernetes parts them. */
export function documentsIn(manifest: string): string[] {
  const documents: string[][] = [[]];
  for (const line of manifest.split(/\r?\n/)) {
    const separator = SEPARATOR.exec(line.trimEnd());
    if (separator) documents.push([]);
    else documents.at(-1)?.push(line);
    if (separator && !/^\s*(#|$)/.test(separator[1] ?? "")) {
      throw new UnreadableManifest("something stands behind a document separator (---)");
    }
  }
  return documents.map((lines) => lines.join("\n"));
}

/** The objects of one document: none, one, or those of a list. Throws where it cannot be read. */
export function objectsIn(document: string): Fields[] {
  if (OTHER_LINE_BREAKS.test(document)) {
    throw new UnreadableManifest("it has a line break other than a line feed (CR, NEL, LS or PS)");
  }
  const values = parsed(document.replace(BYTE_ORDER_MARK, ""));
  if (values.length > 1) throw new UnreadableManifest("a document ends before its text does");
  const [value = null] = values;
  if (value === null) return [];
  if (!isRecord(value)) throw new UnreadableManifest("a document is not an object");
  return flattened(value);
}

function parsed(document: string): unknown[] {
  try {
    return yamlDocuments(document, LIMITS);
  } catch (error) {
    throw error instanceof YamlProblem ? new UnreadableManifest(error.message) : error;
  }
}

/** An object with a list `items` is a list, whatever its kind. What is in it may have the kind and version of the list. */
function flattened(document: Fields): Fields[] {
  const objects: Fields[] = [];
  const pending: Fields[] = [document];
  for (let at = 0; at < pending.length; at += 1) {
    if (pending.length > MOST_OBJECTS)
      throw new UnreadableManifest(`a document holds more than ${MOST_OBJECTS} objects`);
    const object = pending[at] ?? {};
    const { items, kind, apiVersion } = object;
    if (!Array.isArray(items)) {
      objects.push(object);
      continue;
    }
    const inherited = typeof kind === "string" ? { apiVersion, kind: kind.replace(/List$/, "") } : {};
    for (const item of items) {
      if (!isRecord(item)) throw new UnreadableManifest("a list holds something that is not an object");
      pending.push(item["kind"] ? item : { ...item, ...inherited });
    }
  }
  return objects;
}
