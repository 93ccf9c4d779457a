import { expect, test } from "vitest";
import { differences, type HeldApp, isRunning, type ToldApp } from "./comparison.ts";

const place = { clusterId: "c", key: "fleet/app" };
const change = { ...place, generation: 2, image: "web:2" };
const told: ToldApp = { ...place, generation: 2, observedGeneration: 2, phase: "running", image: "web:2" };
const held: HeldApp = { ...place, generation: 2, readyImage: "web:2" };

test("[FL3] an app that is the same in the change, the API and the cluster is no difference", () => {
  expect(differences([change], [told], [held])).toEqual([]);
  // An answer that was lost on the way is asked for again, and the repetition is a generation of its own.
  const again = { generation: 3, observedGeneration: 3 };
  expect(differences([change], [{ ...told, ...again }], [{ ...held, generation: 3 }])).toEqual([]);
});

test.each([
  [[], [], "was accepted and is not in the API"],
  [
    [{ ...told, generation: 1, observedGeneration: 1 }],
    [{ ...held, generation: 1 }],
    "was accepted as generation 2 and is 1 in the API",
  ],
  [
    [{ ...told, image: "web:1" }],
    [{ ...held, readyImage: "web:1" }],
    "was accepted with web:2 and has web:1 in the API",
  ],
  [[{ ...told, phase: "deploying" }], [held], "is deploying, seen at generation 2 of 2"],
  [[{ ...told, observedGeneration: 1 }], [held], "is running, seen at generation 1 of 2"],
  [[told], [], "is not on its cluster"],
  [[told], [{ ...held, generation: 1 }], "is generation 1 on its cluster and 2 in the API"],
  [[told], [{ ...held, readyImage: "web:1" }], "has web:2 in the API, and web:1 is ready on its cluster"],
] as const)("[FL3] with %j in the API and %j on the cluster, the app %s", (toldApps, heldApps, problem) => {
  expect(differences([change], toldApps, heldApps)).toEqual([`fleet/app on c ${problem}.`]);
});

test("[FL3] what a cluster holds alone is a difference, and so is what another cluster holds", () => {
  expect(differences([], [], [held])).toEqual(["fleet/app on c is not in the API."]);
  expect(differences([change], [told], [{ ...held, clusterId: "d" }])).toEqual([
    "fleet/app on c is not on its cluster.",
    "fleet/app on d is not in the API.",
  ]);
});

test("[FL3] an app runs once its newest generation was reported as running", () => {
  expect(isRunning(told)).toBe(true);
  expect(isRunning({ ...told, observedGeneration: null })).toBe(false);
  expect(isRunning({ ...told, generation: 3 })).toBe(false);
});
