import type { BundleDiff } from "@binnacle/client";
import { expect, test } from "vitest";
import { bundleLines, settingsOf, upgradesOf } from "./bundle-labels.ts";

const diff: BundleDiff = {
  from: "1.2",
  to: "1.3",
  core: [
    { component: "cilium", from: "1.16.7", to: "1.18.2" },
    { component: "k3s", from: "v1.31.6+k3s1", to: "v1.33.5+k3s1" },
    { component: "external-secrets", from: null, to: "0.20.4" },
  ],
  profiles: {
    added: ["security"],
    removed: ["registry"],
    changed: [{ profile: "gitops", components: [{ component: "argo-cd", from: "7.8.23", to: null }] }],
  },
  os: { added: ["debian-13"], removed: [] },
  ha_tiers: { added: ["ha"], removed: [] },
  settings: [{ path: "limits.nodes.max_agents", from: 20, to: 100 }],
};

test("[WC67] the difference of two bundles is one list, with what cannot be undone first", () => {
  expect(bundleLines(diff).map(({ part, name, kind, from, to }) => [part, name, kind, from, to])).toEqual([
    ["Core", "k3s", "changed", "v1.31.6+k3s1", "v1.33.5+k3s1"],
    ["Core", "cilium", "changed", "1.16.7", "1.18.2"],
    ["Core", "external-secrets", "added", null, "0.20.4"],
    ["Profile gitops", "argo-cd", "removed", "7.8.23", null],
    ["Profile", "security", "added", null, null],
    ["Profile", "registry", "removed", null, null],
    ["Operating system", "debian-13", "added", null, null],
    ["Availability", "ha", "added", null, null],
    ["Setting", "limits.nodes.max_agents", "changed", "20", "100"],
  ]);
});

test.each([
  ["1.8.1", "1.10.0", "It cannot be taken back without a restore."],
  ["1.10.0", "1.8.1", "An older version may not read the state of the newer one."],
  ["1.8.1", null, "It keeps data, which goes with it."],
  [null, "1.8.1", null],
])("[WC67] storage from %s to %s has the warning %s", (from, to, warning) => {
  const [line] = bundleLines({ ...diff, core: [{ component: "longhorn", from, to }] });
  expect(line?.name === "longhorn" ? line.warning : null).toBe(warning);
});

test("[WC67] the offered upgrades are the bundles after the installed one, or all where it is not in the catalog", () => {
  expect(upgradesOf("1.3", ["1.2", "1.3", "1.4", "1.10"])).toEqual(["1.4", "1.10"]);
  expect(upgradesOf("1.10", ["1.2", "1.10"])).toEqual([]);
  expect(upgradesOf("0.9", ["1.2", "1.3"])).toEqual(["1.2", "1.3"]);
});

test("[WC67] the settings of a bundle are listed by dotted paths", () => {
  expect(settingsOf({ limits: { nodes: { max_agents: 20 } }, upgrade: { concurrency: 1 }, backup: {} })).toEqual([
    ["limits.nodes.max_agents", "20"],
    ["upgrade.concurrency", "1"],
  ]);
});
