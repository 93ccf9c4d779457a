import { describe, expect, test } from "vitest";
import { CLI_TOKEN_PREFIX, digestOf, newOpaqueToken } from "./opaque-token.ts";

describe("opaque tokens", () => {
  test("[CT2] a token is its prefix and 256 random bits", () => {
    expect(newOpaqueToken(CLI_TOKEN_PREFIX)).toMatch(/^bnc_[\w-]{43}$/);
    const made = Array.from({ length: 100 }, () => newOpaqueToken(""));
    expect(new Set(made).size).toBe(100);
  });

  test("[CT2] a digest is the same for the same token alone and shows nothing of it", () => {
    const token = newOpaqueToken(CLI_TOKEN_PREFIX);
    expect(digestOf(token)).toEqual(digestOf(token));
    expect(digestOf(token)).not.toEqual(digestOf(newOpaqueToken(CLI_TOKEN_PREFIX)));
    expect(digestOf(token)).toHaveLength(32);
  });
});
