import { createHash, randomBytes } from "node:crypto";
import type { Scope } from "@binnacle/contract";
import { conflict } from "../fault.ts";

export interface CliToken {
  readonly id: string;
  readonly user_id: string;
  readonly name: string;
  readonly scopes: Scope[];
  readonly expires_at: Date;
  readonly last_used_at: Date | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

export const DEFAULT_LIFETIME_DAYS = 90;

export function cliToken(
  id: string,
  userId: string,
  { name, scopes, lifetimeDays }: { name: string; scopes: readonly Scope[]; lifetimeDays: number },
  now: Date,
): CliToken {
  return {
    id,
    user_id: userId,
    name,
    scopes: [...new Set(scopes)],
    expires_at: new Date(now.getTime() + lifetimeDays * 24 * 60 * 60 * 1000),
    last_used_at: null,
    created_at: now,
    updated_at: now,
  };
}

/** Limits the tokens of a user, because a forgotten token remains a way in. */
export const MOST_CLI_TOKENS = 50;

export const tooManyCliTokens = () =>
  conflict(`A user has at most ${MOST_CLI_TOKENS} CLI tokens; revoke one that is no longer needed first.`);

export function wireCliToken(token: CliToken) {
  return {
    id: token.id,
    name: token.name,
    scopes: token.scopes,
    expires_at: token.expires_at.toISOString(),
    last_used_at: token.last_used_at?.toISOString() ?? null,
    created_at: token.created_at.toISOString(),
    updated_at: token.updated_at.toISOString(),
  };
}

export const cliTokenResource = (token: CliToken) => ({ type: "cli_token", id: token.id, name: token.name });

export const CLI_TOKEN_PREFIX = "bnc_";

/** A random secret. Only its digest is stored; 256 random bits need no slow hash. */
export function newOpaqueToken(prefix: string, draw = randomBytes): string {
  return `${prefix}${draw(32).toString("base64url")}`;
}

export function digestOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

/** The last use of a CLI token is stored once a minute at most. That suffices to find a forgotten token. */
const RECORDED_EVERY_MS = 60_000;

/** A use at `now` is stored where the stored one is not newer than this. */
export const lastUseThreshold = (now: Date) => new Date(now.getTime() - RECORDED_EVERY_MS);

export type RecordUse = (tokenId: string, lastUsedAt: Date | null, now: Date) => void;

/** Stores uses without delaying or failing the request. The next use tries again. */
export function cliTokenUseRecorder(write: (tokenId: string, now: Date) => Promise<unknown>): RecordUse {
  const underWay = new Set<string>();
  return (tokenId, lastUsedAt, now) => {
    const isNoted = lastUsedAt !== null && lastUsedAt > lastUseThreshold(now);
    if (isNoted || underWay.has(tokenId)) return;
    underWay.add(tokenId);
    write(tokenId, now)
      .catch(() => undefined)
      .finally(() => underWay.delete(tokenId));
  };
}
