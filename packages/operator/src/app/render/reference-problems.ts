import type { DesiredComponent } from "@binnacle/contract";
import { publisherOf } from "./publishers.ts";
import type { AppSpec, Invalid, Surroundings } from "./rendering.ts";

const KEYS_NAMED = 10;

interface Reference {
  readonly to: string;
  readonly key: string | undefined;
  /** The field that says so. */
  readonly field: string;
}

function referencesOf({ export_refs = [], workload_spec }: DesiredComponent): Reference[] {
  return [
    ...export_refs.map(({ component: to, key }, index) => ({ to, key, field: `export_refs[${index}]` })),
    ...(workload_spec?.env ?? []).flatMap(({ name, export_ref }) =>
      export_ref
        ? [{ to: export_ref.component, key: export_ref.key, field: `the export_ref of variable ${name}` }]
        : [],
    ),
  ];
}

/** What a component says about others that are not there, or do not have what it asks of them. */
export function referenceProblems(component: DesiredComponent, app: AppSpec, around: Surroundings): Invalid[] {
  const names = new Set(app.components.map(({ name }) => name));
  const strangers = (component.depends_on ?? []).filter((name) => !names.has(name));
  return [
    ...strangers.map(
      (name): Invalid => ({
        invalid: "UnknownComponent",
        message: `Component ${component.name} names ${name} in depends_on, but the app has no such component.`,
      }),
    ),
    ...referencesOf(component).flatMap((reference) => referenceProblem(component.name, reference, app, around)),
  ];
}

function referenceProblem(from: string, { to, key, field }: Reference, app: AppSpec, around: Surroundings): Invalid[] {
  const publisher = publisherOf(to, app, around);
  if (!publisher) {
    const way = around.instances.has(to)
      ? ` Add a component ${to} of type addon with addon_spec.instance ${to} to use the addon instance of this name.`
      : "";
    const message = `Component ${from} names ${to} in ${field}, but the app has no such component.${way}`;
    return [{ invalid: "UnknownComponent", message }];
  }
  if (key === undefined || publisher.keys.includes(key)) return [];
  const has = publisher.keys.slice(0, KEYS_NAMED).join(", ") || "nothing";
  const message = `Component ${from} asks for ${key} of ${to} in ${field}, but ${to} exports ${has}.`;
  return [{ invalid: "UnknownExport", message }];
}
