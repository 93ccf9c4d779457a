import type { BundleDiff, BundleManifest } from "@binnacle/client";

type Value = string | number | boolean | null;

export interface ChangeLine {
  /** The part of the bundle, such as `core` or `profile gitops`. */
  readonly part: string;
  readonly name: string;
  readonly kind: "added" | "removed" | "changed";
  readonly from: string | null;
  readonly to: string | null;
  /** What cannot be taken back, or null. */
  readonly warning: string | null;
}

const text = (value: Value): string | null => (value === null ? null : String(value));

/** The differences of two bundles as one list: what cannot be undone first, then components, then the rest. */
export function bundleLines(diff: BundleDiff): readonly ChangeLine[] {
  const line = (part: string, name: string, from: Value, to: Value): ChangeLine => ({
    part,
    name,
    kind: from === null ? "added" : to === null ? "removed" : "changed",
    from: text(from),
    to: text(to),
    warning: part === "Setting" ? null : warningOf(name, text(from), text(to)),
  });
  const turnover = (
    part: string,
    change: { readonly added: readonly string[]; readonly removed: readonly string[] },
  ) => [
    ...change.added.map((name) => ({ ...line(part, name, null, "present"), to: null })),
    ...change.removed.map((name) => ({ ...line(part, name, "present", null), from: null })),
  ];
  const lines = [
    ...diff.core.map(({ component, from, to }) => line("Core", component, from, to)),
    ...diff.profiles.changed.flatMap(({ profile, components }) =>
      components.map(({ component, from, to }) => line(`Profile ${profile}`, component, from, to)),
    ),
    ...turnover("Profile", diff.profiles),
    ...turnover("Operating system", diff.os),
    ...turnover("Availability", diff.ha_tiers),
    ...diff.settings.map(({ path, from, to }) => line("Setting", path, from, to)),
  ];
  return [...lines.filter(({ warning }) => warning !== null), ...lines.filter(({ warning }) => warning === null)];
}

/** Kubernetes and what keeps data cannot be taken back to an older version without a restore. */
const KEEPS_STATE = /^(k3s|kubernetes|longhorn|etcd|rook|ceph)/;

function warningOf(component: string, from: string | null, to: string | null): string | null {
  if (!KEEPS_STATE.test(component) || from === null) return null;
  if (to === null) return "It keeps data, which goes with it.";
  return isOlder(to, from)
    ? "An older version may not read the state of the newer one."
    : "It cannot be taken back without a restore.";
}

const numbersOf = (version: string): readonly number[] => (version.match(/\d+/g) ?? []).map(Number);

function isOlder(version: string, than: string): boolean {
  const [a, b] = [numbersOf(version), numbersOf(than)];
  for (let index = 0; index < Math.max(a.length, b.length); index += 1) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

/** The bundles after the one that is installed, which are listed oldest first. */
export const upgradesOf = (installed: string, versions: readonly string[]): readonly string[] =>
  versions.includes(installed) ? versions.slice(versions.indexOf(installed) + 1) : versions;

/** The settings of a manifest as dotted paths. */
export function settingsOf(
  manifest: Pick<BundleManifest, "limits" | "upgrade" | "backup">,
): readonly (readonly [string, string])[] {
  const flat = (path: string, value: unknown): (readonly [string, string])[] =>
    typeof value === "object" && value !== null
      ? Object.entries(value).flatMap(([key, inner]) => flat(`${path}.${key}`, inner))
      : [[path, String(value)]];
  return [...flat("limits", manifest.limits), ...flat("upgrade", manifest.upgrade), ...flat("backup", manifest.backup)];
}
