import { expect, test } from "vitest";
import { adviceParts, asksForAction } from "./reason.ts";

test.each([
  [
    "a message of its own",
    "InvalidHost",
    'The host of "web" ends with a dot.',
    ["The host of an ingress is not the name of a host. Correct ", "ingress.host", "."],
  ],
  [
    "the meaning as its message",
    "StartError",
    "A container cannot be started: its command is missing or not executable.",
    ["Correct ", "command", ", or the image."],
  ],
  [
    "no message",
    "Evicted",
    null,
    [
      "A node has put a pod out, mostly because it ran out of memory or disk. Set ",
      "resources.requests",
      " to what the program uses.",
    ],
  ],
  ["no reason", null, "It is not ready.", []],
  ["a reason of another version", "ReasonOfTomorrow", null, []],
  ["the name of a method for a reason", "toString", null, []],
])("[WC32] a phase with %s has what it means and what to do beside it", (_, reason, message, parts) => {
  expect(adviceParts(reason, message)).toEqual(parts);
});

test.each([
  ["CrashLoopBackOff", true],
  ["RollingOut", true],
  ["ReasonOfTomorrow", true],
  ["RolloutComplete", false],
  ["ReleaseReady", false],
  [null, false],
])("[WC32] whether the reason %s is shown beside another trouble is %s", (reason, isShown) => {
  expect(asksForAction(reason)).toBe(isShown);
});
