import type {
  BundleDiff,
  BundleManifest,
  ComponentPins,
  HaTier,
  PinChange,
  SettingChange,
  Settings,
  SettingValue,
} from "@binnacle/contract";

/** Compares versions as numbers: 1.10 comes after 1.9. */
export function compareVersions(one: string, other: string): number {
  const [oneMajor = 0, oneMinor = 0] = one.split(".").map(Number);
  const [otherMajor = 0, otherMinor = 0] = other.split(".").map(Number);
  return oneMajor - otherMajor || oneMinor - otherMinor;
}

export const oldestFirst = (manifests: readonly BundleManifest[]): BundleManifest[] =>
  manifests.toSorted((one, other) => compareVersions(one.bundle, other.bundle));

export function summaryOf({ bundle, ha_tiers, profiles }: BundleManifest) {
  return { version: bundle, ha_tiers: [...ha_tiers], profiles: Object.keys(profiles).toSorted() };
}

export const isOffered = ({ ha_tiers }: BundleManifest, haTier: HaTier): boolean => ha_tiers.includes(haTier);

export const unknownProfiles = ({ profiles }: BundleManifest, names: readonly string[]): string[] =>
  names.filter((name) => !Object.hasOwn(profiles, name));

/** Searches the core and all profiles, because an install may have chosen any of them. */
export const hasComponent = ({ core, profiles }: BundleManifest, key: string): boolean =>
  [core, ...Object.values(profiles).map(({ components }) => components)].some((pins) => Object.hasOwn(pins, key));

export const anyHasComponent = (manifests: readonly BundleManifest[], key: string): boolean =>
  manifests.some((manifest) => hasComponent(manifest, key));

/** Compares two bundles. The reverse comparison is the mirror image. */
export function diffBundles(from: BundleManifest, to: BundleManifest): BundleDiff {
  return {
    from: from.bundle,
    to: to.bundle,
    core: pinChanges(from.core, to.core),
    profiles: profileChanges(from.profiles, to.profiles),
    os: turnover(from.os.supported, to.os.supported),
    ha_tiers: turnover(from.ha_tiers, to.ha_tiers),
    settings: settingChanges(settingsOf(from), settingsOf(to)),
  };
}

interface Turnover<T> {
  added: T[];
  removed: T[];
}

function turnover<T extends string>(from: readonly T[], to: readonly T[]): Turnover<T> {
  return {
    added: to.filter((item) => !from.includes(item)).toSorted(),
    removed: from.filter((item) => !to.includes(item)).toSorted(),
  };
}

/** Pairs the values of both maps by key, in order of the keys. */
function pairByKey<T>(
  from: ReadonlyMap<string, T>,
  to: ReadonlyMap<string, T>,
): { key: string; from: T | null; to: T | null }[] {
  const keys = [...new Set([...from.keys(), ...to.keys()])].toSorted();
  return keys.map((key) => ({ key, from: from.get(key) ?? null, to: to.get(key) ?? null }));
}

function pinChanges(from: ComponentPins, to: ComponentPins): PinChange[] {
  return pairByKey(new Map(Object.entries(from)), new Map(Object.entries(to)))
    .filter((pins) => pins.from !== pins.to)
    .map(({ key, ...pins }) => ({ component: key, ...pins }));
}

function profileChanges(from: BundleManifest["profiles"], to: BundleManifest["profiles"]): BundleDiff["profiles"] {
  const changed = pairByKey(new Map(Object.entries(from)), new Map(Object.entries(to))).flatMap((profile) => {
    if (!profile.from || !profile.to) return [];
    const components = pinChanges(profile.from.components, profile.to.components);
    return components.length > 0 ? [{ profile: profile.key, components }] : [];
  });
  return { ...turnover(Object.keys(from), Object.keys(to)), changed };
}

export const settingsOf = ({ limits, upgrade, backup }: BundleManifest): Settings => ({ limits, upgrade, backup });

function settingChanges(from: Settings, to: Settings): SettingChange[] {
  return pairByKey(leaves(from), leaves(to))
    .filter((setting) => setting.from !== setting.to)
    .map(({ key, ...values }) => ({ path: key, ...values }));
}

/**
 * Flattens `{limits: {nodes: {max_agents: 20}}}` to `limits.nodes.max_agents` → 20. No name contains a dot, so paths
 * are unique.
 */
export function leaves(settings: Settings, prefix = ""): Map<string, SettingValue> {
  return new Map(
    Object.entries(settings).flatMap(([name, value]): [string, SettingValue][] =>
      typeof value === "object" ? [...leaves(value, `${prefix}${name}.`)] : [[prefix + name, value]],
    ),
  );
}
