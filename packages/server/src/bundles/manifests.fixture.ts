import { type BundleManifest, HA_TIERS, type Settings } from "@binnacle/contract";
import fc from "fast-check";

/** A manifest with next to nothing in it, but for what is given. */
export const manifest = (given: Partial<BundleManifest> = {}): BundleManifest => ({
  bundle: "1.0",
  core: { k3s: "v1.33.5+k3s1" },
  os: { supported: ["ubuntu-24.04"] },
  ha_tiers: ["single-server"],
  limits: { timeouts: { drain: "5m" }, resources: { min_cpu_cores: 2 }, nodes: { max_agents: 20 } },
  upgrade: { tools: { system_upgrade_controller: "v0.17.0" } },
  backup: { defaults: { schedule: "0 2 * * *" } },
  profiles: { gitops: { components: { "argo-cd": "9.1.0" } } },
  ...given,
});

/** Few names, so that two manifests share some; among them one that every object has by itself. */
const name = fc.constantFrom("alpha", "beta", "gamma", "constructor");
const someOf = <T>(...items: T[]) => fc.subarray(items, { minLength: 1 });
const named = <T>(value: fc.Arbitrary<T>) => fc.dictionary(name, value, { minKeys: 1, noNullPrototype: true });

const pin = fc.constantFrom("1.0.0", "1.1.0", "2.0.0");
const components = named(pin);

const settingValue = fc.oneof(fc.constantFrom("5m", ""), fc.constantFrom(0, 1, 2), fc.boolean());
const settings: fc.Arbitrary<Settings> = named(
  fc.oneof(settingValue, named(fc.oneof(settingValue, named(settingValue)))),
);

const os = someOf("ubuntu-22.04", "ubuntu-24.04", "debian-13");

export const anyManifest: fc.Arbitrary<BundleManifest> = fc.record({
  bundle: fc.tuple(fc.nat(20), fc.nat(20)).map(([major, minor]) => `${major}.${minor}`),
  core: components,
  os: fc.record({ supported: os }),
  ha_tiers: someOf(...HA_TIERS),
  limits: settings,
  upgrade: settings,
  backup: settings,
  profiles: named(fc.record({ components })),
}) as fc.Arbitrary<BundleManifest>;
