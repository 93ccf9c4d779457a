import { MAX_SECRETS, type ValidationItem } from "@binnacle/contract";

/** The path of a secret is `component/key`. Neither part can contain a slash. */
export const secretPath = (component: string, key: string) => `${component}/${key}`;

/** Returns the keys of one component. */
export function keysOf(paths: readonly string[], component: string): string[] {
  const start = secretPath(component, "");
  return paths.filter((path) => path.startsWith(start)).map((path) => path.slice(start.length));
}

/**
 * Changes of an app's secrets: first all secrets of some components are removed, then single keys are set or removed.
 */
export interface SecretChanges {
  readonly dropped: ReadonlySet<string>;
  /** Values by component and key; null removes the secret. */
  readonly values: ReadonlyMap<string, ReadonlyMap<string, string | null>>;
}

export const NO_SECRET_CHANGES: SecretChanges = { dropped: new Set(), values: new Map() };

export const setSecrets = (component: string, values: Readonly<Record<string, string | null>>): SecretChanges => ({
  dropped: new Set(),
  values: new Map([[component, new Map(Object.entries(values))]]),
});

export const dropSecrets = (components: Iterable<string>): SecretChanges => ({
  dropped: new Set(components),
  values: new Map(),
});

/** Combines two changes that are applied one after the other. */
export function combineSecretChanges(first: SecretChanges, second: SecretChanges): SecretChanges {
  const values = new Map(first.values);
  for (const component of second.dropped) values.delete(component);
  for (const [component, keys] of second.values) {
    values.set(component, new Map([...(values.get(component) ?? []), ...keys]));
  }
  return { dropped: new Set([...first.dropped, ...second.dropped]), values };
}

export function secretPathsAfter(paths: readonly string[], { dropped, values }: SecretChanges): string[] {
  const after = new Set(paths.filter((path) => !dropped.has(componentOf(path))));
  for (const [component, keys] of values) {
    for (const [key, value] of keys) {
      if (value === null) after.delete(secretPath(component, key));
      else after.add(secretPath(component, key));
    }
  }
  return [...after].sort();
}

/** The secrets of a component become one Secret in its cluster, which limits their number. */
export function tooManySecrets(paths: readonly string[]): ValidationItem[] {
  const counts = new Map<string, number>();
  for (const path of paths) counts.set(componentOf(path), (counts.get(componentOf(path)) ?? 0) + 1);
  return [...counts]
    .filter(([, count]) => count > MAX_SECRETS)
    .map(([name]) => ({ loc: ["body"], msg: `${name} would have more than ${MAX_SECRETS} secrets`, type: "too_long" }));
}

/** Names the changed secrets for the deployment. A component whose secrets were all removed is named as `component/`. */
export const changedSecretPaths = ({ dropped, values }: SecretChanges): string[] =>
  [
    ...[...dropped].map((component) => secretPath(component, "")),
    ...[...values].flatMap(([component, keys]) => [...keys.keys()].map((key) => secretPath(component, key))),
  ].sort();

export const componentOf = (path: string) => path.slice(0, path.indexOf("/"));
