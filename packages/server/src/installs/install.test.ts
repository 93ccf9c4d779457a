import {
  INSTALL_STAGES,
  type InstallEvent,
  type JournalEntry,
  MAX_JOURNAL_ENTRIES,
  recordClusterBundle,
  reportInstallEvent,
  STAGE_STATUSES,
  STAGES,
  type WrittenBundleRecord,
} from "@binnacle/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { manifest } from "../bundles/manifests.fixture.ts";
import { bodyProblems } from "../http/checked.fixture.ts";
import {
  afterEvent,
  afterRecord,
  catalogProblems,
  componentProblems,
  entryOf,
  manifestsFor,
  wireBundleRecord,
} from "./install.ts";

const NOW = new Date("2030-01-31T09:30:00.000Z");
const OLD = manifest({ bundle: "1.0", core: { k3s: "1", promtail: "1" } });
const NEW = manifest({ bundle: "2.0", core: { k3s: "2" }, ha_tiers: ["single-server", "ha"] });

const completed = (facts: Partial<InstallEvent> = {}): InstallEvent => ({
  stage: "platform-storage",
  status: "completed",
  ...facts,
});
const written = (facts: Partial<WrittenBundleRecord> = {}): WrittenBundleRecord => ({
  bundle_version: "2.0",
  profiles: ["gitops"],
  ha_tier: "ha",
  ...facts,
});
const placesOf = (problems: readonly { loc: readonly (string | number)[] }[]) => problems.map(({ loc }) => loc);

const eventProblems = (event: InstallEvent) => bodyProblems(reportInstallEvent, event);
const recordProblems = (record: WrittenBundleRecord) => bodyProblems(recordClusterBundle, record);

describe("the form of an event", () => {
  test.each([[{}], [{ reason_code: null }]])(
    "[IN3] a failed event needs a reason code, which %j does not have",
    (facts) => {
      const failed = completed({ status: "failed", component: "longhorn" });
      expect(placesOf(eventProblems({ ...failed, ...facts }))).toEqual([["body", "reason_code"]]);
      expect(eventProblems({ ...failed, reason_code: "NO_DISK" })).toEqual([]);
    },
  );

  test.each(STAGES)("[IN4] an event of the stage %s may have a component", (stage) => {
    expect(eventProblems(completed({ stage, component: "longhorn" }))).toEqual([]);
    expect(eventProblems(completed({ stage, component: null }))).toEqual([]);
  });
});

describe("the component of an event", () => {
  test.each([
    ["1.0", "promtail", true],
    ["2.0", "promtail", false],
    [null, "promtail", true],
    ["0.9", "promtail", true],
    [null, "nonsense", false],
    [null, "constructor", false],
  ])("[IN5] with the bundle %s on record, the component %s is known: %s", (version, component, isKnown) => {
    const problems = componentProblems({ component }, manifestsFor([OLD, NEW], version));
    expect(placesOf(problems)).toEqual(isKnown ? [] : [["body", "component"]]);
  });
});

describe("the journal", () => {
  const anyEvent: fc.Arbitrary<InstallEvent> = fc.record({
    stage: fc.constantFrom(...INSTALL_STAGES),
    status: fc.constantFrom(...STAGE_STATUSES),
  });

  test("[IN6] the journal keeps events that end a stage, in order, and the newest event is the current stage", () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { minLength: 1 }), (events) => {
        const entries = events.map((event) => entryOf(event, NOW));
        const start = { install_journal: null as readonly object[] | null };
        const last = entries.reduce((facts, entry) => afterEvent(facts.install_journal, entry), start);
        const ended = entries.filter(({ status }) => status !== "started");
        expect(last.install_journal).toEqual(ended.length > 0 ? ended : null);
        expect(last).toMatchObject({ stage: entries.at(-1)?.stage, stage_status: entries.at(-1)?.status });
      }),
    );
  });

  test("[IN7] the journal keeps the newest entries", () => {
    const full = Array.from({ length: MAX_JOURNAL_ENTRIES }, (_, index) => ({ index }));
    const { install_journal } = afterEvent(full, entryOf(completed(), NOW));
    expect(install_journal).toHaveLength(MAX_JOURNAL_ENTRIES);
    expect(install_journal?.[0]).toEqual({ index: 1 });
    expect(install_journal?.at(-1)).toMatchObject({ stage: "platform-storage" });
  });
});

describe("a record that is written", () => {
  test("[IN13] a written bundle record drops omitted fields, except the journal", () => {
    const journal = [entryOf(completed(), NOW)];
    expect(afterRecord(journal, written(), NOW)).toEqual({
      bundle_version: "2.0",
      profiles: ["gitops"],
      ha_tier: "ha",
      volume_group_ownership: null,
      install_journal: journal,
    });
  });

  test("[IN14] a written bundle record is checked against the catalog, and all problems are reported at once", () => {
    expect(
      placesOf(catalogProblems(written({ bundle_version: "9.9", profiles: ["nonsense"] }), [OLD, NEW], NOW)),
    ).toEqual([["body", "bundle_version"]]);
    const wrong = written({ bundle_version: "1.0", profiles: ["gitops", "nonsense", "constructor"] });
    expect(placesOf(catalogProblems(wrong, [OLD, NEW], NOW))).toEqual([
      ["body", "profiles", 1],
      ["body", "profiles", 2],
      ["body", "ha_tier"],
    ]);
    expect(catalogProblems(written({ profiles: [] }), [OLD, NEW], NOW)).toEqual([]);
  });

  test("[IN15] the entries of a written journal obey the rules of events", () => {
    const install_journal = [
      completed(),
      completed({ status: "failed", component: "k3s" }),
      completed({ stage: "verify", component: "k3s" }),
      { ...completed(), at: "2030-01-31T23:59:60Z" },
    ];
    expect(placesOf(recordProblems(written({ install_journal })))).toEqual([
      ["body", "install_journal", 1, "reason_code"],
      ["body", "install_journal", 3, "at"],
    ]);
    const unknown = written({ install_journal: [completed(), completed({ component: "promtail" })] });
    expect(placesOf(catalogProblems(unknown, [OLD, NEW], NOW))).toEqual([["body", "install_journal", 1, "component"]]);
  });

  test("[IN15] a written journal drops entries that have only started, and each entry has a time", () => {
    const at = "2029-12-31T23:00:00+01:00";
    const install_journal = [completed({ status: "started" }), completed(), { ...completed(), at }];
    const { install_journal: kept } = afterRecord(null, written({ install_journal }), NOW);
    expect(kept?.map((entry) => (entry as JournalEntry).at)).toEqual([NOW.toISOString(), "2029-12-31T22:00:00.000Z"]);
  });

  test("[IN15] a bundle record may be written back as it was read", () => {
    const facts = afterRecord(
      [entryOf(completed({ status: "failed", reason_code: "X", component: "k3s" }), NOW)],
      written(),
      NOW,
    );
    const read = wireBundleRecord(facts) as WrittenBundleRecord;
    expect(recordProblems(read)).toEqual([]);
    expect(afterRecord(null, read, new Date(0))).toEqual(facts);
  });
});
