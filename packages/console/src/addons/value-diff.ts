export interface ValueChange {
  /** The dotted path of the value. */
  readonly path: string;
  /** Undefined where it is not set. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** The values in which two revisions differ, by path. Lists are compared whole, and secrets by their reference. */
export function diffValues(before: unknown, after: unknown): readonly ValueChange[] {
  const old = flat(before);
  const young = flat(after);
  return [...new Set([...old.keys(), ...young.keys()])]
    .filter((path) => old.get(path) !== young.get(path))
    .toSorted((a, b) => a.localeCompare(b))
    .map((path) => ({ path, before: old.get(path), after: young.get(path) }));
}

function flat(value: unknown, path = "", into: Map<string, string> = new Map()): Map<string, string> {
  if (typeof value === "object" && value !== null && !Array.isArray(value) && !("secret_ref" in value)) {
    for (const [key, inner] of Object.entries(value)) flat(inner, path ? `${path}.${key}` : key, into);
  } else if (value !== undefined) into.set(path, shown(value));
  return into;
}

function shown(value: unknown): string {
  if (typeof value === "object" && value !== null && "secret_ref" in value) return "a secret";
  return typeof value === "string" ? value : JSON.stringify(value);
}

interface Component {
  readonly name: string;
  readonly addon_spec?: { readonly instance?: string | undefined } | undefined;
  readonly export_refs?: readonly { readonly component: string }[] | undefined;
  readonly workload_spec?:
    | { readonly env?: readonly { readonly export_ref?: { readonly component: string } | undefined }[] | undefined }
    | undefined;
}

/** The components of apps that use an addon instance of their project: each takes something that it exports. */
export function usersOf<A extends { readonly name: string; readonly components: readonly Component[] }>(
  apps: readonly A[],
  instance: string,
): readonly { readonly app: A; readonly components: readonly string[] }[] {
  return apps.flatMap((app) => {
    // A component of the app with this name hides the instance, unless it stands for it.
    const namesake = app.components.find(({ name }) => name === instance);
    const isHidden = namesake !== undefined && namesake.addon_spec?.instance !== instance;
    const names = new Set(
      app.components.filter(({ addon_spec }) => addon_spec?.instance === instance).map(({ name }) => name),
    );
    if (!isHidden) names.add(instance);
    const takes = (component: Component) =>
      [
        ...(component.export_refs ?? []),
        ...(component.workload_spec?.env ?? []).map(({ export_ref }) => export_ref),
      ].some((reference) => reference !== undefined && names.has(reference.component));
    const components = app.components
      .filter((component) => component.addon_spec?.instance === instance || takes(component))
      .map(({ name }) => name);
    return components.length > 0 ? [{ app, components }] : [];
  });
}
