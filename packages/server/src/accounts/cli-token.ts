import { createHash, randomBytes } from "node:crypto";
import type { Scope } from "@binnacle/contract";
import type { Boundary } from "../access/caller.ts";
import { conflict } from "../fault.ts";

export interface CliToken {
  readonly id: string;
  readonly user_id: string;
  readonly name: string;
  readonly scopes: Scope[];
  readonly org_id: string | null;
  readonly project_id: string | null;
  readonly expires_at: Date;
  readonly last_used_at: Date | null;
  readonly last_used_address: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

export const DEFAULT_LIFETIME_DAYS = 90;

const DAY_MS = 24 * 60 * 60 * 1000;

/** A token that expires at this time or before expires soon. */
export const soonUntil = (now: Date) => new Date(now.getTime() + 7 * DAY_MS);

interface NewToken {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly lifetimeDays: number;
  readonly boundary: Boundary | null;
}

export function cliToken(
  id: string,
  userId: string,
  { name, scopes, lifetimeDays, boundary }: NewToken,
  now: Date,
): CliToken {
  return {
    id,
    user_id: userId,
    name,
    scopes: [...new Set(scopes)],
    org_id: null,
    project_id: null,
    ...boundary,
    expires_at: new Date(now.getTime() + lifetimeDays * DAY_MS),
    last_used_at: null,
    last_used_address: null,
    created_at: now,
    updated_at: now,
  };
}

/** Limits the tokens of a user, because a forgotten token remains a way in. */
export const MOST_CLI_TOKENS = 50;

export const tooManyCliTokens = () =>
  conflict(`A user has at most ${MOST_CLI_TOKENS} CLI tokens; revoke one that is no longer needed first.`);

export function wireCliToken(token: CliToken, now: Date) {
  return {
    id: token.id,
    name: token.name,
    scopes: token.scopes,
    org_id: token.org_id,
    project_id: token.project_id,
    expires_at: token.expires_at.toISOString(),
    expires_soon: token.expires_at > now && token.expires_at <= soonUntil(now),
    last_used_at: token.last_used_at?.toISOString() ?? null,
    last_used_address: token.last_used_address,
    created_at: token.created_at.toISOString(),
    updated_at: token.updated_at.toISOString(),
  };
}

export const cliTokenResource = (token: Pick<CliToken, "id" | "name">) => ({
  type: "cli_token",
  id: token.id,
  name: token.name,
});

export const CLI_TOKEN_PREFIX = "bnc_";

/** A random secret. Only its digest is stored; 256 random bits need no slow hash. */
export function newOpaqueToken(prefix: string, draw = randomBytes): string {
  return `${prefix}${draw(32).toString("base64url")}`;
}

export function digestOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
