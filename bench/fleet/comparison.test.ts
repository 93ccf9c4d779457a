import { expect, test } from "vitest";
import { differences, type HeldApp, isRunning, type ReportedApp } from "./comparison.ts";

const place = { clusterId: "c", key: "fleet/app" };
const change = { ...place, generation: 2, image: "web:2" };
const reported: ReportedApp = { ...place, generation: 2, observedGeneration: 2, phase: "running", image: "web:2" };
const held: HeldApp = { ...place, generation: 2, readyImage: "web:2" };

test("[FL3] an app that is the same in the change, the API and the cluster is not a difference", () => {
  expect(differences([change], [reported], [held])).toEqual([]);
  // An answer that was lost on the way is asked for again, and the repetition is a generation of its own.
  const again = { generation: 3, observedGeneration: 3 };
  expect(differences([change], [{ ...reported, ...again }], [{ ...held, generation: 3 }])).toEqual([]);
});

test.each([
  [[], [], "was accepted and is not in the API"],
  [
    [{ ...reported, generation: 1, observedGeneration: 1 }],
    [{ ...held, generation: 1 }],
    "was accepted as generation 2 and is 1 in the API",
  ],
  [
    [{ ...reported, image: "web:1" }],
    [{ ...held, readyImage: "web:1" }],
    "was accepted with web:2 and has web:1 in the API",
  ],
  [[{ ...reported, phase: "deploying" }], [held], "is deploying, seen at generation 2 of 2"],
  [[{ ...reported, observedGeneration: 1 }], [held], "is running, seen at generation 1 of 2"],
  [[reported], [], "is not on its cluster"],
  [[reported], [{ ...held, generation: 1 }], "is generation 1 on its cluster and 2 in the API"],
  [[reported], [{ ...held, readyImage: "web:1" }], "has web:2 in the API, and web:1 is ready on its cluster"],
] as const)("[FL3] with %j in the API and %j on the cluster, the app %s", (toldApps, heldApps, problem) => {
  expect(differences([change], toldApps, heldApps)).toEqual([`fleet/app on c ${problem}.`]);
});

test("[FL3] an app that only a cluster has is a difference, and so is one on another cluster", () => {
  expect(differences([], [], [held])).toEqual(["fleet/app on c is not in the API."]);
  expect(differences([change], [reported], [{ ...held, clusterId: "d" }])).toEqual([
    "fleet/app on c is not on its cluster.",
    "fleet/app on d is not in the API.",
  ]);
});

test("[FL3] an app runs once its newest generation was reported as running", () => {
  expect(isRunning(reported)).toBe(true);
  expect(isRunning({ ...reported, observedGeneration: null })).toBe(false);
  expect(isRunning({ ...reported, generation: 3 })).toBe(false);
});
