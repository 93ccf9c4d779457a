import { describe, expect, test } from "vitest";
import {
  CLI_TOKEN_PREFIX,
  cliToken,
  DEFAULT_LIFETIME_DAYS,
  digestOf,
  newOpaqueToken,
  wireCliToken,
} from "./cli-token.ts";

const NOW = new Date("2030-01-01T00:00:00Z");

const made = (lifetimeDays: number) =>
  cliToken(
    "an id",
    "a user",
    { name: "laptop", scopes: ["clusters:read", "clusters:read"], lifetimeDays, boundary: null },
    NOW,
  );

describe("a CLI token", () => {
  test("[CT1] a CLI token is valid for whole days from its creation, 90 by default", () => {
    expect(DEFAULT_LIFETIME_DAYS).toBe(90);
    expect(made(1).expires_at).toEqual(new Date("2030-01-02T00:00:00Z"));
    expect(made(365).expires_at).toEqual(new Date("2031-01-01T00:00:00Z"));
  });

  test("[CT3] a CLI token has each scope once", () => {
    expect(made(1).scopes).toEqual(["clusters:read"]);
  });

  test("[CT4] a CLI token on the wire has exactly its public fields, whatever the row holds", () => {
    const row = { ...made(1), token_digest: Buffer.alloc(32) };
    expect(wireCliToken(row, NOW)).toEqual({
      id: "an id",
      name: "laptop",
      scopes: ["clusters:read"],
      org_id: null,
      project_id: null,
      expires_at: "2030-01-02T00:00:00.000Z",
      expires_soon: true,
      last_used_at: null,
      last_used_address: null,
      created_at: "2030-01-01T00:00:00.000Z",
      updated_at: "2030-01-01T00:00:00.000Z",
    });
  });
});

describe("a CLI token that expires soon", () => {
  const DAY_MS = 24 * 60 * 60_000;
  test.each([
    ["more than 7 days before its end", 7 * DAY_MS + 1, false],
    ["7 days before its end", 7 * DAY_MS, true],
    ["a moment before its end", 1, true],
    ["at its end", 0, false],
  ])("[CT38] expires_soon is true only in the last 7 days of a CLI token: %s", (_, leftMs, isSoon) => {
    const token = made(30);
    const now = new Date(token.expires_at.getTime() - leftMs);
    expect(wireCliToken(token, now).expires_soon).toBe(isSoon);
  });
});

describe("opaque tokens", () => {
  test("[CT2] a CLI token is its prefix and 256 random bits", () => {
    expect(newOpaqueToken(CLI_TOKEN_PREFIX)).toMatch(/^bnc_[\w-]{43}$/);
    const made = Array.from({ length: 100 }, () => newOpaqueToken(""));
    expect(new Set(made).size).toBe(100);
  });

  test("[CT2] the digest of a CLI token has 32 bytes and is equal only for the same token", () => {
    const token = newOpaqueToken(CLI_TOKEN_PREFIX);
    expect(digestOf(token)).toEqual(digestOf(token));
    expect(digestOf(token)).not.toEqual(digestOf(newOpaqueToken(CLI_TOKEN_PREFIX)));
    expect(digestOf(token)).toHaveLength(32);
  });
});
