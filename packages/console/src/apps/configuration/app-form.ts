import { type App, type AppComponent, type ComponentInput, renameExportRefs } from "@binnacle/client";
import { isMap, LineCounter, parseDocument, stringify } from "yaml";

type Fields = Readonly<Record<string, unknown>>;

/** A component as people edit it: all that the API takes. */
export type ComponentForm = ComponentInput;

/**
 * An app as people edit it. The form and the YAML beside it are two views of this one value. The YAML is a `binnacle.yaml`, as
 * `binnacle apps deploy` takes it, so that it can be moved between the two.
 */
export interface AppForm {
  readonly name: string;
  /** The name of the project; only in files, because an app cannot be moved. */
  readonly project?: string | undefined;
  readonly description: string | null;
  readonly components: readonly ComponentForm[];
}

/** A mistake in the text, at its place there. */
export interface TextProblem {
  readonly from: number;
  readonly to: number;
  readonly message: string;
}

export type Path = readonly (string | number)[];

/** What can be edited of an app. The counts of a paused app read as 0, and come back by themselves, so they are left out. */
export function toForm({
  name,
  description,
  components,
  paused,
}: Pick<App, "name" | "description" | "components" | "paused">): AppForm {
  return { name, description, components: components.map((component) => componentForm(component, paused)) };
}

function componentForm(
  { secrets: _keys, ready_replicas: _ready, ...component }: AppComponent,
  isPaused: boolean,
): ComponentForm {
  if (!isPaused || !component.workload_spec) return component;
  const { replicas: _count, ...workload_spec } = component.workload_spec;
  return { ...component, workload_spec };
}

/** Secrets are written and never read back; where a text is shown to be compared, they are covered. */
export const withCoveredSecrets = (form: AppForm): AppForm => ({
  ...form,
  components: form.components.map((component) =>
    component.secrets
      ? { ...component, secrets: Object.fromEntries(Object.keys(component.secrets).map((key) => [key, "(hidden)"])) }
      : component,
  ),
});

export function toYaml({ name, project, description, components }: AppForm): string {
  const file = {
    name,
    ...(project === undefined ? {} : { project }),
    ...(description === null ? {} : { description }),
    components,
  };
  return stringify(file, { lineWidth: 0, aliasDuplicateObjects: false });
}

export type FromYaml =
  | { readonly form: AppForm; readonly problems: readonly [] }
  | { readonly form: null; readonly problems: readonly TextProblem[] };

const LONGEST_TEXT = 1_000_000;

/** Reads the text. The API checks the fields; checked here is what is needed to ask it. */
export function fromYaml(text: string): FromYaml {
  if (text.length > LONGEST_TEXT) return refused([{ from: 0, to: 0, message: "The text is longer than 1 MB." }]);
  const document = parseDocument(text, { prettyErrors: false });
  if (document.errors.length > 0) {
    return refused(document.errors.map(({ message, pos: [from, to] }) => ({ from, to: Math.max(from, to), message })));
  }
  let value: unknown;
  try {
    value = document.toJS();
  } catch (error) {
    // Aliases that refer to each other over and over would fill the memory.
    return refused([{ from: 0, to: 0, message: error instanceof Error ? error.message : String(error) }]);
  }
  const mistakes = mistakesIn(value);
  if (mistakes.length > 0) {
    const at = placesIn(text);
    return refused(mistakes.map(([path, message]) => ({ ...at(path), message })));
  }
  const {
    name,
    project,
    description = null,
    components,
  } = value as Omit<AppForm, "description"> & { description?: string | null };
  for (const component of components) renameExportRefs(component);
  return {
    form: { name, ...(project === undefined ? {} : { project }), description, components },
    problems: [],
  };
}

const refused = (problems: readonly TextProblem[]): FromYaml => ({ form: null, problems });

const KNOWN = ["name", "project", "description", "components"];

function mistakesIn(value: unknown): readonly (readonly [Path, string])[] {
  if (!isFields(value)) return [[[], "An app is a mapping with name and components."]];
  const { name, project, description, components } = value;
  const mistakes: (readonly [Path, string])[] = Object.keys(value)
    .filter((key) => !KNOWN.includes(key))
    .map((key) => [[key], "There is no such field; name, project, description and components are known."]);
  if (typeof name !== "string" || name === "") mistakes.push([["name"], "An app needs a name."]);
  if (project !== undefined && typeof project !== "string")
    mistakes.push([["project"], "A project is named by a text."]);
  if (description !== undefined && description !== null && typeof description !== "string")
    mistakes.push([["description"], "A description is a text."]);
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

/** Finds the place of a field in the text: the field itself, or the nearest one around it that is there. */
export function placesIn(text: string): (path: Path) => { readonly from: number; readonly to: number } {
  const document = parseDocument(text, { prettyErrors: false, lineCounter: new LineCounter() });
  return (path) => {
    for (let length = path.length; length > 0; length--) {
      const steps = path.slice(0, length);
      const holder: unknown = length > 1 ? document.getIn(steps.slice(0, -1), true) : document.contents;
      // The key shows better than the value, which may be long.
      const pair = isMap(holder) ? holder.items.find(({ key }) => String(key) === String(steps.at(-1))) : undefined;
      const node = (pair?.key ?? document.getIn(steps, true)) as { range?: readonly number[] } | undefined;
      const [from, to] = node?.range ?? [];
      if (from !== undefined && to !== undefined) return { from, to };
    }
    return { from: 0, to: Math.min(text.length, text.indexOf("\n") + 1 || text.length) };
  };
}

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
