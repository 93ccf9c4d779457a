import { createHash } from "node:crypto";
import type { Enforcement } from "@binnacle/contract";
import { jwtVerify, SignJWT } from "jose";
import type { Bus } from "../bus/bus.ts";
import type { Clock } from "../clock.ts";
import { type AgentClaims, FLOOR_HELD_TOPIC, FLOOR_RAISED_TOPIC } from "../hub/ports.ts";
import { newId } from "../id.adapter.ts";

export interface AgentTokens {
  mint(clusterId: string, tokenVersion: number): Promise<{ readonly token: string; readonly expiresAt: Date }>;
  /** Returns null for any invalid token. A revoked version is detected by the floor of the cluster. */
  read(token: string): Promise<AgentClaims | null>;
}

const ISSUER = "binnacle";
const AUDIENCE = "binnacle:agent";
const ALGORITHM = "HS256";
export const AGENT_TOKEN_LIFETIME_MS = 365 * 86_400_000;
const LONGEST_TOKEN = 2_000;

/**
 * Agent tokens are signed with a derived key, so that one can never be used as a user's token, even if audiences are
 * confused.
 */
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

/** A JWT has whole seconds, so the expiry that is shown is rounded down to the one in the token. */
const wholeSeconds = (time: Date) => new Date(Math.floor(time.getTime() / 1000) * 1000);

const LONGEST_WAIT_MS = 2_000;

export interface FloorConfirmation {
  ask(clusterId: string, floor: number): Promise<Enforcement>;
  /** Stops listening. An open question resolves to `pending`. */
  drop(): void;
}

/**
 * Subscribes now, so that the subscription is in place when the question is sent. Without an answer the result is
 * `pending`: the floor is in the database already, and every later handshake is checked against it.
 */
export function prepareFloorConfirmation(bus: Bus, longestWaitMs = LONGEST_WAIT_MS): FloorConfirmation {
  const id = newId();
  const { promise, resolve } = Promise.withResolvers<Enforcement>();
  const unsubscribe = bus.subscribe(FLOOR_HELD_TOPIC, (message) => {
    if ((message as { ask?: unknown }).ask === id) resolve("in_force");
  });
  let timer: NodeJS.Timeout | undefined;
  return {
    ask(clusterId, floor) {
      bus.publish(FLOOR_RAISED_TOPIC, { ask: id, cluster_id: clusterId, floor });
      timer = setTimeout(() => resolve("pending"), longestWaitMs);
      return promise;
    },
    drop() {
      unsubscribe();
      clearTimeout(timer);
      resolve("pending");
    },
  };
}
