import { type App, type AppComponent, type ComponentInput, Invalid } from "@binnacle/client";
import { pathInFile } from "@binnacle/manifest/patch";
import { type AppManifest, type Path, readApps, type TextProblem, toYaml } from "@binnacle/manifest/read";

/** A component as people edit it: all that the API takes. */
export type ComponentForm = ComponentInput;

/**
 * An app as people edit it. The form and the YAML beside it are two views of this one value. The YAML is a `binnacle.yaml`, as
 * `apps deploy` takes it, so that it can be moved between the two.
 */
export type AppForm = AppManifest;

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

/** The form as the text of a file. */
export function formText({ name, project, description, components }: AppForm): string {
  return toYaml({
    name,
    ...(project === undefined ? {} : { project }),
    ...(description === null ? {} : { description }),
    components,
  });
}

export type FromYaml =
  | { readonly form: AppForm; readonly problems: readonly [] }
  | { readonly form: null; readonly problems: readonly TextProblem[] };

const LONGEST_TEXT = 1_000_000;

/** Reads the one app of a text. */
export function fromYaml(text: string): FromYaml {
  const refused = (message: string) => ({ form: null, problems: [{ from: 0, to: 0, message, path: [] }] });
  if (text.length > LONGEST_TEXT) return refused("The text is longer than 1 MB.");
  const { apps, problems } = readApps(text);
  if (problems.length > 0) return { form: null, problems };
  const [app, second] = apps;
  if (!app) return refused("An app is a mapping with name and components.");
  if (second) return refused("The text holds several apps, and one is edited here.");
  const { document: _, ...form } = app;
  return { form, problems: [] };
}

export interface FormProblem {
  readonly path: Path;
  readonly message: string;
}

/** The fields that the API names in a 422, as paths in the form. The indexes of a request of changes are translated. */
export function problemsOf(error: unknown, indexes: readonly (number | null)[] | null): readonly FormProblem[] {
  if (!(error instanceof Invalid)) return [];
  return error.items.map(({ loc, msg }) => ({ path: pathInFile(loc.slice(1), indexes), message: msg }));
}

/** The form with one component replaced. */
export const withComponent = (form: AppForm, index: number, component: ComponentForm): AppForm => ({
  ...form,
  components: form.components.map((each, at) => (at === index ? component : each)),
});

/** A component with one field of its workload set; undefined removes it. A field that is there keeps its place in the text. */
export function withWorkloadField(component: ComponentForm, field: string, value: unknown): ComponentForm {
  const set = Object.entries({ ...component.workload_spec, [field]: value }).filter(([, each]) => each !== undefined);
  return { ...component, workload_spec: Object.fromEntries(set) } as ComponentForm;
}

/** The fields of a component that the form does not show; people edit them in the text. */
const IN_THE_FORM = ["kind", "image", "replicas", "ports", "env", "resources", "volumes", "ingress", "schedule"];
const BESIDE = ["name", "type", "depends_on", "workload_spec", "secrets"];

export function fieldsBeyondForm(component: ComponentForm): readonly string[] {
  const spec = Object.keys(component.workload_spec ?? {}).filter((key) => !IN_THE_FORM.includes(key));
  const own = Object.keys(component).filter((key) => !BESIDE.includes(key));
  return [...own, ...spec];
}
