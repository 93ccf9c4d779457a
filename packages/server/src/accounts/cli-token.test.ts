import { describe, expect, test } from "vitest";
import { cliToken, DEFAULT_LIFETIME_DAYS, wireCliToken } from "./cli-token.ts";

const NOW = new Date("2030-01-01T00:00:00Z");

const made = (lifetimeDays: number) =>
  cliToken("an id", "a user", { name: "laptop", scopes: ["clusters:read", "clusters:read"], lifetimeDays }, NOW);

describe("a CLI token", () => {
  test("[CT1] lives for whole days from now on, 90 unless said otherwise", () => {
    expect(DEFAULT_LIFETIME_DAYS).toBe(90);
    expect(made(1).expires_at).toEqual(new Date("2030-01-02T00:00:00Z"));
    expect(made(365).expires_at).toEqual(new Date("2031-01-01T00:00:00Z"));
  });

  test("[CT3] holds each scope once", () => {
    expect(made(1).scopes).toEqual(["clusters:read"]);
  });

  test("[CT4] shows these fields and no other, whatever the row holds", () => {
    const row = { ...made(1), token_digest: Buffer.alloc(32) };
    expect(wireCliToken(row)).toEqual({
      id: "an id",
      name: "laptop",
      scopes: ["clusters:read"],
      expires_at: "2030-01-02T00:00:00.000Z",
      last_used_at: null,
      created_at: "2030-01-01T00:00:00.000Z",
      updated_at: "2030-01-01T00:00:00.000Z",
    });
  });
});
