import type { ChartInspection, Input, TemplateParameter } from "@binnacle/client";

/** A value of a chart, or a map of values. */
export interface ChartNode {
  readonly key: string;
  /** The dotted path, by which a value is promoted. */
  readonly path: string;
  readonly children: readonly ChartNode[];
  /** The default in words; empty for a map. */
  readonly preset: string;
  readonly isSecret: boolean;
  /** Whether it may become a parameter: one value, which the path leads to without doubt. */
  readonly canPromote: boolean;
}

/** The default values of a chart as a tree. Lists are one node, because parameters hold single values. */
export function treeOf({
  defaults,
  secret_values,
}: Pick<ChartInspection, "defaults" | "secret_values">): readonly ChartNode[] {
  const secrets = new Set(secret_values);
  const nodes = (values: Readonly<Record<string, unknown>>, above: string, isSound: boolean): readonly ChartNode[] =>
    Object.entries(values).map(([key, value]) => {
      const path = above ? `${above}.${key}` : key;
      // A key with a dot in it cannot be told from two keys.
      const isReached = isSound && key !== "" && !key.includes(".");
      const isMap = typeof value === "object" && value !== null && !Array.isArray(value);
      const isList = Array.isArray(value);
      return {
        key,
        path,
        children: isMap ? nodes(value as Readonly<Record<string, unknown>>, path, isReached) : [],
        preset: isMap ? (Object.keys(value).length === 0 ? "{}" : "") : JSON.stringify(value),
        isSecret: secrets.has(path),
        canPromote: isReached && !isMap && !isList,
      };
    });
  return nodes(defaults, "", true);
}

/** The tree with only those values whose path or default holds the text, and the maps around them. */
export function treeWith(nodes: readonly ChartNode[], text: string): readonly ChartNode[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return nodes;
  return nodes.flatMap((node) => {
    const children = treeWith(node.children, text);
    const isHit = `${node.path} ${node.preset}`.toLowerCase().includes(wanted);
    if (isHit) return [node];
    return children.length > 0 ? [{ ...node, children }] : [];
  });
}

export interface Promoted {
  readonly path: string;
  readonly name: string;
  readonly type: TemplateParameter["type"];
  readonly description: string;
  readonly required: boolean;
}

/** A value as a parameter: named after the last parts of its path, and of the type of its default. */
export function promoted(node: ChartNode, usedNames: readonly string[]): Promoted {
  return { path: node.path, name: nameOf(node.path, usedNames), type: typeOf(node), description: "", required: false };
}

function nameOf(path: string, usedNames: readonly string[]): string {
  const parts = path.split(".").map((part) => part.replace(/[^A-Za-z0-9_]/g, "_"));
  const candidates = parts.map((_, index) => valid(parts.slice(parts.length - 1 - index).join("_")));
  const numbered = Array.from({ length: usedNames.length + 1 }, (_, index) => valid(`${parts.at(-1)}_${index + 2}`));
  return [...candidates, ...numbered].find((name) => !usedNames.includes(name)) ?? valid(path);
}

/** A name begins with a letter or an underscore, and has at most 63 characters. */
const valid = (name: string): string => (/^[A-Za-z_]/.test(name) ? name : `p_${name}`).slice(0, 63);

function typeOf({ preset, isSecret }: ChartNode): TemplateParameter["type"] {
  if (isSecret) return "secret";
  const value = JSON.parse(preset) as unknown;
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value === "boolean" ? "boolean" : "string";
}

/** Why the parameters cannot be sent, by path: names that are wrong or given twice. */
export function promotionProblems(all: readonly Promoted[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    all.flatMap(({ path, name }) => {
      if (!/^[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(name))
        return [[path, "A name has letters, digits and underscores, and begins with a letter."]];
      return all.filter((other) => other.name === name).length > 1 ? [[path, "Another parameter has this name."]] : [];
    }),
  );
}

/** The parameters as they are sent. The server takes type and default from the chart where they are left out. */
export function parametersOf(
  all: readonly Promoted[],
): NonNullable<Input<"createStackTemplateFromChart">["body"]["parameters"]> {
  return all.map(({ path, name, type, description, required }) => ({
    path,
    name,
    type,
    ...(description ? { description } : {}),
    ...(required ? { required } : {}),
  }));
}

/** The values of the chart component as they will be in the template: placeholders where values were promoted. */
export function previewValues(all: readonly Promoted[]): Readonly<Record<string, unknown>> {
  const values: Record<string, unknown> = {};
  for (const { path, name } of all) {
    const steps = path.split(".");
    const last = steps.pop() ?? "";
    let inner = values;
    for (const step of steps) {
      const next = Object.hasOwn(inner, step) ? (inner[step] as Record<string, unknown>) : {};
      Object.defineProperty(inner, step, { value: next, enumerable: true, configurable: true, writable: true });
      inner = next;
    }
    Object.defineProperty(inner, last, { value: `\${${name}}`, enumerable: true, configurable: true, writable: true });
  }
  return values;
}
