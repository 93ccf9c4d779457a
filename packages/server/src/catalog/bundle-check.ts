import { BundleManifest } from "@binnacle/contract";
import type { Kind, Problem } from "./catalog-file.ts";

export const BUNDLES: Kind<typeof BundleManifest> = {
  schema: BundleManifest,
  nameOf: ({ bundle }) => bundle,
  problems: (manifest) => [...pinProblems(manifest), ...twiceProblems(manifest), ...osProblems(manifest)],
};

/** A chart without a repository, or the reverse, cannot be installed. */
function pinProblems({ core, profiles }: BundleManifest): Problem[] {
  const groups = [
    { path: ["core"], pins: core },
    ...Object.entries(profiles).map(([name, { components }]) => ({
      path: ["profiles", name, "components"],
      pins: components,
    })),
  ];
  return groups.flatMap(({ path, pins }) =>
    Object.entries(pins)
      .filter(([, { chart, repo }]) => (chart === undefined) !== (repo === undefined))
      .map(([key]) => ({ path: [...path, key], message: "has only one of chart and repo" })),
  );
}

/** A component is named by its key alone, so the key must lead to one pin. */
function twiceProblems({ core, profiles }: BundleManifest): Problem[] {
  const seen = new Map(Object.keys(core).map((key) => [key, "the core"]));
  return Object.entries(profiles).flatMap(([name, { components }]) =>
    Object.keys(components).flatMap((key) => {
      const elsewhere = seen.get(key);
      seen.set(key, `the profile ${name}`);
      return elsewhere ? [{ path: ["profiles", name, "components", key], message: `is also in ${elsewhere}` }] : [];
    }),
  );
}

function osProblems({ os }: BundleManifest): Problem[] {
  const names = os.supported.map(({ name }) => name);
  return names.flatMap((name, index) =>
    names.indexOf(name) < index ? [{ path: ["os", "supported", index], message: `names ${name} again` }] : [],
  );
}
