import { createProject, LIFECYCLE_REASONS, PROJECT_LIFECYCLES } from "@binnacle/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bodyProblems } from "../http/checked.fixture.ts";
import {
  applyFailed,
  CREATED,
  cleanupUnconfirmed,
  confirmedGone,
  type Lifecycle,
  namespaceConflict,
  requestDeletion,
  seenOnCluster,
  unconfirmed,
} from "./project.ts";

const ID = "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11";

const at = (
  lifecycle: Lifecycle["lifecycle"],
  lifecycle_reason: Lifecycle["lifecycle_reason"] = null,
  lifecycle_message: string | null = lifecycle_reason && "why",
): Lifecycle => ({ lifecycle, lifecycle_reason, lifecycle_message });

const PENDING = at("pending");
const READY = at("ready");
const UNREACHABLE = at("degraded", "operator_unreachable");
const FAILED = at("degraded", "apply_failed");
const CONFLICT = at("degraded", "namespace_conflict");
const GOING = at("cleanup_pending");
const STUCK = at("cleanup_pending", "cleanup_degraded");
const GIVEN_UP = at("cleanup_degraded", "cluster_abandoned", "the cluster was abandoned");

const fail = (before: Lifecycle) => applyFailed(before, "why");
const conflict = (before: Lifecycle) => namespaceConflict(before, "why");
const timeOut = (before: Lifecycle) => unconfirmed(before, "why");
const cleanupTimesOut = (before: Lifecycle) => cleanupUnconfirmed(before, "why");

/** Every occasion in every state; null means no change. */
const TABLE = [
  ["[PR14]", "is seen on the cluster", seenOnCluster, PENDING, READY],
  ["[PR14]", "is seen on the cluster", seenOnCluster, UNREACHABLE, READY],
  ["[PR14]", "is seen on the cluster", seenOnCluster, FAILED, READY],
  ["[PR14]", "is seen on the cluster", seenOnCluster, CONFLICT, READY],
  ["[PR14]", "is seen on the cluster", seenOnCluster, READY, null],
  ["[PR18]", "is seen on the cluster", seenOnCluster, GOING, null],
  ["[PR18]", "is seen on the cluster", seenOnCluster, STUCK, null],

  ["[PR73]", "is seen on the cluster", seenOnCluster, GIVEN_UP, null],
  ["[PR73]", "is not confirmed in time", timeOut, GIVEN_UP, null],
  ["[PR73]", "cannot be applied", fail, GIVEN_UP, null],
  ["[PR74]", "is to be deleted", requestDeletion, GIVEN_UP, null],
  ["[PR73]", "is not cleaned up in time", cleanupTimesOut, GIVEN_UP, { ...GIVEN_UP, lifecycle_message: "why" }],

  ["[PR16]", "is not confirmed in time", timeOut, PENDING, UNREACHABLE],
  ["[PR16]", "is not confirmed in time", timeOut, READY, null],
  ["[PR16]", "is not confirmed in time", timeOut, UNREACHABLE, null],
  ["[PR16]", "is not confirmed in time", timeOut, FAILED, null],
  ["[PR16]", "is not confirmed in time", timeOut, CONFLICT, null],
  ["[PR18]", "is not confirmed in time", timeOut, GOING, null],
  ["[PR18]", "is not confirmed in time", timeOut, STUCK, null],

  ["[PR15]", "cannot be applied", fail, PENDING, FAILED],
  ["[PR15]", "cannot be applied", fail, READY, FAILED],
  ["[PR15]", "cannot be applied", fail, UNREACHABLE, FAILED],
  ["[PR15]", "cannot be applied", fail, CONFLICT, FAILED],
  ["[PR15]", "cannot be applied", fail, FAILED, null],
  ["[PR18]", "cannot be applied", fail, GOING, null],
  ["[PR18]", "cannot be applied", fail, STUCK, null],

  ["[PR15]", "has a namespace of somebody else's", conflict, PENDING, CONFLICT],
  ["[PR15]", "has a namespace of somebody else's", conflict, READY, CONFLICT],
  ["[PR15]", "has a namespace of somebody else's", conflict, UNREACHABLE, CONFLICT],
  ["[PR15]", "has a namespace of somebody else's", conflict, FAILED, CONFLICT],
  ["[PR15]", "has a namespace of somebody else's", conflict, CONFLICT, null],
  ["[PR18]", "has a namespace of somebody else's", conflict, GOING, null],
  ["[PR18]", "has a namespace of somebody else's", conflict, STUCK, null],

  ["[PR11]", "is to be deleted", requestDeletion, PENDING, GOING],
  ["[PR11]", "is to be deleted", requestDeletion, READY, GOING],
  ["[PR11]", "is to be deleted", requestDeletion, UNREACHABLE, GOING],
  ["[PR11]", "is to be deleted", requestDeletion, FAILED, GOING],
  ["[PR11]", "is to be deleted", requestDeletion, CONFLICT, GOING],
  ["[PR11]", "is to be deleted", requestDeletion, GOING, null],
  ["[PR11]", "is to be deleted", requestDeletion, STUCK, null],

  ["[PR17]", "is not cleaned up in time", cleanupTimesOut, GOING, STUCK],
  ["[PR17]", "is not cleaned up in time", cleanupTimesOut, STUCK, null],
  ["[PR17]", "is not cleaned up in time", cleanupTimesOut, PENDING, null],
  ["[PR17]", "is not cleaned up in time", cleanupTimesOut, READY, null],
  ["[PR17]", "is not cleaned up in time", cleanupTimesOut, UNREACHABLE, null],
  ["[PR17]", "is not cleaned up in time", cleanupTimesOut, FAILED, null],
  ["[PR17]", "is not cleaned up in time", cleanupTimesOut, CONFLICT, null],
] as const;

describe("the lifecycle of a project", () => {
  test("[PR1] a project begins as pending", () => {
    expect(CREATED).toEqual(PENDING);
  });

  test.each(TABLE)(
    "%s a project that %s has the specified lifecycle afterwards",
    (_rule, _occasion, transition, before, after) => {
      expect(transition(before)).toEqual(after);
    },
  );

  test.each([
    [GOING, true],
    [STUCK, true],
    [GIVEN_UP, true],
    [PENDING, false],
    [READY, false],
    [FAILED, false],
    [CONFLICT, false],
  ])("[PR18] the record of a project in %j is deleted when its namespace is gone: %s", (before, goes) => {
    expect(confirmedGone(before)).toBe(goes);
  });
});

describe("whatever happens to a project", () => {
  const transitions = [seenOnCluster, timeOut, fail, conflict, requestDeletion, cleanupTimesOut];
  const anyHistory = fc.array(fc.constantFrom(...transitions));
  const run = (history: readonly ((before: Lifecycle) => Lifecycle | null)[], start = CREATED) =>
    history.reduce((now, transition) => transition(now) ?? now, start);

  test("[PR18] a project whose deletion was requested stays so, whatever happens afterwards", () => {
    fc.assert(
      fc.property(anyHistory, anyHistory, (before, after) => {
        expect(run([...before, requestDeletion, ...after]).lifecycle).toBe("cleanup_pending");
      }),
    );
  });

  test("[PR15] a project has a reason if it is degraded or its cleanup is stuck, and none otherwise", () => {
    fc.assert(
      fc.property(anyHistory, (history) => {
        const { lifecycle, lifecycle_reason, lifecycle_message } = run(history);
        expect(PROJECT_LIFECYCLES).toContain(lifecycle);
        if (lifecycle === "degraded") expect(LIFECYCLE_REASONS.slice(0, 3)).toContain(lifecycle_reason);
        else if (lifecycle_reason !== null)
          expect([lifecycle, lifecycle_reason]).toEqual(["cleanup_pending", "cleanup_degraded"]);
        expect(lifecycle_message === null).toBe(lifecycle_reason === null);
      }),
    );
  });

  test("[PR14] a transition that is repeated changes nothing the second time", () => {
    fc.assert(
      fc.property(anyHistory, fc.constantFrom(...transitions), (history, transition) => {
        expect(transition(run([...history, transition]))).toBeNull();
      }),
    );
  });
});

test.each([
  ["default", true],
  ["binnacle-system", true],
  ["kube-system", true],
  ["kube-anything", true],
  ["kube", false],
  ["kubes", false],
  ["default-2", false],
  ["my-kube-project", false],
  ["binnacle", false],
])("[PR2] the project name %s is reserved: %s", (name, isReserved) => {
  const item = { loc: ["body", "name"], msg: expect.stringContaining("reserved"), type: "value_error" };
  expect(bodyProblems(createProject, { name, cluster_id: ID })).toEqual(isReserved ? [item] : []);
});
