import { TestClock } from "@binnacle/world/clock";
import { decodeJwt, decodeProtectedHeader } from "jose";
import { beforeEach, describe, expect, test } from "vitest";
import { createTokens, type TokenClaims, type Tokens } from "./tokens.adapter.ts";

const KEY = "a signing key that only this test knows";
const MINUTE = 60_000;

let clock: TestClock;
let tokens: Tokens;
let claims: TokenClaims;

beforeEach(async () => {
  clock = new TestClock(Date.UTC(2030, 0, 1));
  tokens = await createTokens(KEY, clock.now);
  claims = { sessionId: "a session", userId: "a user", expiresAtMs: clock.now().getTime() + 30 * MINUTE };
});

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** The same token with one of its parts replaced. */
function forged(token: string, part: "header" | "payload" | "signature", replacement: string): string {
  const [header = "", payload = "", signature = ""] = token.split(".");
  return Object.values({ header, payload, signature, [part]: replacement }).join(".");
}

describe("tokens", () => {
  test("[AU10] a token is read with the claims that were signed, however often it is read", async () => {
    const token = await tokens.sign("access", claims);
    expect(await tokens.read("access", token)).toEqual(claims);
    expect(await tokens.read("access", token)).toEqual(claims);
  });

  test("[AU10] a token names its issuer, audience, user, session, times and an id of its own", async () => {
    const [first, second] = [await tokens.sign("access", claims), await tokens.sign("access", claims)];
    const seconds = clock.now().getTime() / 1000;
    expect(decodeProtectedHeader(first)).toEqual({ alg: "HS256", typ: "JWT" });
    expect(decodeJwt(first)).toEqual({
      iss: "binnacle",
      aud: "binnacle:access",
      sub: "a user",
      sid: "a session",
      iat: seconds,
      exp: seconds + 30 * 60,
      jti: expect.any(String),
    });
    expect(decodeJwt(first).jti).not.toBe(decodeJwt(second).jti);
  });

  test("[AU10] a token of one purpose is valid for no other, also after it was used for its own", async () => {
    const access = await tokens.sign("access", claims);
    const refresh = await tokens.sign("refresh", claims);
    expect(await tokens.read("access", access)).not.toBeNull();
    expect(await tokens.read("refresh", refresh)).not.toBeNull();
    expect(await tokens.read("refresh", access)).toBeNull();
    expect(await tokens.read("access", refresh)).toBeNull();
  });

  test("[AU11] a token is refused from the second it expires, also when it was read before", async () => {
    const token = await tokens.sign("access", claims);
    clock.advance(30 * MINUTE - 1);
    expect(await tokens.read("access", token)).toEqual(claims);
    clock.advance(1);
    expect(await tokens.read("access", token)).toBeNull();
    expect(await (await createTokens(KEY, clock.now)).read("access", token)).toBeNull();
  });

  test("[AU11] a token with another payload, header or signature is refused", async () => {
    const token = await tokens.sign("access", claims);
    const payload = encoded({ ...decodeJwt(token), sub: "another user" });
    expect(await tokens.read("access", forged(token, "payload", payload))).toBeNull();
    expect(await tokens.read("access", forged(token, "header", encoded({ alg: "HS512", typ: "JWT" })))).toBeNull();
    expect(await tokens.read("access", forged(token, "signature", Buffer.alloc(32).toString("base64url")))).toBeNull();
  });

  test("[AU11] a token with the algorithm none is refused", async () => {
    const token = await tokens.sign("access", claims);
    const unsigned = forged(token, "header", encoded({ alg: "none", typ: "JWT" }));
    expect(await tokens.read("access", unsigned)).toBeNull();
    expect(await tokens.read("access", forged(unsigned, "signature", ""))).toBeNull();
  });

  test("[AU11] a token that was signed with another key is refused", async () => {
    const others = await createTokens("a signing key of somebody else", clock.now);
    expect(await tokens.read("access", await others.sign("access", claims))).toBeNull();
  });

  test.each([
    ["nothing", ""],
    ["two dots", ".."],
    ["prose", "no token at all"],
    ["a hundred thousand letters", "a".repeat(100_000)],
  ])("[AU11] %s is refused as a token", async (_what, text) => {
    expect(await tokens.read("access", text)).toBeNull();
  });
});
