import type { Suspension } from "@binnacle/client";
import { expect, test } from "vitest";
import { suspensionText, unsuspending } from "./suspension.ts";

const BASE = {
  by: "ada@example.com",
  at: "2026-01-31T09:30:00.000Z",
  reason: "Incident 42.",
  state: "in_effect",
} as const;
const WHO =
  "is suspended by ada@example.com since 2026-01-31T09:30:00.000Z (Incident 42.): the operator does not touch it.";

test.each<[Suspension["scope"], Suspension["scope"], string]>([
  ["app", "app", `shop ${WHO}`],
  ["app", "project", `The project of shop ${WHO}`],
  ["app", "cluster", `The cluster of shop ${WHO}`],
  ["project", "project", `shop ${WHO}`],
  ["project", "cluster", `The cluster of shop ${WHO}`],
  ["cluster", "cluster", `shop ${WHO}`],
])("[SN9] the command line says of a suspended %s who has suspended the %s, and why", (scope, suspended, text) => {
  expect(suspensionText({ scope, name: "shop" }, { ...BASE, scope: suspended })).toBe(text);
});

test("[SN9] the command line says where a suspension does not hold, and where there is none", () => {
  const shown = { ...BASE, by: null, reason: null, scope: "project", state: "not_in_effect" } as const;
  expect(suspensionText({ scope: "project", name: "shop" }, shown)).toMatch(
    /^shop is suspended by somebody .*IT IS NOT IN EFFECT/,
  );
  expect(suspensionText({ scope: "project", name: "shop" }, null)).toBe("shop is not suspended.");
});

test.each<[Suspension["scope"], string]>([
  ["app", "binnacle apps unsuspend web"],
  ["project", "binnacle projects unsuspend <project>"],
  ["cluster", "binnacle clusters unsuspend <cluster>"],
])("[SN9] the command line names the command that ends the suspension of the %s", (scope, line) => {
  expect(unsuspending({ scope }, "web")).toBe(line);
});
