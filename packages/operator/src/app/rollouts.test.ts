import { expect, test } from "vitest";
import { createRollouts } from "./rollouts.ts";

function rolloutsOf(most: number) {
  const said: string[] = [];
  const clock = { ms: 0 };
  const line = ({ key }: { key?: string }, message: string) => void said.push(`${key}: ${message}`);
  const rollouts = createRollouts({ most, nowMs: () => clock.ms, log: { info: line, warn: line } });
  return { rollouts, clock, said };
}

test("[AO600] no more apps begin than are allowed at once, and one that has begun goes on", () => {
  const { rollouts } = rolloutsOf(2);
  expect(["a", "b", "c", "a", "d"].map(rollouts.mayBegin)).toEqual([true, true, false, true, false]);
});

test("[AO601] the next app begins when one has ended, in the order in which they came", () => {
  const { rollouts } = rolloutsOf(1);
  for (const key of ["a", "b", "c"]) rollouts.mayBegin(key);
  expect(rollouts.next()).toEqual([]);
  rollouts.ended("a");
  expect(rollouts.next()).toEqual(["b"]);
  expect(rollouts.mayBegin("b")).toBe(true);
  expect(rollouts.next()).toEqual([]);
});

test("[AO601] an app whose turn it was and that needs none any more keeps out nobody", () => {
  const { rollouts } = rolloutsOf(1);
  for (const key of ["a", "b", "c"]) rollouts.mayBegin(key);
  rollouts.ended("a");
  expect(rollouts.next()).toEqual(["b"]);
  expect(rollouts.next()).toEqual(["c"]);
  expect(rollouts.mayBegin("c")).toBe(true);
});

test("[AO601] an app that is gone waits no more", () => {
  const { rollouts } = rolloutsOf(1);
  for (const key of ["a", "b"]) rollouts.mayBegin(key);
  rollouts.ended("b");
  rollouts.ended("a");
  expect(rollouts.next()).toEqual([]);
});

test("[AO601] an app that does not run again keeps out others for 15 minutes and no longer", () => {
  const { rollouts, clock, said } = rolloutsOf(1);
  for (const key of ["a", "b"]) rollouts.mayBegin(key);
  clock.ms = 15 * 60_000 - 1;
  expect(rollouts.next()).toEqual([]);
  clock.ms += 1;
  expect(rollouts.next()).toEqual(["b"]);
  expect(said.at(-1)).toBe("a: an app does not run again with what this version of the operator renders; others go on");
});

test("[AO602] the log says once which apps wait, and which begin", () => {
  const { rollouts, said } = rolloutsOf(1);
  for (const key of ["a", "b", "b", "a"]) rollouts.mayBegin(key);
  expect(said).toEqual([
    "a: this version of the operator replaces the pods of an app",
    "b: an app waits for its turn to get what this version renders",
  ]);
});
