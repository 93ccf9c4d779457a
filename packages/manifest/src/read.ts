import { type ComponentInput, renameExportRefs } from "@binnacle/client";
import { type Document, isMap, parseAllDocuments, stringify, visit } from "yaml";

export type Fields = Readonly<Record<string, unknown>>;
export type Path = readonly (string | number)[];

/** One app of a `binnacle.yaml`. */
export interface AppManifest {
  readonly name: string;
  /** The name of the project; only in files, because an app cannot be moved. */
  readonly project?: string | undefined;
  readonly description: string | null;
  readonly components: readonly ComponentInput[];
}

/** A mistake in a text, at its place there. */
export interface TextProblem {
  readonly from: number;
  readonly to: number;
  readonly message: string;
  /** The field, where the mistake is about one. */
  readonly path: Path;
}

export interface ReadApp extends AppManifest {
  /** Which of the documents of the text it is. */
  readonly document: number;
}

export type Read =
  | { readonly apps: readonly ReadApp[]; readonly problems: readonly [] }
  | { readonly apps: readonly []; readonly problems: readonly TextProblem[] };

type Variables = Readonly<Record<string, string | undefined>>;

/** Reads the apps of a text. The API checks the fields; checked here is what is needed to ask it. */
export function readApps(text: string, variables: Variables | null = null): Read {
  const apps: ReadApp[] = [];
  const problems: TextProblem[] = [];
  documentsIn(text).forEach((document, index) => {
    if (document.contents === null && document.errors.length === 0) return;
    const found: TextProblem[] = [];
    const value = parsedValue(document, variables, found);
    const at = placesOf(document, text);
    if (found.length === 0) found.push(...mistakesIn(value).map(([path, message]) => ({ ...at(path), message, path })));
    if (found.length > 0) problems.push(...found);
    else apps.push({ ...appOf(value as AppManifest), document: index });
  });
  return problems.length > 0 ? { apps: [], problems } : { apps, problems: [] };
}

export const documentsIn = (text: string): readonly Document.Parsed[] => {
  const documents = parseAllDocuments(text, { prettyErrors: false });
  return Array.isArray(documents) ? documents : [];
};

/** Puts the reasons into `problems` where the document has no value. */
function parsedValue(document: Document.Parsed, variables: Variables | null, problems: TextProblem[]): unknown {
  for (const { message, pos } of document.errors)
    problems.push({ from: pos[0], to: Math.max(pos[0], pos[1]), message, path: [] });
  if (problems.length === 0 && variables) problems.push(...substitute(document, variables));
  if (problems.length > 0) return null;
  try {
    return document.toJS();
  } catch (error) {
    // Aliases that refer to each other over and over would fill the memory.
    problems.push({ from: 0, to: 0, message: error instanceof Error ? error.message : String(error), path: [] });
    return null;
  }
}

function appOf({ name, project, description, components }: AppManifest): AppManifest {
  for (const component of components) renameExportRefs(component);
  return { name, ...(project ? { project } : {}), description: description ?? null, components };
}

const KNOWN = ["name", "project", "description", "components"];
const isText = (value: unknown) => value === undefined || value === null || typeof value === "string";

function mistakesIn(value: unknown): readonly (readonly [Path, string])[] {
  if (!isFields(value)) return [[[], "An app is a mapping with name and components."]];
  const { name, project, description, components } = value;
  const mistakes: (readonly [Path, string])[] = Object.keys(value)
    .filter((key) => !KNOWN.includes(key))
    .map((key) => [[key], "There is no such field; name, project, description and components are known."]);
  if (typeof name !== "string" || name === "") mistakes.push([["name"], "An app needs a name."]);
  if (!isText(project)) mistakes.push([["project"], "A project is named by a text."]);
  if (!isText(description)) mistakes.push([["description"], "A description is a text."]);
  if (!Array.isArray(components)) return [...mistakes, [["components"], "An app needs a list of components."]];
  const names = new Set<unknown>();
  components.forEach((component: unknown, index) => {
    if (!isFields(component) || typeof component["name"] !== "string")
      mistakes.push([["components", index], "A component is a mapping with a name."]);
    else if (names.has(component["name"]))
      mistakes.push([["components", index, "name"], "Another component has this name already."]);
    else names.add(component["name"]);
  });
  return mistakes;
}

/** Finds the place of a field in a document of the text: the field itself, or the nearest one around it that is there. */
export const placesIn = (text: string, index = 0) => placesOf(documentsIn(text)[index], text);

function placesOf(document: Document.Parsed | undefined, text: string) {
  return (path: Path): { readonly from: number; readonly to: number } => {
    for (let length = path.length; document && length > 0; length--) {
      const steps = path.slice(0, length);
      const holder: unknown = length > 1 ? document.getIn(steps.slice(0, -1), true) : document.contents;
      // The key shows better than the value, which may be long.
      const pair = isMap(holder) ? holder.items.find(({ key }) => String(key) === String(steps.at(-1))) : undefined;
      const node = (pair?.key ?? document.getIn(steps, true)) as { range?: readonly number[] } | undefined;
      const [from, to] = node?.range ?? [];
      if (from !== undefined && to !== undefined) return { from, to };
    }
    const from = document?.contents?.range?.[0] ?? 0;
    return { from, to: text.indexOf("\n", from) + 1 || text.length };
  };
}

export const lineAt = (text: string, offset: number): number => text.slice(0, offset).split("\n").length;

const VARIABLE = /\$(\$\{)|\$\{([A-Z_][A-Z0-9_]*)\}/g;

/**
 * Fills in `${NAME}` in scalars, after the file was parsed, so that a value cannot become other YAML. Lower-case names
 * belong to exports and templates and stay; `$${` is the text `${`. Returns the variables that are not set.
 */
function substitute(document: Document.Parsed, variables: Variables): TextProblem[] {
  const problems: TextProblem[] = [];
  visit(document, {
    Scalar(key, node) {
      if (key === "key" || typeof node.value !== "string" || !node.value.includes("${")) return;
      const isWhole = /^\$\{[A-Z_][A-Z0-9_]*\}$/.test(node.value) && node.type === "PLAIN";
      const filled = node.value.replace(VARIABLE, (_, escaped: string | undefined, name: string) => {
        if (escaped) return escaped;
        const [from = 0, to = from] = node.range ?? [];
        if (variables[name] === undefined)
          problems.push({ from, to, message: `The variable ${name} is not set.`, path: [] });
        return variables[name] ?? "";
      });
      // Without quotes it may be meant as a number, as in `replicas: ${REPLICAS}`.
      node.value = isWhole && /^(0|[1-9]\d{0,14}|true|false)$/.test(filled) ? JSON.parse(filled) : filled;
    },
  });
  return problems;
}

/** A value as the text of a file. */
export const toYaml = (value: unknown): string => stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
