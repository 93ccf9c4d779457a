import { type BundleManifest, HA_TIERS, type OsSupport, type Settings } from "@binnacle/contract";
import fc from "fast-check";

/** A manifest with next to nothing in it, but for what is given. */
export const manifest = (given: Partial<BundleManifest> = {}): BundleManifest => ({
  bundle: "1.0",
  core: { k3s: { version: "v1.33.5+k3s1" } },
  os: { supported: [{ name: "ubuntu", versions: ["24.04"], architectures: ["amd64"] }] },
  ha_tiers: ["single-server"],
  limits: { nodes: { max_agents: 20 } },
  upgrade: { drain: { timeout: "5m" } },
  backup: { schedule: "0 2 * * *" },
  profiles: { gitops: { components: { "argo-cd": { version: "9.1.0" } } } },
  ...given,
});

/** Few names, so that two manifests share some; among them one that every object has by itself. */
const name = fc.constantFrom("alpha", "beta", "gamma", "constructor");
const someOf = <T>(...items: T[]) => fc.subarray(items, { minLength: 1 });
const named = <T>(value: fc.Arbitrary<T>) => fc.dictionary(name, value, { minKeys: 1, noNullPrototype: true });

const pin = fc.record(
  {
    version: fc.constantFrom("1.0.0", "1.1.0", "2.0.0"),
    image: fc.constantFrom("docker.io/one", "docker.io/two"),
  },
  { requiredKeys: ["version"] },
);
const components = named(pin);

const settingValue = fc.oneof(fc.constantFrom("5m", ""), fc.constantFrom(0, 1, 2), fc.boolean());
const settings: fc.Arbitrary<Settings> = named(
  fc.oneof(settingValue, named(fc.oneof(settingValue, named(settingValue)))),
);

const os: fc.Arbitrary<OsSupport[]> = fc.uniqueArray(name, { minLength: 1 }).chain((names) =>
  fc.tuple(
    ...names.map((each) =>
      fc.record({
        name: fc.constant(each),
        versions: someOf("9", "10"),
        architectures: someOf<"amd64" | "arm64">("amd64", "arm64"),
      }),
    ),
  ),
);

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
