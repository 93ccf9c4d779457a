import { isDeeperThan, isSteep, marksIn } from "@binnacle/charts/reading";
import type { StackTemplateContent, ValidationItem } from "@binnacle/contract";
import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  LineCounter,
  parseAllDocuments,
  visit,
  type YAMLMap,
} from "yaml";

/** Equal to the limit of the contract, which is not loaded on this thread. */
export const LARGEST_YAML_CHARACTERS = 128 * 1024;
const DEEPEST_NESTING = 64;
const MOST_MARKS = 40_000;

/** The result of reading YAML: the content, its problems, or the reason why it is refused as harmful. */
export type YamlReading =
  | { readonly kind: "value"; readonly value: unknown }
  | { readonly kind: "malformed"; readonly msg: string }
  | { readonly kind: "refused"; readonly msg: string };

const refused = (msg: string): YamlReading => ({ kind: "refused", msg });

/** Crafted text can take long; `readers.adapter.ts` bounds that. */
export function readYaml(text: string): YamlReading {
  if (text.length > LARGEST_YAML_CHARACTERS)
    return refused(`YAML should have at most ${LARGEST_YAML_CHARACTERS} characters`);
  if (isSteep(text)) return refused(`YAML must not nest deeper than ${DEEPEST_NESTING}`);
  if (marksIn(text) > MOST_MARKS) return refused(`YAML must not have more than ${MOST_MARKS} nodes`);
  const lines = new LineCounter();
  // The library compares all pairs of keys; `repeatedKey` does so in one pass.
  const options = { lineCounter: lines, prettyErrors: false, uniqueKeys: false, logLevel: "error" } as const;
  const [document, ...more] = parseAllDocuments(text, options) as Document.Parsed[];
  if (!document) return { kind: "malformed", msg: "The YAML is empty" };
  if (more.length > 0) return refused("YAML must be one document");
  const [error] = document.errors;
  if (error) return { kind: "malformed", msg: `Line ${lines.linePos(error.pos[0]).line}: ${error.message}` };
  const hazard = hazardIn(document);
  if (hazard) return refused(`Line ${lines.linePos(hazard.offset).line}: ${hazard.msg}`);
  const value: unknown = document.toJS();
  return isDeeperThan(JSON.stringify(value) ?? "", DEEPEST_NESTING)
    ? refused(`YAML must not nest deeper than ${DEEPEST_NESTING}`)
    : { kind: "value", value };
}

/** Aliases can expand a small text without bound, and JSON has no equivalent of tags. */
function hazardIn(document: Document): { readonly offset: number; readonly msg: string } | null {
  let found: { offset: number; msg: string } | null = null;
  visit(document, (_key, node) => {
    const msg = hazardOf(node);
    if (msg === null) return undefined;
    found = { offset: isNode(node) ? (node.range?.[0] ?? 0) : 0, msg };
    return visit.BREAK;
  });
  return found;
}

function hazardOf(node: unknown): string | null {
  if (isAlias(node)) return "aliases are not taken";
  if (isPair(node))
    return isScalar(node.key) && node.key.value === "__proto__" ? "the key __proto__ is not taken" : null;
  if (!isNode(node)) return null;
  if ("anchor" in node && node.anchor) return "anchors are not taken";
  if (node.tag !== undefined) return "tags are not taken";
  if (isMap(node)) return repeatedKey(node);
  return isScalar(node) && typeof node.value === "number" && !Number.isFinite(node.value)
    ? "a number must be finite"
    : null;
}

/** Keys are compared as strings: `1` and `"1"` are equal. */
function repeatedKey({ items }: YAMLMap): string | null {
  const keys = new Set<string>();
  for (const { key } of items) {
    if (!isScalar(key)) return "a key must be text";
    if (keys.has(String(key.value))) return "a key is given twice";
    keys.add(String(key.value));
  }
  return null;
}

/** The part of the form that contains the YAML. */
export type YamlPart = "file" | "yaml_content";

/** Locates problems of the content in the part of the form. */
export const itemsIn = (part: YamlPart, items: readonly ValidationItem[]): ValidationItem[] =>
  items.map(({ loc, ...item }) => ({ ...item, loc: ["body", part, ...loc.slice(1)] }));

/** The namespace of the form overrides the one in the text. */
export function withNamespace(content: unknown, namespace: string | undefined): unknown {
  if (namespace === undefined || typeof content !== "object" || content === null || Array.isArray(content))
    return content;
  return { ...content, namespace } satisfies Partial<StackTemplateContent>;
}
