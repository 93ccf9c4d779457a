import type { BundleDiff, SettingChange, Settings, SettingValue } from "@binnacle/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  anyHasComponent,
  compareVersions,
  diffBundles,
  hasComponent,
  isOffered,
  leaves,
  oldestFirst,
  settingsOf,
  summaryOf,
  unknownProfiles,
} from "./bundle.ts";
import { anyManifest, manifest } from "./manifests.fixture.ts";

describe("the order of bundles", () => {
  test("[BD1] bundles are ordered by numbers, so that 1.10 comes after 1.9", () => {
    const versions = ["1.10", "2.0", "1.9", "0.12", "1.2"];
    const ordered = oldestFirst(versions.map((bundle) => manifest({ bundle })));
    expect(ordered.map(({ bundle }) => bundle)).toEqual(["0.12", "1.2", "1.9", "1.10", "2.0"]);
  });

  test("[BD1] any two different bundle versions are ordered, and the same way from both sides", () => {
    const version = fc.tuple(fc.nat(999_999), fc.nat(999_999)).map(([major, minor]) => `${major}.${minor}`);
    fc.assert(
      fc.property(version, version, (one, other) => {
        expect(Math.sign(compareVersions(one, other))).toBe(0 - Math.sign(compareVersions(other, one)));
        expect(compareVersions(one, other) === 0).toBe(one === other);
      }),
    );
  });

  test("[BD1] a bundle is listed with its tiers and the names of its profiles", () => {
    const profiles = { security: { components: {} }, gitops: { components: {} } };
    expect(summaryOf(manifest({ bundle: "1.4", ha_tiers: ["single-server", "ha"], profiles }))).toEqual({
      version: "1.4",
      ha_tiers: ["single-server", "ha"],
      profiles: ["gitops", "security"],
    });
  });
});

describe("the differences between two bundles", () => {
  const pin = (version: string) => version;

  test("[BD3] a diff has each core component whose pin differs, with the pin before and after", () => {
    const from = manifest({ core: { k3s: pin("1"), longhorn: pin("1.9.0"), promtail: pin("6"), velero: pin("8") } });
    const to = manifest({ core: { k3s: pin("1"), longhorn: pin("1.10.0"), alloy: pin("1"), velero: pin("8") } });
    expect(diffBundles(from, to).core).toEqual([
      { component: "alloy", from: null, to: pin("1") },
      { component: "longhorn", from: pin("1.9.0"), to: pin("1.10.0") },
      { component: "promtail", from: pin("6"), to: null },
    ]);
  });

  test("[BD4] a diff has the added and removed profiles, and compares the components of the others", () => {
    const of = (...components: [string, string][]) => ({
      components: Object.fromEntries(components.map(([key, version]) => [key, pin(version)])),
    });
    const from = manifest({
      profiles: { gitops: of(["argo-cd", "8"]), registry: of(["harbor", "1"]), same: of(["a", "1"]) },
    });
    const to = manifest({
      profiles: { gitops: of(["argo-cd", "9"]), build: of(["tekton", "1"]), same: of(["a", "1"]) },
    });
    expect(diffBundles(from, to).profiles).toEqual({
      added: ["build"],
      removed: ["registry"],
      changed: [{ profile: "gitops", components: [{ component: "argo-cd", from: pin("8"), to: pin("9") }] }],
    });
  });

  test("[BD5] a diff has the added and removed operating systems", () => {
    const from = manifest({ os: { supported: ["ubuntu-22.04", "debian-12"] } });
    const to = manifest({ os: { supported: ["debian-13", "ubuntu-22.04"] } });
    expect(diffBundles(from, to).os).toEqual({ added: ["debian-13"], removed: ["debian-12"] });
  });

  test("[BD5] a diff has the added and removed HA tiers", () => {
    const diff = diffBundles(manifest(), manifest({ ha_tiers: ["ha"] }));
    expect(diff.ha_tiers).toEqual({ added: ["ha"], removed: ["single-server"] });
  });

  test("[BD6] a diff has changed settings by dotted paths", () => {
    const from = manifest({ limits: { nodes: { max_agents: 20, max_servers: 1 } }, backup: { etcd: false } });
    const to = manifest({ limits: { nodes: { max_agents: 50, max_servers: 1 } }, backup: { etcd: { keep: 12 } } });
    expect(diffBundles(from, to).settings).toEqual([
      { path: "backup.etcd", from: false, to: null },
      { path: "backup.etcd.keep", from: null, to: 12 },
      { path: "limits.nodes.max_agents", from: 20, to: 50 },
    ]);
  });

  test("[BD6] the changed settings of a diff, written over those of the first bundle, give those of the second", () => {
    fc.assert(
      fc.property(anyManifest, anyManifest, (from, to) => {
        const { settings } = diffBundles(from, to);
        expect(nested(applied(leaves(settingsOf(from)), settings))).toEqual(settingsOf(to));
      }),
    );
  });

  test("[BD7] a diff in one direction is the mirror of the diff in the other", () => {
    fc.assert(
      fc.property(anyManifest, anyManifest, (one, other) => {
        expect(diffBundles(one, other)).toEqual(mirrored(diffBundles(other, one)));
      }),
    );
  });

  test("[BD7] the diff of a bundle and itself is empty", () => {
    fc.assert(
      fc.property(anyManifest, (one) => {
        expect(diffBundles(one, structuredClone(one))).toEqual({
          from: one.bundle,
          to: one.bundle,
          core: [],
          profiles: { added: [], removed: [], changed: [] },
          os: { added: [], removed: [] },
          ha_tiers: { added: [], removed: [] },
          settings: [],
        });
      }),
    );
  });
});

describe("what a bundle holds", () => {
  const one = manifest({
    core: { k3s: "1" },
    profiles: { gitops: { components: { "argo-cd": "9" } } },
  });

  test("[BD9] an HA tier is offered when the bundle names it", () => {
    expect(isOffered(one, "single-server")).toBe(true);
    expect(isOffered(one, "ha")).toBe(false);
  });

  test("[BD9] profiles that the bundle does not have are unknown, also names such as constructor", () => {
    expect(unknownProfiles(one, ["gitops", "mesh", "constructor"])).toEqual(["mesh", "constructor"]);
  });

  test("[BD9] a bundle has the components of its core and of all its profiles", () => {
    expect(["k3s", "argo-cd", "harbor", "toString"].map((key) => hasComponent(one, key))).toEqual([
      true,
      true,
      false,
      false,
    ]);
    const other = manifest({ core: { harbor: "1" } });
    expect(anyHasComponent([one, other], "harbor")).toBe(true);
    expect(anyHasComponent([one, other], "loki")).toBe(false);
    expect(anyHasComponent([], "k3s")).toBe(false);
  });
});

function applied(before: Map<string, SettingValue>, changes: readonly SettingChange[]): Map<string, SettingValue> {
  const after = new Map(before);
  for (const { path, from, to } of changes) {
    expect(before.get(path) ?? null).toBe(from);
    if (to === null) after.delete(path);
    else after.set(path, to);
  }
  return after;
}

/** The opposite of `leaves`. */
function nested(flat: ReadonlyMap<string, SettingValue>): Settings {
  const groups = new Map<string, Map<string, SettingValue>>();
  const own: [string, SettingValue | Settings][] = [];
  for (const [path, value] of flat) {
    const dot = path.indexOf(".");
    if (dot < 0) own.push([path, value]);
    else {
      const group = groups.get(path.slice(0, dot)) ?? new Map<string, SettingValue>();
      groups.set(path.slice(0, dot), group.set(path.slice(dot + 1), value));
    }
  }
  return Object.fromEntries([...own, ...[...groups].map(([name, group]): [string, Settings] => [name, nested(group)])]);
}

interface FromTo {
  readonly from: unknown;
  readonly to: unknown;
}
interface Turnover {
  readonly added: unknown;
  readonly removed: unknown;
}
const swapped = <T extends FromTo>(change: T): T => ({ ...change, from: change.to, to: change.from });
const reversed = <T extends Turnover>(turnover: T): T => ({
  ...turnover,
  added: turnover.removed,
  removed: turnover.added,
});

function mirrored(diff: BundleDiff): BundleDiff {
  return {
    ...swapped(diff),
    core: diff.core.map(swapped),
    profiles: {
      ...reversed(diff.profiles),
      changed: diff.profiles.changed.map((profile) => ({ ...profile, components: profile.components.map(swapped) })),
    },
    os: reversed(diff.os),
    ha_tiers: reversed(diff.ha_tiers),
    settings: diff.settings.map(swapped),
  };
}
