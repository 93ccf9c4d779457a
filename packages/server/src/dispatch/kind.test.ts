import { describe, expect, test } from "vitest";
import { matchReports } from "../hub/reports.store.ts";
import { newId } from "../id.adapter.ts";
import { type DispatchedKind, outcomeOf, type ReportedRow, type StatusFrame } from "./kind.ts";

const ID = newId();
const row = (facts: Partial<ReportedRow> = {}): ReportedRow => ({
  kind: "app",
  resource_id: ID,
  key: "app/shop/web",
  generation: 3,
  removed_at: null,
  acked_generation: 3,
  ...facts,
});
const REMOVED = row({ removed_at: new Date() });
const gone = (generation: number) => ({ generation, report: { state: "gone" } as const });
const ready = (generation: number) => ({ generation, report: { state: "ready", message: null } as const });

/** Writes down what it is given. */
const kind: Pick<DispatchedKind<"project", string>, "afterReport" | "afterLoss" | "isDeleting"> = {
  afterReport: (before, generation) => `${before} seen ${generation}`,
  afterLoss: (before) => `${before} missing`,
  isDeleting: (before) => before !== "staying",
};
const outcome = (reported: ReportedRow, before: string, frames: Parameters<typeof outcomeOf>[3]) =>
  outcomeOf(kind, reported, before, frames, new Date(0));

describe("an absence", () => {
  test.each([
    ["of the removal", 3, true],
    ["of a later generation", 4, true],
    ["of an earlier generation", 2, false],
  ])(
    "[DS21] the absence %s ends the record only from the removal's generation on (row %#)",
    (_, generation, isGone) => {
      expect(outcome(REMOVED, "app", [gone(generation)])).toMatchObject({ isGone, lostGeneration: null });
    },
  );

  test("[DS21] an absence does not end a record that is not being deleted", () => {
    expect(outcome(REMOVED, "staying", [gone(3)]).isGone).toBe(false);
  });

  test("[DS21] after an absence that ends a record, other reports of the batch change nothing", () => {
    expect(outcome(REMOVED, "app", [ready(3), gone(3), ready(3)])).toMatchObject({
      after: "app",
      isGone: true,
    });
  });

  test.each([
    ["what is held", 3, 3, 3],
    ["something newer than is held", 3, 4, 4],
    ["something older than is held", 3, 2, null],
    ["what nobody has confirmed to hold", null, 3, null],
  ])(
    "[DS23] the absence of %s counts as a loss only where the cluster held it (row %#)",
    (_, acked_generation, generation, lostGeneration) => {
      const lost = outcome(row({ acked_generation }), "app", [gone(generation)]);
      expect(lost).toMatchObject({ isGone: false, lostGeneration });
      expect(lost.after).toBe(lostGeneration === null ? "app" : "app missing");
    },
  );
});

test("[DS25] reports on one resource are applied in their order", () => {
  expect(outcome(row(), "app", [ready(2), gone(3), ready(3)]).after).toBe("app seen 2 missing seen 3");
});

describe("whose reports count", () => {
  const frame = (facts: Partial<StatusFrame>): StatusFrame => ({
    type: "status",
    id: newId(),
    session: newId(),
    key: "project/shop",
    resource_id: ID,
    ...ready(3),
    ...facts,
  });
  const projectRow = row({ kind: "project", key: "project/shop" });
  const reportsOn = (rows: ReportedRow[], facts: Partial<StatusFrame>) =>
    matchReports(rows, [frame(facts)])("project", ID);

  test("[DS11] a report under the key and id of a desired resource applies to it", () => {
    expect(reportsOn([projectRow], {})).toMatchObject({ row: projectRow, frames: [{ generation: 3 }] });
  });

  test.each<[string, ReportedRow[], Partial<StatusFrame>]>([
    ["without a row", [], {}],
    ["under another key", [projectRow], { key: "project/other" }],
    ["under the key of another kind", [projectRow], { key: "registry_secrets/shop" }],
    ["with another id", [projectRow], { resource_id: newId() }],
    ["of a row of another kind", [row({ kind: "registry_secrets", key: "project/shop" })], {}],
  ])("[DS11] a report %s applies to no resource", (_, rows, facts) => {
    expect(reportsOn(rows, facts)).toBeNull();
  });
});
