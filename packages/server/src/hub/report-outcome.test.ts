import { describe, expect, test } from "vitest";
import { newId } from "../id.ts";
import { type DesiredRow, judgeOf, outcomeOf, type StatusFrame, type Steps } from "./report-outcome.ts";

const ID = newId();
const row = (facts: Partial<DesiredRow> = {}): DesiredRow => ({
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

/** Counts what it hears. */
const steps: Steps<string, "project"> = {
  seen: (before, generation) => `${before} seen ${generation}`,
  missing: (before) => `${before} missing`,
  isLeaving: (before) => before !== "staying",
};

describe("an absence", () => {
  test.each([
    ["of the removal", 3, true],
    ["of a later generation", 4, true],
    ["of an earlier generation", 2, false],
  ])("[DS21] %s confirms it: %#", (_, generation, isGone) => {
    expect(outcomeOf(REMOVED, "app", [gone(generation)], steps)).toMatchObject({ isGone, lostGeneration: null });
  });

  test("[DS21] confirms nothing where the record is not on its way out", () => {
    expect(outcomeOf(REMOVED, "staying", [gone(3)], steps).isGone).toBe(false);
  });

  test("[DS21] is the end: what else comes with it changes nothing", () => {
    expect(outcomeOf(REMOVED, "app", [ready(3), gone(3), ready(3)], steps)).toMatchObject({
      after: "app",
      isGone: true,
    });
  });

  test.each([
    ["what is held", 3, 3, 3],
    ["something newer than is held", 3, 4, 4],
    ["something older than is held", 3, 2, null],
    ["what nobody has confirmed to hold", null, 3, null],
  ])("[DS23] of something wanted, %s, is a loss: %#", (_, acked_generation, generation, lostGeneration) => {
    const outcome = outcomeOf(row({ acked_generation }), "app", [gone(generation)], steps);
    expect(outcome).toMatchObject({ isGone: false, lostGeneration });
    expect(outcome.after).toBe(lostGeneration === null ? "app" : "app missing");
  });
});

test("[DS25] reports on one resource are gone through in their order", () => {
  expect(outcomeOf(row(), "app", [ready(2), gone(3), ready(3)], steps).after).toBe("app seen 2 missing seen 3");
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
  const judged = (rows: DesiredRow[], facts: Partial<StatusFrame>) =>
    judgeOf(rows, [frame(facts)])("project", ID, "project", steps);

  test("[DS11] a report under the key and id of a row is about it", () => {
    expect(judged([projectRow], {})).toMatchObject([{ after: "project seen 3" }]);
  });

  test.each<[string, DesiredRow[], Partial<StatusFrame>]>([
    ["without a row", [], {}],
    ["under another key", [projectRow], { key: "project/other" }],
    ["under the key of another kind", [projectRow], { key: "registry_secrets/shop" }],
    ["with another id", [projectRow], { resource_id: newId() }],
    ["of a row of another kind", [row({ kind: "registry_secrets", key: "project/shop" })], {}],
  ])("[DS11] one %s is about nothing", (_, rows, facts) => {
    expect(judged(rows, facts)).toEqual([]);
  });
});
