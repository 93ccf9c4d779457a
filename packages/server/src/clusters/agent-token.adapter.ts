import { createHash } from "node:crypto";
import { jwtVerify, SignJWT } from "jose";
import type { Clock } from "../clock.ts";
import type { AgentClaims } from "../hub/ports.ts";
import { newId } from "../id.adapter.ts";

export interface AgentTokens {
  mint(clusterId: string, tokenVersion: number): Promise<{ readonly token: string; readonly expiresAt: Date }>;
  /** Null for whatever is wrong with it. Whether its version is revoked follows from the floor of the cluster. */
  read(token: string): Promise<AgentClaims | null>;
}

const ISSUER = "binnacle";
const AUDIENCE = "binnacle:agent";
const ALGORITHM = "HS256";
export const AGENT_TOKEN_LIFETIME_MS = 365 * 86_400_000;
const LONGEST_TOKEN = 2_000;

/** Signed with a key derived for agents alone: not even a mistake about audiences makes one of these a user's token. */
export async function createAgentTokens(signingKey: string, clock: Clock): Promise<AgentTokens> {
  const key = await crypto.subtle.importKey(
    "raw",
    createHash("sha256").update(`binnacle agent tokens\0${signingKey}`).digest(),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["sign", "verify"],
  );
  return {
    async mint(clusterId, tokenVersion) {
      const now = clock();
      const expiresAt = wholeSeconds(new Date(now.getTime() + AGENT_TOKEN_LIFETIME_MS));
      const token = await new SignJWT({ ver: tokenVersion })
        .setProtectedHeader({ alg: ALGORITHM, typ: "JWT" })
        .setIssuer(ISSUER)
        .setAudience(AUDIENCE)
        .setSubject(clusterId)
        .setJti(newId())
        .setIssuedAt(now)
        .setExpirationTime(expiresAt)
        .sign(key);
      return { token, expiresAt };
    },
    async read(token) {
      if (token.length > LONGEST_TOKEN) return null;
      try {
        const { payload } = await jwtVerify(token, key, {
          algorithms: [ALGORITHM],
          issuer: ISSUER,
          audience: AUDIENCE,
          requiredClaims: ["sub", "ver", "exp", "jti"],
          currentDate: clock(),
        });
        return {
          clusterId: String(payload.sub),
          tokenVersion: Number(payload["ver"]),
          expiresAt: new Date(Number(payload.exp) * 1000),
        };
      } catch {
        return null;
      }
    },
  };
}

/** A JWT knows no milliseconds; the time that is told beside it shall be the one in it. */
const wholeSeconds = (time: Date) => new Date(Math.floor(time.getTime() / 1000) * 1000);
