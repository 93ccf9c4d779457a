/** The files in which a release is named, as patterns. */
export const VERSIONED_FILES = [
  "package.json",
  "packages/*/package.json",
  "test/world/package.json",
  "package-lock.json",
  "deploy/charts/*/Chart.yaml",
  "deploy/compose/compose.yaml",
  "docs/install/*.md",
  "docs/operations/images.md",
  "docs/operations/supply-chain.md",
] as const;

const VERSION = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/;

export function requireNewer(version: string, current: string): void {
  if (!VERSION.test(version)) throw new Error(`${version} is not a version such as 0.2.0.`);
  const older = version.localeCompare(current, "en", { numeric: true }) < 0;
  if (older) throw new Error(`${version} is older than ${current}, which this checkout has.`);
}

/** The text of a versioned file with another version. */
export function withVersion(path: string, text: string, from: string, to: string): string {
  if (path.endsWith("package-lock.json")) return lockfileWithVersion(text, from, to);
  const version = from.replaceAll(".", "\\.");
  if (path.endsWith("package.json")) {
    // Not the versions of packages of others, which may be the same.
    return text.replace(new RegExp(`("(?:version|@binnacle/[\\w-]+)": )"${version}"`, "g"), `$1"${to}"`);
  }
  return text.replace(new RegExp(`(?<=(?:^|[^\\w.])v?)${version}(?![\\w-]|\\.\\d)`, "g"), to);
}

interface Lockfile {
  version: string;
  readonly packages: Record<
    string,
    { version?: string; dependencies?: Record<string, string>; devDependencies?: Record<string, string> }
  >;
}

function lockfileWithVersion(text: string, from: string, to: string): string {
  const lockfile = JSON.parse(text) as Lockfile;
  lockfile.version = to;
  for (const [path, locked] of Object.entries(lockfile.packages)) {
    if (path.includes("node_modules/")) continue;
    if (locked.version === from) locked.version = to;
    for (const needed of [locked.dependencies ?? {}, locked.devDependencies ?? {}])
      for (const name of Object.keys(needed))
        if (name.startsWith("@binnacle/") && needed[name] === from) needed[name] = to;
  }
  return `${JSON.stringify(lockfile, null, 2)}\n`;
}
