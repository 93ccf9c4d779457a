import type { CredentialCheck } from "@binnacle/client";
import { expect, test } from "vitest";
import { checkLines } from "./credential-labels.ts";

const CHECK: CredentialCheck = {
  ok: true,
  checked_at: "2026-01-31T09:00:00.000Z",
  identity: "arn:aws:iam::1:user/b",
  error: null,
  permissions: [{ action: "ec2:RunInstances", allowed: true }],
  quotas: [{ name: "vCPU", limit: 64, used: 12, ok: true }],
};

test.each<[string, Partial<CredentialCheck>, string, string]>([
  ["suffices", {}, "The credential suffices", "The provider knows it as arn:aws:iam::1:user/b."],
  [
    "is refused",
    { ok: false, error: { code: "bad_credentials", message: "Rotate the key." } },
    "The credential does not suffice",
    "Rotate the key.",
  ],
  [
    "lacks a permission",
    { ok: false, permissions: [{ action: "iam:PassRole", allowed: false }] },
    "The credential does not suffice",
    "The permission iam:PassRole is missing.",
  ],
  [
    "has used up a quota",
    { ok: false, quotas: [{ name: "vCPU", limit: 5, used: 5, ok: false }] },
    "The credential does not suffice",
    "The quota vCPU is used up: 5 of 5.",
  ],
])("[WC123] the check of a credential that %s says so, what is missing first", (_, change, title, first) => {
  const words = checkLines({ ...CHECK, ...change });
  expect([words.title, words.lines[0]]).toEqual([title, first]);
});

test("[WC123] the check of a credential names a permission that could not be determined last", () => {
  const permissions = [{ action: "iam:PassRole", allowed: null }];
  expect(checkLines({ ...CHECK, permissions }).lines.at(-1)).toContain("iam:PassRole");
});
