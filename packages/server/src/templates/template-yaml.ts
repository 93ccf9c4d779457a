import { YamlProblem, yamlDocuments } from "@binnacle/charts/reading";
import type { StackTemplateContent, ValidationItem } from "@binnacle/contract";

/** Equal to the limit of the contract, which is not loaded on this thread. */
export const LARGEST_YAML_CHARACTERS = 128 * 1024;
/** Aliases can expand a small text without bound, and JSON has no equivalent of tags. */
const LIMITS = { depth: 64, nodes: 40_000, aliases: 0, likeJson: true };

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
  try {
    const [value, ...more] = yamlDocuments(text, LIMITS);
    if (more.length > 0) return refused("YAML must be one document");
    return value === undefined ? { kind: "malformed", msg: "The YAML is empty" } : { kind: "value", value };
  } catch (error) {
    if (!(error instanceof YamlProblem)) throw error;
    if (error.kind === "too deep") return refused(`YAML must not nest deeper than ${LIMITS.depth}`);
    if (error.kind === "too large") return refused(`YAML must not have more than ${LIMITS.nodes} nodes`);
    const place = error.line === null ? "" : `Line ${error.line}: `;
    return { kind: error.kind, msg: `${place}${TEXTS.get(error.message) ?? error.message}` };
  }
}

/** For people who do not know the terms of the parser. */
const TEXTS = new Map([
  ["duplicated mapping key", "a key is given twice"],
  ["object-based map does not support complex keys", "a key must be text"],
]);

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
