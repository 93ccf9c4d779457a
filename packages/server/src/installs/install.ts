import {
  type BundleManifest,
  type BundleRecord,
  type InstallEvent,
  isSafeText,
  isSecretName,
  type JournalEntry,
  MAX_JOURNAL_ENTRIES,
  maskRandom,
  safeText,
  type ValidationItem,
  type WrittenBundleRecord,
} from "@binnacle/contract";
import type { Selectable } from "kysely";
import { anyHasComponent, isOffered, unknownProfiles } from "../bundles/bundle.ts";
import type { Cluster } from "../clusters/cluster.ts";
import type { ClusterTable } from "../database/fleet-tables.ts";
import type { Announcement } from "../events/event.ts";

type Loc = ValidationItem["loc"];
type WrittenEntry = NonNullable<WrittenBundleRecord["install_journal"]>[number];

/** The columns of a cluster about its installs. */
export type InstallFacts = Pick<
  Selectable<ClusterTable>,
  | "bundle_version"
  | "profiles"
  | "ha_tier"
  | "volume_group_ownership"
  | "install_journal"
  | "stage"
  | "stage_status"
  | "stage_component"
  | "stage_at"
>;

const BODY: Loc = ["body"];
const wrong = (loc: Loc, msg: string): ValidationItem => ({ loc, msg, type: "value_error" });

/** Returns the recorded bundle. Without one, or if it no longer ships, an install may be of any bundle. */
export function manifestsFor(bundles: readonly BundleManifest[], version: string | null): readonly BundleManifest[] {
  const recorded = bundles.filter(({ bundle }) => bundle === version);
  return recorded.length > 0 ? recorded : bundles;
}

export function componentProblems(
  { component }: Pick<InstallEvent, "component">,
  manifests: readonly BundleManifest[],
  loc: Loc = BODY,
): ValidationItem[] {
  if (!component || anyHasComponent(manifests, component)) return [];
  return [wrong([...loc, "component"], `No component of the bundle is called ${component}`)];
}

const isReadable = (text: string): boolean => isSafeText(text) && maskRandom(text) === text;

/** One line, without escapes for terminals and characters that nobody sees. */
const isPlainLine = (text: string): boolean => !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text);

/** Every member of the organization reads the journal. The hub refuses the same in the messages of operators. */
export function textProblems(
  { detail, reason_code: code }: Pick<InstallEvent, "detail" | "reason_code">,
  loc: Loc = BODY,
): ValidationItem[] {
  return [
    ...(detail && !isReadable(detail)
      ? [wrong([...loc, "detail"], `A detail is for people to read: ${NO_SECRETS}`)]
      : []),
    ...(code && !isReadable(code)
      ? [wrong([...loc, "reason_code"], `A reason code names a cause: ${NO_SECRETS}`)]
      : []),
  ];
}

const NO_SECRETS = "write one line, without tokens, keys, passwords and markup";

/** Names and values are free text of the installer, at any depth. */
function ownershipProblems(value: unknown, loc: Loc): ValidationItem[] {
  if (typeof value === "string") {
    return isReadable(value) && isPlainLine(value) ? [] : [wrong(loc, `An owner is named: ${NO_SECRETS}`)];
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    // A name that holds a secret is not repeated.
    isReadable(key) && isPlainLine(key) && !isSecretName(key)
      ? ownershipProblems(inner, [...loc, key])
      : [wrong(loc, `A volume group is named: ${NO_SECRETS}`)],
  );
}

/** Returns the problem of an event whose time is after its report. */
export function timeProblems({ at }: Pick<InstallEvent, "at">, now: Date, loc: Loc = BODY): ValidationItem[] {
  if (at === undefined || Date.parse(at) <= now.getTime()) return [];
  return [wrong([...loc, "at"], `The time is in the future: it is ${now.toISOString()} now`)];
}

/** Returns the problems of a record that follow from the catalog. A malformed field is left out of the record. */
export function catalogProblems(
  {
    bundle_version,
    profiles: named = [],
    ha_tier,
    install_journal,
    volume_group_ownership,
  }: Partial<WrittenBundleRecord>,
  bundles: readonly BundleManifest[],
  now: Date,
): ValidationItem[] {
  const ofTexts = [
    ...ownershipProblems(volume_group_ownership, [...BODY, "volume_group_ownership"]),
    ...(install_journal ?? []).flatMap((entry, index) => {
      const loc = [...BODY, "install_journal", index];
      return [...textProblems(entry, loc), ...timeProblems(entry, now, loc)];
    }),
  ];
  if (bundle_version === undefined) return ofTexts;
  const manifest = bundles.find(({ bundle }) => bundle === bundle_version);
  if (!manifest) return [wrong([...BODY, "bundle_version"], `There is no bundle ${bundle_version}`), ...ofTexts];
  const profiles = unknownProfiles(manifest, named).map((name) =>
    wrong([...BODY, "profiles", named.indexOf(name)], `The bundle has no profile ${name}`),
  );
  const tier =
    ha_tier === undefined || isOffered(manifest, ha_tier)
      ? []
      : [wrong([...BODY, "ha_tier"], `The bundle does not offer the HA tier ${ha_tier}`)];
  const journal = (install_journal ?? []).flatMap((entry, index) =>
    componentProblems(entry, [manifest], [...BODY, "install_journal", index]),
  );
  return [...profiles, ...tier, ...journal, ...ofTexts];
}

/** An event without a time counts as happening now. */
export function entryOf(event: InstallEvent, now: Date): JournalEntry {
  const at = event.at === undefined ? now : new Date(event.at);
  return {
    stage: event.stage,
    component: event.component ?? null,
    status: event.status,
    at: at.toISOString(),
    detail: event.detail ?? null,
    reason_code: event.reason_code ?? null,
  };
}

type StageFacts = Pick<InstallFacts, "stage" | "stage_status" | "stage_component" | "stage_at" | "install_journal">;

/** Every event sets the current stage. The journal keeps the newest events that end a stage. */
export function afterEvent(journal: readonly object[] | null, entry: JournalEntry): StageFacts {
  return {
    stage: entry.stage,
    stage_status: entry.status,
    stage_component: entry.component,
    stage_at: new Date(entry.at),
    install_journal: entry.status === "started" ? journal : [...(journal ?? []), entry].slice(-MAX_JOURNAL_ENTRIES),
  };
}

export type RecordFacts = Pick<
  InstallFacts,
  "bundle_version" | "profiles" | "ha_tier" | "volume_group_ownership" | "install_journal"
>;

/** Fields that are left out become null. The journal stays, because events write it. */
export function afterRecord(journal: readonly object[] | null, written: WrittenBundleRecord, now: Date): RecordFacts {
  return {
    bundle_version: written.bundle_version,
    profiles: written.profiles,
    ha_tier: written.ha_tier,
    volume_group_ownership: written.volume_group_ownership ?? null,
    install_journal: written.install_journal ? keptOf(written.install_journal, now) : journal,
  };
}

const keptOf = (entries: readonly WrittenEntry[], now: Date): JournalEntry[] =>
  entries.filter(({ status }) => status !== "started").map((entry) => entryOf(entry, now));

export function wireBundleRecord(facts: RecordFacts): BundleRecord {
  return {
    bundle_version: facts.bundle_version,
    profiles: facts.profiles,
    ha_tier: facts.ha_tier,
    volume_group_ownership: readable(facts.volume_group_ownership) as BundleRecord["volume_group_ownership"],
    install_journal: (facts.install_journal as JournalEntry[] | null)?.map(readableEntry) ?? null,
  };
}

/** Earlier versions stored any text. */
const readableEntry = (entry: JournalEntry): JournalEntry => ({
  ...entry,
  detail: readable(entry.detail) as JournalEntry["detail"],
  reason_code: entry.reason_code === null || isReadable(entry.reason_code) ? entry.reason_code : MASKED_CODE,
});

const MASKED_CODE = "MASKED";

/** The same value with its unreadable texts masked. */
function readable(value: unknown): unknown {
  if (typeof value === "string") return isReadable(value) ? value : maskRandom(safeText(value));
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(readable);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [readable(key), readable(inner)]));
}

export function stageEvent(cluster: Pick<Cluster, "id" | "name" | "org_id">, entry: JournalEntry): Announcement {
  return {
    type: "install_stage_update",
    org_id: cluster.org_id,
    cluster_id: cluster.id,
    resource: { type: "cluster", id: cluster.id, name: cluster.name },
    ...entry,
  };
}
