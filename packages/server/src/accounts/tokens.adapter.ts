import { createHash } from "node:crypto";
import { jwtVerify, SignJWT } from "jose";
import type { Clock } from "../clock.ts";
import { newId } from "../id.adapter.ts";

/** The purpose of a token. A token for one purpose is refused for the other. */
export type Purpose = "access" | "refresh";

export interface TokenClaims {
  readonly sessionId: string;
  readonly userId: string;
  readonly expiresAtMs: number;
}

export interface Tokens {
  sign(purpose: Purpose, claims: TokenClaims): Promise<string>;
  /** Returns null for any invalid token. */
  read(purpose: Purpose, token: string): Promise<TokenClaims | null>;
}

const ISSUER = "binnacle";
const ALGORITHM = "HS256";
const REMEMBERED_TOKENS = 10_000;
const LONGEST_TOKEN = 2_000;

/**
 * A signature is verified once and cached by token; the expiry is checked at every use. Whether the session is still
 * open is decided by the database.
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
        // A map keeps insertion order, so the first entry is the oldest.
        if (known.size >= REMEMBERED_TOKENS) known.delete(known.keys().next().value ?? "");
        known.set(token, claims);
      }
      return claims.expiresAtMs > clock().getTime() ? claims : null;
    },
  };
}

/** The purpose is in the audience, so any JWT library refuses a token of the wrong purpose. */
const audienceOf = (purpose: Purpose) => `binnacle:${purpose}`;
