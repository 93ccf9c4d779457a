/** The parts of `package-lock.json` that are read here. Packages have the paths at which npm installs them. */
export interface Lockfile {
  readonly packages: Readonly<Record<string, Locked>>;
}

export interface Locked {
  readonly name?: string;
  readonly version?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly link?: boolean;
  readonly resolved?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** A package of the lockfile, by the path at which it is installed or by the folder of a workspace. */
export interface LockedPackage {
  readonly path: string;
  readonly name: string;
  readonly version: string;
  readonly license: string;
  /** Workspaces have none. */
  readonly integrity: string | null;
}

export function lockedPackage(lockfile: Lockfile, path: string): LockedPackage {
  const locked = lockfile.packages[path];
  if (!locked?.version) throw new Error(`The lockfile has no package ${path}.`);
  const name = locked.name ?? path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
  return {
    path,
    name,
    version: locked.version,
    license: locked.license ?? "Apache-2.0",
    integrity: locked.integrity ?? null,
  };
}

/** The path of the package that a source belongs to; null for a file of the repository that belongs to none. */
export function packageOf(source: string): string | null {
  const found = /^(?:.*node_modules\/(?:@[^/]+\/)?[^/]+|packages\/[^/]+)(?=\/)/.exec(source);
  return found ? found[0] : null;
}

/** The package at the path with everything that it needs to run, in which Node.js would find it. */
export function withDependencies(lockfile: Lockfile, path: string, found = new Set<string>()): Set<string> {
  if (found.has(path)) return found;
  found.add(path);
  for (const name of Object.keys(lockfile.packages[path]?.dependencies ?? {})) {
    const next = resolved(lockfile, path, name);
    if (next) withDependencies(lockfile, next, found);
  }
  return found;
}

function resolved({ packages }: Lockfile, from: string, name: string): string | null {
  const candidates = [from, ...parentsOf(from)].map((path) => `${path ? `${path}/` : ""}node_modules/${name}`);
  const path = candidates.find((candidate) => candidate in packages);
  const locked = path === undefined ? undefined : packages[path];
  return locked?.link ? (locked.resolved ?? null) : (path ?? null);
}

/** The folders above that may hold packages too, the root last. */
function parentsOf(path: string): string[] {
  const cut = path.lastIndexOf("/node_modules/");
  return cut < 0 ? [""] : [path.slice(0, cut), ...parentsOf(path.slice(0, cut))];
}
