import type { Credential } from "../access/caller.ts";
import { CLI_TOKEN_PREFIX, digestOf } from "../accounts/opaque-token.ts";
import type { Tokens } from "../accounts/tokens.adapter.ts";

const BEARER = /^Bearer +(\S+)$/i;

/** The credential of an `Authorization` header; null when there is none that could count. */
export async function credentialOf(tokens: Tokens, authorization: string | undefined): Promise<Credential | null> {
  const token = authorization && BEARER.exec(authorization)?.[1];
  if (!token) return null;
  if (token.startsWith(CLI_TOKEN_PREFIX)) return { kind: "cli_token", digest: digestOf(token) };
  const claims = await tokens.read("access", token);
  return claims && { kind: "session", ...claims };
}
