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
/** Two numbers, each without leading zeros, so that one version has one spelling. */
export const BundleVersion = Type.String({
  maxLength: 13,
  pattern: "^(0|[1-9][0-9]{0,5})\\.(0|[1-9][0-9]{0,5})$",
  examples: ["1.4"],
});

export const ComponentPin = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: "^[!-~]+$",
  description: "The exact version: of the chart if the component is installed from one, else of its release.",
  examples: ["1.37.1"],
});

const ComponentPins = keyed(NAME, ComponentPin, { maxProperties: 100, examples: [{ longhorn: "1.10.0" }] });
export type ComponentPins = Static<typeof ComponentPins>;

export const OsName = Type.String({
  minLength: 1,
  maxLength: 63,
  pattern: "^[a-z0-9][a-z0-9.-]*$",
  description: "A distribution and its version.",
  examples: ["ubuntu-24.04"],
});

/** A name without dots, so that a dotted path leads to one setting only. */
const SETTING = "^[a-z][a-z0-9_]*$";
const settings = <T extends TSchema>(value: T, examples?: readonly unknown[]) =>
  keyed(SETTING, value, { maxProperties: 100, ...(examples ? { examples } : {}) });

export const SettingValue = Type.Union([
  Type.String({ maxLength: 1000, examples: ["5m"] }),
  Type.Number(),
  Type.Boolean(),
]);
export type SettingValue = Static<typeof SettingValue>;

const SettingOrGroup = Type.Union([SettingValue, settings(Type.Union([SettingValue, settings(SettingValue)]))], {
  title: "SettingOrGroup",
});
export interface Settings {
  readonly [name: string]: SettingValue | Settings;
}

export const BundleManifest = Type.Object(
  {
    bundle: BundleVersion,
    core: ComponentPins,
    os: Type.Object({ supported: Type.Array(OsName, { minItems: 1, maxItems: 50, uniqueItems: true }) }, strict),
    ha_tiers: Type.Array(Type.Enum(HA_TIERS), { minItems: 1, maxItems: HA_TIERS.length, uniqueItems: true }),
    limits: settings(SettingOrGroup, [{ timeouts: { drain: "5m" }, resources: { min_cpu_cores: 2 } }]),
    upgrade: settings(SettingOrGroup, [{ tools: { system_upgrade_controller: "v0.17.0" } }]),
    backup: settings(SettingOrGroup, [{ defaults: { schedule: "0 2 * * *" } }]),
    profiles: keyed(NAME, Type.Object({ components: ComponentPins }, strict), {
      maxProperties: 50,
      examples: [{ security: { components: { kyverno: "3.5.2" } } }],
    }),
  },
  { ...strict, title: "BundleManifest" },
);
export type BundleManifest = Static<typeof BundleManifest>;
