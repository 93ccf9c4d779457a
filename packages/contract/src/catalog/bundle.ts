import Type, { type Static, type TSchema } from "typebox";
import { strict } from "../fields.ts";
import { HA_TIERS } from "../states.ts";

/**
 * A platform bundle pins the versions of everything that a cluster of this version runs. Each is one YAML file, and the
 * API shows the same shape.
 */

const keyed = <T extends TSchema>(pattern: string, value: T, options: object) =>
  Type.Record(Type.String({ pattern }), value, { additionalProperties: false, minProperties: 1, ...options });

const NAME = "^[a-z0-9]+(-[a-z0-9]+)*$";
const Name = (example: string) => Type.String({ maxLength: 63, pattern: NAME, examples: [example] });
const Url = (example: string) =>
  Type.String({ maxLength: 2000, pattern: "^(https|oci)://[!-~]+$", examples: [example] });

/** Two numbers, each without leading zeros, so that one version has one spelling. */
export const BundleVersion = Type.String({
  maxLength: 13,
  pattern: "^(0|[1-9][0-9]{0,5})\\.(0|[1-9][0-9]{0,5})$",
  examples: ["1.4"],
});

export const ComponentPin = Type.Object(
  {
    version: Type.String({
      minLength: 1,
      maxLength: 100,
      pattern: "^[!-~]+$",
      description: "The chart's own where there is a `chart`, else the component's release.",
    }),
    chart: Type.Optional(Type.String({ minLength: 1, maxLength: 250, description: "The name of a chart in `repo`." })),
    repo: Type.Optional(Url("https://charts.longhorn.io")),
    manifest: Type.Optional(Url("https://example.com/v1.0.0/release.yaml")),
    image: Type.Optional(Type.String({ minLength: 1, maxLength: 1024, pattern: "^[!-~]+$" })),
  },
  {
    ...strict,
    title: "ComponentPin",
    examples: [{ version: "1.10.0", chart: "longhorn", repo: "https://charts.longhorn.io" }],
  },
);
export type ComponentPin = Static<typeof ComponentPin>;

const ComponentPins = keyed(NAME, ComponentPin, {
  maxProperties: 100,
  examples: [{ longhorn: { version: "1.10.0", chart: "longhorn", repo: "https://charts.longhorn.io" } }],
});
export type ComponentPins = Static<typeof ComponentPins>;

export const OsSupport = Type.Object(
  {
    name: Name("ubuntu"),
    versions: Type.Array(Type.String({ minLength: 1, maxLength: 50, examples: ["24.04"] }), {
      minItems: 1,
      maxItems: 50,
      uniqueItems: true,
    }),
    architectures: Type.Array(Type.Enum(["amd64", "arm64"]), { minItems: 1, maxItems: 2, uniqueItems: true }),
  },
  { ...strict, title: "OsSupport" },
);
export type OsSupport = Static<typeof OsSupport>;

/** A name without dots, so that a dotted path leads to one setting only. */
const SETTING = "^[a-z][a-z0-9_]*$";
const settings = <T extends TSchema>(value: T) => keyed(SETTING, value, { maxProperties: 100 });

export const SettingValue = Type.Union([
  Type.String({ maxLength: 1000, examples: ["5m"] }),
  Type.Number(),
  Type.Boolean(),
]);
export type SettingValue = Static<typeof SettingValue>;

const Group = settings(Type.Union([SettingValue, settings(Type.Union([SettingValue, settings(SettingValue)]))]));
export interface Settings {
  readonly [name: string]: SettingValue | Settings;
}

export const BundleManifest = Type.Object(
  {
    bundle: BundleVersion,
    core: ComponentPins,
    os: Type.Object({ supported: Type.Array(OsSupport, { minItems: 1, maxItems: 50 }) }, strict),
    ha_tiers: Type.Array(Type.Enum(HA_TIERS), { minItems: 1, maxItems: HA_TIERS.length, uniqueItems: true }),
    limits: { ...Group, examples: [{ nodes: { max_agents: 100 } }] },
    upgrade: { ...Group, examples: [{ drain: { timeout: "5m" } }] },
    backup: { ...Group, examples: [{ schedule: "0 2 * * *" }] },
    profiles: keyed(NAME, Type.Object({ components: ComponentPins }, strict), {
      maxProperties: 50,
      examples: [{ security: { components: { kyverno: { version: "3.5.2" } } } }],
    }),
  },
  { ...strict, title: "BundleManifest" },
);
export type BundleManifest = Static<typeof BundleManifest>;
