import { describe, expect, test } from "vitest";
import {
  CLI_TOKEN_PREFIX,
  cliToken,
  cliTokenUseRecorder,
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
  ])("[CT38] %s", (_, leftMs, isSoon) => {
    const token = made(30);
    const now = new Date(token.expires_at.getTime() - leftMs);
    expect(wireCliToken(token, now).expires_soon).toBe(isSoon);
  });
});

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

const at = (seconds: number) => new Date(Date.UTC(2030, 0, 1) + seconds * 1000);

/** Writes that end when the test says so. */
function uses() {
  const writes: { tokenId: string; address: string; now: Date; write: PromiseWithResolvers<void> }[] = [];
  const note = cliTokenUseRecorder((use, now) => {
    const write = Promise.withResolvers<void>();
    writes.push({ ...use, now, write });
    return write.promise;
  });
  return { writes, note };
}

const by = (tokenId: string) => ({ tokenId, address: "203.0.113.7" });

/** Lets what follows a settled promise run. */
const settled = () => new Promise(setImmediate);

describe("the last use of a CLI token", () => {
  test("[CT9] the first use is noted", () => {
    const { writes, note } = uses();
    note(by("a"), null, at(0));
    expect(writes).toMatchObject([{ tokenId: "a", address: "203.0.113.7", now: at(0) }]);
  });

  test("[CT9] a use within a minute of the noted one is not, the one after it is", () => {
    const { writes, note } = uses();
    note(by("a"), at(0), at(59.999));
    expect(writes).toHaveLength(0);
    note(by("a"), at(0), at(60));
    expect(writes).toHaveLength(1);
  });

  test("[CT9] uses made while one is being noted add no further write, those of another token do", () => {
    const { writes, note } = uses();
    note(by("a"), null, at(0));
    note(by("a"), null, at(0));
    note(by("b"), null, at(0));
    expect(writes.map(({ tokenId }) => tokenId)).toEqual(["a", "b"]);
  });

  test("[CT9] a use that could not be noted is forgotten, and the next one is tried", async () => {
    const { writes, note } = uses();
    note(by("a"), null, at(0));
    writes[0]?.write.reject(new Error("the database is away"));
    await settled();
    note(by("a"), null, at(1));
    expect(writes).toHaveLength(2);
  });

  test("[CT9] a clock that was set back notes nothing until it has caught up", () => {
    const { writes, note } = uses();
    note(by("a"), at(3600), at(0));
    expect(writes).toHaveLength(0);
  });
});
