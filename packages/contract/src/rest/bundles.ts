import Type, { type Static, type TSchema } from "typebox";
import { BundleManifest, BundleVersion, ComponentPin, OsName, SettingValue } from "../catalog/bundle.ts";
import { Nullable, Whole } from "../fields.ts";
import { operation } from "../operation.ts";
import { HA_TIERS } from "../states.ts";

const tag = "Bundles";
const credentials = ["bundles:read"] as const;
/** Anything that is not in the catalog is a 404, even a malformed version. */
const Asked = Type.String({ minLength: 1, maxLength: 100, examples: ["1.4"] });

const ProfileName = Type.String({ examples: ["observability"] });
const HaTierName = Type.Enum(HA_TIERS);

const BundleSummary = Type.Object(
  { version: BundleVersion, ha_tiers: Type.Array(HaTierName), profiles: Type.Array(ProfileName) },
  { title: "BundleSummary" },
);

const Turnover = <T extends TSchema>(item: T) => Type.Object({ added: Type.Array(item), removed: Type.Array(item) });

const PinChange = Type.Object(
  {
    component: Type.String({ examples: ["longhorn"] }),
    from: Nullable(ComponentPin),
    to: Nullable(ComponentPin),
  },
  { title: "PinChange", description: "`from` is null for a component that is added, `to` for one that is removed." },
);
export type PinChange = Static<typeof PinChange>;

const SettingChange = Type.Object(
  {
    path: Type.String({ examples: ["limits.nodes.max_agents"] }),
    from: Nullable(SettingValue),
    to: Nullable(SettingValue),
  },
  { title: "SettingChange", description: "`from` is null for a setting that is added, `to` for one that is removed." },
);
export type SettingChange = Static<typeof SettingChange>;

export const BundleDiff = Type.Object(
  {
    from: BundleVersion,
    to: BundleVersion,
    core: Type.Array(PinChange),
    profiles: Type.Object({
      added: Type.Array(ProfileName),
      removed: Type.Array(ProfileName),
      changed: Type.Array(Type.Object({ profile: ProfileName, components: Type.Array(PinChange) })),
    }),
    os: Turnover(OsName),
    ha_tiers: Turnover(HaTierName),
    settings: Type.Array(SettingChange, { description: "Of `limits`, `upgrade` and `backup`, as dotted paths." }),
  },
  {
    title: "BundleDiff",
    examples: [
      {
        from: "1.3",
        to: "1.4",
        core: [{ component: "k3s", from: "v1.32.6+k3s1", to: "v1.33.5+k3s1" }],
        profiles: { added: ["build"], removed: ["registry"], changed: [] },
        os: { added: ["debian-13"], removed: [] },
        ha_tiers: { added: [], removed: [] },
        settings: [{ path: "limits.nodes.max_agents", from: 50, to: 100 }],
      },
    ],
  },
);
export type BundleDiff = Static<typeof BundleDiff>;

export const listBundles = operation({
  id: "listBundles",
  method: "GET",
  path: "/bundles",
  tag,
  summary: "List the platform bundles, oldest first",
  credentials,
  success: [200, Whole(BundleSummary)],
  failures: [403],
});

export const getBundle = operation({
  id: "getBundle",
  method: "GET",
  path: "/bundles/{version}",
  tag,
  summary: "Read a bundle's manifest",
  description:
    "Component pins, supported operating systems, HA tiers, limits, upgrade tooling, backup defaults, profiles.",
  credentials,
  params: Type.Object({ version: Asked }),
  success: [200, BundleManifest],
  failures: [403, 404],
});

export const diffBundles = operation({
  id: "diffBundles",
  method: "GET",
  path: "/bundles/{version}/diff/{other}",
  tag,
  summary: "Compare two bundles",
  description: "What changes from `version` to `other`; any two, in either direction. Only what differs is listed.",
  credentials,
  params: Type.Object({ version: Asked, other: Asked }),
  success: [200, BundleDiff],
  failures: [403, 404],
});
