import type { Credential } from "../access/caller.ts";
import { CLI_TOKEN_PREFIX, digestOf } from "./cli-token.ts";
import type { Tokens } from "./tokens.adapter.ts";

const BEARER = /^Bearer +(\S+)$/i;

/** Reads the credential of an `Authorization` header; returns null for one that cannot be valid. */
export async function credentialOf(
  tokens: Tokens,
  authorization: string | undefined,
  sourceAddress: string,
): Promise<Credential | null> {
  const token = authorization && BEARER.exec(authorization)?.[1];
  if (!token) return null;
  if (token.startsWith(CLI_TOKEN_PREFIX)) return { kind: "cli_token", digest: digestOf(token), sourceAddress };
  const claims = await tokens.read("access", token);
  return claims && { kind: "session", ...claims };
}
