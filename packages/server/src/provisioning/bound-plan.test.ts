import { describe, expect, test } from "vitest";
import { boundPlanProblem, type Decided, planDigest, staleProblem, unseenProblem } from "./bound-plan.ts";

const AGENT = 'aws_instance.agent["agent-2"]';
const SEEN: Decided = {
  changes: [
    { action: "delete", address: AGENT, type: "aws_instance", id: "i-2" },
    { action: "update", address: "aws_vpc.cluster", type: "aws_vpc", id: "vpc-1" },
  ],
  volumes: [{ action: "keep", id: "vol-1", claim: "shop/data", node: null, reason: "Its claim is retained." }],
  removed: [],
};
const [deletion, update] = SEEN.changes as [Decided["changes"][number], Decided["changes"][number]];
const planOf = (decided: Decided) => {
  const { changes, volumes } = decided;
  const shown = {
    planned_at: "",
    summary: { add: 0, change: 0, remove: 0 },
    changes: [...changes],
    volumes: [...volumes],
  };
  return { plan: { ...shown, estimate: null }, plan_digest: planDigest(decided) };
};

describe("the plan that a change is bound to", () => {
  test("[PN170] the same changes of the same resources are the same plan, in whatever order and for whatever reason", () => {
    const again = {
      ...SEEN,
      changes: [...SEEN.changes].reverse(),
      volumes: SEEN.volumes.map((volume) => ({ ...volume, reason: "Other words.", claim: null })),
    };
    expect(planDigest(again)).toBe(planDigest(SEEN));
    expect(boundPlanProblem(planOf(SEEN), again)).toBeNull();
  });

  test.each<[string, Partial<Decided>, RegExp]>([
    [
      "a further change",
      { changes: [...SEEN.changes, { ...deletion, address: "a.b", id: "i-3" }] },
      /would now remove a\.b \(i-3\)/,
    ],
    ["a change less", { changes: [deletion] }, /would no longer change aws_vpc\.cluster/],
    ["another action", { changes: [{ ...deletion, action: "replace" }, update] }, /would now replace .*agent-2/],
    ["another machine at the address", { changes: [{ ...deletion, id: "i-9" }, update] }, /would now remove .*\(i-9\)/],
    [
      "a disk that goes",
      { volumes: SEEN.volumes.map((one) => ({ ...one, action: "delete" })) },
      /would now delete the volume vol-1/,
    ],
    ["a further disk", { volumes: [] }, /would no longer keep the volume vol-1/],
    [
      "an orphan that goes",
      { removed: [{ type: "aws_subnet", id: "subnet-7" }] },
      /would now remove aws_subnet subnet-7/,
    ],
  ])("[PN170] %s is another plan, and is named", (_, change, words) => {
    const problem = boundPlanProblem(planOf(SEEN), { ...SEEN, ...change });
    expect(problem).toMatchObject({ code: "plan_changed", message: expect.stringMatching(words) });
  });

  test("[PN170] of many differences five are named, and the others are counted", () => {
    const changes = Array.from({ length: 9 }, (_, index) => ({ ...deletion, address: `a.b${index}` }));
    const { message } = boundPlanProblem(planOf({ ...SEEN, changes: [] }), { ...SEEN, changes }) ?? {};
    expect(message).toContain(", and 4 more. Nothing was changed.");
  });

  test.each([
    ["is gone", null],
    ["is one of an earlier release", { ...planOf(SEEN), plan_digest: null }],
  ])("[PN170] a change whose plan %s is refused", (_, seen) => {
    expect(boundPlanProblem(seen, SEEN)?.code).toBe("plan_changed");
  });
});

test("[PN170] an update that changes something else is another plan", () => {
  const seen = { ...SEEN, updates: { "aws_vpc.cluster": "one" } };
  expect(boundPlanProblem(planOf(seen), { ...seen, updates: { "aws_vpc.cluster": "one" } })).toBeNull();
  const other = { ...seen, updates: { "aws_vpc.cluster": "other" } };
  expect(boundPlanProblem(planOf(seen), other)?.code).toBe("plan_changed");
});

describe("the rest of a change that was begun", () => {
  const replaced = { ...deletion, action: "replace", address: "a.replaced", id: "i-5" } as const;
  const created = { ...deletion, action: "create", address: "a.created", id: null } as const;
  const lost = { ...SEEN.volumes[0], action: "delete", id: "vol-9" } as Decided["volumes"][number];
  const begun = planOf({ ...SEEN, changes: [...SEEN.changes, replaced, created], volumes: [...SEEN.volumes, lost] });
  const rest = (...changes: Decided["changes"]) => unseenProblem(begun, { changes, volumes: [] });

  test.each<[string, Decided["changes"]]>([
    ["there is nothing left", []],
    ["it is all of it", [...SEEN.changes, replaced, created]],
    ["a machine was removed and is still to be made", [{ ...replaced, action: "create", id: null }]],
    ["what was made exists beside the state", [{ ...created, action: "import", id: "i-7" }]],
    ["a machine that was made is broken", [{ ...created, action: "replace", id: "i-7" }]],
  ])("[PN171] it goes on where %s", (_, changes) => {
    expect(rest(...changes)).toBeNull();
    expect(unseenProblem(begun, { changes, volumes: [lost, ...SEEN.volumes] })).toBeNull();
  });

  test.each<[string, Decided["changes"][number], RegExp]>([
    ["removes another resource", { ...deletion, address: "a.other" }, /would now remove a\.other/],
    ["removes another machine at the address", { ...deletion, id: "i-9" }, /would now remove .*\(i-9\)/],
    ["replaces what was to be changed", { ...update, action: "replace" }, /would now replace aws_vpc\.cluster/],
    ["changes another resource", { ...update, address: "a.other" }, /would now change a\.other/],
    ["makes another resource", { ...created, address: "a.other" }, /would now create a\.other/],
  ])("[PN171] it is refused where it %s", (_, change, words) => {
    expect(rest(...SEEN.changes, change)).toMatchObject({ code: "failed", message: expect.stringMatching(words) });
  });

  test("[PN171] it is refused where another disk would go, and where the plan is gone", () => {
    const other = { ...lost, id: "vol-1" };
    expect(unseenProblem(begun, { changes: [], volumes: [other] })?.message).toMatch(
      /would now delete the volume vol-1/,
    );
    expect(unseenProblem(null, { changes: [deletion], volumes: [] })?.code).toBe("failed");
  });
});

const PLAN = {
  id: "p",
  cluster_id: "c",
  action: "scale",
  desired_node_count: 3,
  node: null,
  dry_run: true,
  status: "succeeded",
  plan_digest: "d",
  started_at: new Date(1_000),
} as const;
const WANTED = { cluster_id: "c", action: "scale", desired_node_count: 3, node: null } as const;
const BEFORE = { id: "a", finished_at: new Date(500) };

test.each([
  ["is of now", PLAN, WANTED, BEFORE, null],
  ["is of a cluster without jobs", PLAN, WANTED, undefined, null],
  ["there is not", undefined, WANTED, BEFORE, /no such plan/],
  ["is of another cluster", { ...PLAN, cluster_id: "other" }, WANTED, BEFORE, /no such plan/],
  ["is not a plan", { ...PLAN, dry_run: false }, WANTED, BEFORE, /no such plan/],
  ["is being made", { ...PLAN, status: "running" }, WANTED, BEFORE, /still being made/],
  ["has failed", { ...PLAN, status: "failed" }, WANTED, BEFORE, /has failed/],
  ["is of another size", PLAN, { ...WANTED, desired_node_count: 4 }, BEFORE, /another change/],
  ["is of another action", PLAN, { ...WANTED, action: "destroy", desired_node_count: null }, BEFORE, /another change/],
  ["is of another node", { ...PLAN, node: "agent-1" }, { ...WANTED, node: "agent-2" }, BEFORE, /another change/],
  ["is of an earlier release", { ...PLAN, plan_digest: null }, WANTED, BEFORE, /earlier release/],
  ["was made before the last job ended", PLAN, WANTED, { id: "b", finished_at: new Date(2_000) }, /out of date/],
  ["was made before a job that runs", PLAN, WANTED, { id: "b", finished_at: null }, /out of date/],
] as const)("[PV100] a change bound to a plan that %s is allowed or refused", (_, plan, wanted, newest, refusal) => {
  const problem = staleProblem(plan, wanted, newest);
  if (refusal === null) expect(problem).toBeNull();
  else expect(problem?.message).toMatch(refusal);
});
