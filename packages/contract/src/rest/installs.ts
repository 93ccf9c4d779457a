import Type, { type Static } from "typebox";
import { BundleVersion } from "../catalog/bundle.ts";
import { DisplayLine, FreeMap, Nullable, strict, Timestamp, Uuid } from "../fields.ts";
import { operation } from "../operation.ts";
import { holds, holdsEach, where } from "../rules.ts";
import { COMPONENT_STAGES, HA_TIERS, STAGE_STATUSES, STAGES } from "../states.ts";

const tag = "Clusters";
const params = Type.Object({ id: Uuid() });

/** The journal of a cluster keeps this many entries and drops the oldest. */
export const MAX_JOURNAL_ENTRIES = 1000;

const name = Type.String({ minLength: 1, maxLength: 63, examples: ["longhorn"] });
const fields = {
  stage: Type.Enum(STAGES, { examples: ["platform-storage"] }),
  status: Type.Enum(STAGE_STATUSES, { examples: ["completed"] }),
  component: Nullable({ ...name, description: "The key of a component in the bundle's manifest." }),
  detail: Nullable(
    DisplayLine(
      "Volumes are replicated.",
      2000,
      "One line for people to read; never secrets, markup or the raw output of a command.",
    ),
  ),
  reason_code: Nullable(
    Type.String({
      minLength: 1,
      maxLength: 100,
      pattern: "^[A-Z0-9_]+$",
      description: "For programs to read; required where the status is `failed`.",
      examples: ["DISK_TOO_SMALL"],
    }),
  ),
};

/** The stage that an install or upgrade is at. */
export const CurrentStage = Type.Object(
  { stage: fields.stage, component: fields.component, started_at: Timestamp() },
  { title: "CurrentStage" },
);

export const JournalEntry = Type.Object({ ...fields, at: Timestamp() }, { title: "JournalEntry" });
export type JournalEntry = Static<typeof JournalEntry>;

const reported = {
  stage: fields.stage,
  status: fields.status,
  component: Type.Optional(fields.component),
  detail: Type.Optional(fields.detail),
  reason_code: Type.Optional(fields.reason_code),
  at: Type.Optional({
    ...Timestamp("When it happened, not in the future; without it, when the server learns of it."),
    maxLength: 64,
  }),
};

const eventRules = [
  where(holds("status", ["failed"]), "A stage that failed has a reason_code", {
    requires: ["reason_code"],
    fields: { reason_code: { type: "string" } },
  }),
  where(
    holdsEach({ status: ["failed"], stage: COMPONENT_STAGES }),
    "A stage that installs components and has failed names the component",
    { requires: ["component"], fields: { component: { type: "string" } } },
  ),
];

export const InstallEvent = Type.Object(reported, {
  ...strict,
  allOf: eventRules,
  title: "InstallEvent",
  examples: [{ stage: "platform-storage", status: "completed", component: "longhorn" }],
});
export type InstallEvent = Static<typeof InstallEvent>;

const WrittenEntry = Type.Object(reported, { ...strict, title: "WrittenJournalEntry", allOf: eventRules });

const VolumeGroupOwnership = Type.Union([
  Type.String({ minLength: 1, maxLength: 1000 }),
  FreeMap({ maxProperties: 100 }),
]);
const volumeGroupOwnership = {
  ...Nullable(VolumeGroupOwnership),
  description: "Who owns the volume groups on the nodes, in the installer's own words.",
  examples: [{ "vg-data": "binnacle" }],
};

const record = {
  bundle_version: BundleVersion,
  profiles: Type.Array(name, { maxItems: 50, uniqueItems: true, examples: [["security"]] }),
  ha_tier: Type.Enum(HA_TIERS),
};

export const BundleRecord = Type.Object(
  {
    bundle_version: Nullable(record.bundle_version),
    profiles: Nullable(record.profiles),
    ha_tier: Nullable(record.ha_tier),
    volume_group_ownership: volumeGroupOwnership,
    install_journal: Nullable(Type.Array(JournalEntry)),
  },
  { title: "BundleRecord", description: "All null until an install has recorded them." },
);
export type BundleRecord = Static<typeof BundleRecord>;

export const WrittenBundleRecord = Type.Object(
  {
    ...record,
    bundle_version: Type.String({ minLength: 1, maxLength: 50, examples: ["1.4"] }),
    volume_group_ownership: Type.Optional(volumeGroupOwnership),
    install_journal: Type.Optional(
      Nullable(
        Type.Array(WrittenEntry, {
          maxItems: MAX_JOURNAL_ENTRIES,
          description: "The installer's own journal, in place of what was reported. Left out, that stays.",
          examples: [[]],
        }),
      ),
    ),
  },
  { ...strict, title: "WrittenBundleRecord" },
);
export type WrittenBundleRecord = Static<typeof WrittenBundleRecord>;

export const reportInstallEvent = operation({
  id: "reportInstallEvent",
  method: "POST",
  path: "/clusters/{id}/install-events",
  tag,
  summary: "Report that a stage of an install or upgrade has started, completed or failed",
  description:
    "`started` moves the cluster's current stage; `completed` and `failed` are kept in its install journal. A `component` is a key of the bundle's manifest, at any stage.",
  credentials: ["install:report"],
  params,
  body: InstallEvent,
  success: [201, JournalEntry],
  failures: [403, 404, 409],
});

export const getClusterBundle = operation({
  id: "getClusterBundle",
  method: "GET",
  path: "/clusters/{id}/bundle",
  tag,
  summary: "Read which bundle and profiles are installed, and the install journal",
  credentials: ["clusters:read", "clusters:register"],
  params,
  success: [200, BundleRecord],
  failures: [403, 404],
});

export const recordClusterBundle = operation({
  id: "recordClusterBundle",
  method: "PUT",
  path: "/clusters/{id}/bundle",
  tag,
  summary: "Record which bundle and profiles are installed",
  description:
    "Checked against the catalog of bundles. What is left out becomes null, but the journal that was reported stays.",
  credentials: ["install:report"],
  params,
  body: WrittenBundleRecord,
  success: [200, BundleRecord],
  failures: [403, 404, 409],
});
