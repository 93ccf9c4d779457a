import { createHash } from "node:crypto";
import { jwtVerify, SignJWT } from "jose";
import type { Clock } from "../clock.ts";
import { newId } from "../id.adapter.ts";

/** What a token is good for; one made for a purpose is refused for every other. */
export type Purpose = "access" | "refresh";

export interface TokenClaims {
  readonly sessionId: string;
  readonly userId: string;
  readonly expiresAtMs: number;
}

export interface Tokens {
  sign(purpose: Purpose, claims: TokenClaims): Promise<string>;
  /** Null for whatever is wrong with it. */
  read(purpose: Purpose, token: string): Promise<TokenClaims | null>;
}

const ISSUER = "binnacle";
const ALGORITHM = "HS256";
const REMEMBERED_TOKENS = 10_000;
const LONGEST_TOKEN = 2_000;

/**
 * Signatures are checked once and remembered by the token, in the memory that holds the key which made it; the time is
 * checked at every use. Whether the session still stands is not said here but by the database.
 */
export async function createTokens(signingKey: string, clock: Clock): Promise<Tokens> {
  const key = await crypto.subtle.importKey(
    "raw",
    createHash("sha256").update(`binnacle tokens\0${signingKey}`).digest(),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["sign", "verify"],
  );
  const remembered = { access: new Map<string, TokenClaims>(), refresh: new Map<string, TokenClaims>() };

  async function verify(purpose: Purpose, token: string): Promise<TokenClaims | null> {
    try {
      const { payload } = await jwtVerify(token, key, {
        algorithms: [ALGORITHM],
        issuer: ISSUER,
        audience: audienceOf(purpose),
        requiredClaims: ["sub", "sid", "exp", "jti"],
        currentDate: clock(),
      });
      return {
        sessionId: String(payload["sid"]),
        userId: String(payload.sub),
        expiresAtMs: Number(payload.exp) * 1000,
      };
    } catch {
      return null;
    }
  }

  return {
    sign(purpose, { sessionId, userId, expiresAtMs }) {
      return new SignJWT({ sid: sessionId })
        .setProtectedHeader({ alg: ALGORITHM, typ: "JWT" })
        .setIssuer(ISSUER)
        .setAudience(audienceOf(purpose))
        .setSubject(userId)
        .setJti(newId())
        .setIssuedAt(clock())
        .setExpirationTime(new Date(expiresAtMs))
        .sign(key);
    },
    async read(purpose, token) {
      if (token.length > LONGEST_TOKEN) return null;
      const known = remembered[purpose];
      let claims = known.get(token) ?? null;
      if (!claims) {
        claims = await verify(purpose, token);
        if (!claims) return null;
        // The oldest entry goes first: a map keeps the order of insertion.
        if (known.size >= REMEMBERED_TOKENS) known.delete(known.keys().next().value ?? "");
        known.set(token, claims);
      }
      return claims.expiresAtMs > clock().getTime() ? claims : null;
    },
  };
}

/** The audience carries the purpose, so a library that knows nothing of ours refuses the wrong token too. */
const audienceOf = (purpose: Purpose) => `binnacle:${purpose}`;
