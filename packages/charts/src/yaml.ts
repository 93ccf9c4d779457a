import {
  CORE_SCHEMA,
  type ConstructorOptions,
  constructFromEvents,
  defineMappingTag,
  defineScalarTag,
  type Event,
  floatCoreTag,
  mapTag,
  NOT_RESOLVED,
  parseEvents,
  YAMLException,
} from "js-yaml";

/**
 * The only reader of YAML that others wrote: indexes and files of charts, rendered manifests, templates that people send.
 * The library is js-yaml, because it takes time in proportion to the length of any text, gives the nodes as a flat list that
 * can be counted before values are made of it, and knows a limit of depth. Text of our own is read with `yaml`, which keeps
 * comments and positions.
 */

interface YamlLimits {
  /** The most levels, with what aliases stand for. */
  readonly depth: number;
  /** The most nodes, and the most values after aliases are expanded. */
  readonly nodes: number;
  /** The most characters of all texts after aliases are expanded. */
  readonly characters?: number;
  readonly aliases: number;
  /** Helm takes the last one in the files of a chart. Kubernetes refuses them. */
  readonly repeatedKeys?: "last wins";
  /** Kubernetes resolves a merge key after the keys before it, other readers before all of them. */
  readonly mergeKeys?: "refused";
  /** Refuses all tags and anchors, which JSON does not have. */
  readonly likeJson?: boolean;
}

/** Malformed is a text that is not YAML; the others are YAML that is not taken. */
type YamlProblemKind = "malformed" | "refused" | "too deep" | "too large";

/** The message never quotes a value, which may be a secret. */
export class YamlProblem extends Error {
  override readonly name = "YamlProblem";
  readonly kind: YamlProblemKind;
  /** Counted from one. */
  readonly line: number | null;

  constructor(kind: YamlProblemKind, message: string, line: number | null = null) {
    super(message);
    this.kind = kind;
    this.line = line;
  }
}

const { create, has, keys, get, identify } = mapTag;
const safeMap = defineMappingTag("tag:yaml.org,2002:map", {
  ...{ create, has, keys, get, identify },
  addPair: (carrier, key, value) =>
    key === "__proto__" ? "the key __proto__ is not taken" : mapTag.addPair(carrier, key, value),
});
const finiteFloat = defineScalarTag("tag:yaml.org,2002:float", {
  ...floatCoreTag,
  resolve(source, isExplicit, tagName) {
    const value = floatCoreTag.resolve(source, isExplicit, tagName);
    if (value !== NOT_RESOLVED && !Number.isFinite(value)) throw new YamlProblem("refused", "a number must be finite");
    return value;
  },
});
const noMerge = defineScalarTag<never>("tag:yaml.org,2002:merge", {
  implicit: true,
  implicitFirstChars: ["<"],
  resolve(source) {
    if (source !== "<<") return NOT_RESOLVED;
    throw new YamlProblem("refused", "it has a merge key (<<), of which readers make different things");
  },
  identify: () => false,
});
const SCHEMA = CORE_SCHEMA.withTags(safeMap, finiteFloat);
const SCHEMA_WITHOUT_MERGE = SCHEMA.withTags(noMerge);

/** The words of the library for YAML that it understands and does not take. */
const REFUSALS = /^(duplicated mapping key|unknown \w+ tag|.*complex keys|the key __proto__)/;
const LONGEST_REASON = 200;

/** The values of all documents of the text. Throws YamlProblem. */
export function yamlDocuments(text: string, limits: YamlLimits): unknown[] {
  const documents = translated(() => {
    const events = parseEvents(text, { maxDepth: limits.depth });
    if (events.length > limits.nodes) throw new YamlProblem("too large", "it has too many nodes");
    if (limits.likeJson) refuseReferences(events, text);
    return constructFromEvents(events, constructorOptions(text, limits));
  });
  if (text.includes("*")) refuseExcess(documents, limits);
  return documents;
}

const constructorOptions = (source: string, limits: YamlLimits): ConstructorOptions => ({
  source,
  schema: limits.mergeKeys === "refused" ? SCHEMA_WITHOUT_MERGE : SCHEMA,
  maxAliases: limits.aliases,
  json: limits.repeatedKeys === "last wins",
});

function refuseReferences(events: readonly Event[], text: string): void {
  for (const event of events) {
    const found = "anchorStart" in event ? Math.max(event.anchorStart, "tagStart" in event ? event.tagStart : -1) : -1;
    if (found === -1) continue;
    const what = "tagStart" in event ? (event.tagStart === found ? "tags" : "anchors") : "aliases";
    throw new YamlProblem("refused", `${what} are not taken`, text.slice(0, found).split("\n").length);
  }
}

function translated<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof YamlProblem) throw error;
    if (!(error instanceof YAMLException)) throw new YamlProblem("malformed", "it is not YAML");
    // The message of the library quotes the text.
    const reason = error.reason.slice(0, LONGEST_REASON);
    const line = error.mark ? error.mark.line + 1 : null;
    if (reason.startsWith("nesting exceeded")) throw new YamlProblem("too deep", reason, line);
    if (reason.startsWith("aliases")) throw new YamlProblem("too large", reason, line);
    throw new YamlProblem(REFUSALS.test(reason) ? "refused" : "malformed", reason, line);
  }
}

interface Size {
  readonly values: number;
  readonly characters: number;
  readonly height: number;
}

const WITHOUT_END: Size = { values: Number.POSITIVE_INFINITY, characters: 0, height: 0 };

/** A few lines of aliases can stand for more than fits into memory, or for something that holds itself. */
function refuseExcess(documents: readonly unknown[], { depth: deepest, nodes, characters }: YamlLimits): void {
  const known = new Map<object, Size>();
  const sizeOf = (value: unknown, depth: number): Size => {
    if (typeof value !== "object" || value === null) {
      return { values: 1, characters: typeof value === "string" ? value.length : 0, height: 0 };
    }
    let size = known.get(value) ?? null;
    if (!size) {
      if (depth > deepest) throw new YamlProblem("too deep", "its aliases nest too deeply");
      known.set(value, WITHOUT_END);
      size = sumOf(Object.values(value), (inner) => sizeOf(inner, depth + 1));
      known.set(value, size);
    }
    if (depth + size.height > deepest) throw new YamlProblem("too deep", "its aliases nest too deeply");
    return size;
  };
  const whole = sumOf(documents, (document) => sizeOf(document, 1));
  if (whole.values > nodes || whole.characters > (characters ?? Number.POSITIVE_INFINITY)) {
    throw new YamlProblem("too large", "its aliases stand for too much");
  }
}

function sumOf(parts: readonly unknown[], sizeOf: (part: unknown) => Size): Size {
  let [values, characters, height] = [1, 0, 0];
  for (const part of parts) {
    const size = sizeOf(part);
    values += size.values;
    characters += size.characters;
    height = Math.max(height, size.height);
  }
  return { values, characters, height: height + 1 };
}
