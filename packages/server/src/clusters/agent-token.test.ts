import { TestClock } from "@binnacle/world";
import { describe, expect, test } from "vitest";
import { createTokens } from "../accounts/tokens.adapter.ts";
import { createAgentTokens } from "./agent-token.adapter.ts";

const KEY = "a signing key of the tests, long enough";
const ID = "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11";
const DAY_MS = 86_400_000;

async function minted() {
  const clock = new TestClock(Date.UTC(2026, 0, 1));
  const tokens = await createAgentTokens(KEY, clock.now);
  return { clock, tokens, ...(await tokens.mint(ID, 7)) };
}

describe("an agent JWT", () => {
  test("[CL34] an agent JWT names its cluster and its version", async () => {
    const { tokens, token, expiresAt } = await minted();
    expect(await tokens.read(token)).toEqual({ clusterId: ID, tokenVersion: 7, expiresAt });
  });

  test("[CL34] an agent JWT is valid for 365 days", async () => {
    const { clock, tokens, token, expiresAt } = await minted();
    expect(expiresAt.toISOString()).toBe("2027-01-01T00:00:00.000Z");
    clock.advance(365 * DAY_MS - 1000);
    expect(await tokens.read(token)).not.toBeNull();
    clock.advance(1000);
    expect(await tokens.read(token)).toBeNull();
  });

  test("[CL34] an agent JWT is not accepted as a user's token, and a user's token is not accepted as an agent JWT", async () => {
    const { clock, tokens, token } = await minted();
    const users = await createTokens(KEY, clock.now);
    for (const purpose of ["access", "refresh"] as const) {
      expect(await users.read(purpose, token)).toBeNull();
      const claims = { sessionId: ID, userId: ID, expiresAtMs: clock.now().getTime() + DAY_MS };
      expect(await tokens.read(await users.sign(purpose, claims))).toBeNull();
    }
  });

  test("[CL34] an agent JWT that is signed with another key, altered or without an end is refused", async () => {
    const { clock, tokens, token } = await minted();
    const others = await createAgentTokens(`${KEY}!`, clock.now);
    expect(await others.read(token)).toBeNull();
    const [header = "", payload = "", signature = ""] = token.split(".");
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString());
    const raised = Buffer.from(JSON.stringify({ ...claims, ver: 8 })).toString("base64url");
    expect(await tokens.read([header, raised, signature].join("."))).toBeNull();
    const unsigned = Buffer.from('{"alg":"none"}').toString("base64url");
    expect(await tokens.read(`${unsigned}.${payload}.`)).toBeNull();
    expect(await tokens.read("x".repeat(3000))).toBeNull();
  });
});
