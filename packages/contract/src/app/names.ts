import type { WorkloadSpec } from "./component.ts";

/** Names of objects contain the app's and the component's, and with what Kubernetes appends they stay within 63 characters. */
export const LONGEST_NAMES_TOGETHER = 52;

/** A name of an object in the cluster, with the component that it belongs to. */
export interface ObjectName {
  readonly name: string;
  readonly component: string;
}

interface Named {
  readonly name: string;
  readonly workload_spec?: Pick<WorkloadSpec, "kind" | "volumes">;
}

/**
 * Returns the names of the objects that the components become in the cluster, as far as they can be equal to those of
 * another component: that of the workload and its Service, that of the headless Service, and those of the claims. Claims
 * are objects of their own kind, so they are told apart by a prefix.
 */
export function objectNames(appName: string, components: readonly Named[]): ObjectName[] {
  return components.flatMap(({ name: component, workload_spec }) => {
    const base = `${appName}-${component}`;
    const headless = workload_spec?.kind === "statefulset" ? [`${base}-headless`] : [];
    // The claims of a StatefulSet begin with the name of the volume.
    const volumes = workload_spec?.kind === "statefulset" ? [] : (workload_spec?.volumes ?? []);
    const claims = volumes.map(({ name }) => `volume ${base}-${name}`);
    return [base, ...headless, ...claims].map((name) => ({ name, component }));
  });
}

/** Returns an object of one of the other apps that has one of the names. */
export function findSharedName(
  others: readonly { readonly name: string; readonly components: readonly Named[] }[],
  wanted: readonly ObjectName[],
): { readonly app: string; readonly owner: ObjectName; readonly wanted: ObjectName } | null {
  const byName = new Map(wanted.map((name) => [name.name, name]));
  for (const { name: app, components } of others) {
    for (const owner of objectNames(app, components)) {
      const same = byName.get(owner.name);
      if (same) return { app, owner, wanted: same };
    }
  }
  return null;
}
