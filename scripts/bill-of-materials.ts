/** The parts of a CycloneDX document that are read here; everything else is passed on as npm wrote it. */
export interface Bill {
  readonly metadata: { readonly component: { readonly "bom-ref": string; readonly name: string } };
  readonly components: readonly { readonly "bom-ref": string; readonly name: string }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

/** What a package.json says about the packages that it needs to run. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/**
 * The bill without what only development needs. `npm sbom --omit dev` cannot be used for that: it also leaves out every
 * package that one workspace needs to run and another one only to be tested, which here is fastify among others.
 * `shipped` are the manifests of the root and of the workspaces that run in production.
 */
export function productionBill(bill: Bill, shipped: readonly Manifest[]): Bill {
  const nameOf = new Map(bill.components.map((component) => [component["bom-ref"], component.name]));
  const manifests = new Map(shipped.map((manifest) => [`${manifest.name}@${manifest.version}`, manifest]));

  /** A workspace's edges in the bill include those to its development tools, so its manifest decides which count. */
  const isNeeded = (ref: string, next: string) => {
    const manifest = manifests.get(ref);
    if (!manifest || manifests.has(next)) return true;
    return (nameOf.get(next) ?? "") in { ...manifest.dependencies, ...manifest.optionalDependencies };
  };
  const edges = new Map(
    bill.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn.filter((next) => isNeeded(ref, next))]),
  );
  const kept = new Set<string>();
  const keep = (ref: string) => {
    if (kept.has(ref)) return;
    kept.add(ref);
    edges.get(ref)?.forEach(keep);
  };
  [...manifests.keys()].forEach(keep);

  // npm calls the root and the workspaces after the folders that they are in.
  const named = <T extends Bill["components"][number]>(entry: T): T => ({
    ...entry,
    name: manifests.get(entry["bom-ref"])?.name ?? entry.name,
  });
  return {
    ...bill,
    metadata: { ...bill.metadata, component: named(bill.metadata.component) },
    components: bill.components.filter((entry) => kept.has(entry["bom-ref"])).map(named),
    dependencies: [...edges].filter(([ref]) => kept.has(ref)).map(([ref, dependsOn]) => ({ ref, dependsOn })),
  };
}
