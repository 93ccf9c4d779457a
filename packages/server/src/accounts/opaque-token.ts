import { createHash, randomBytes } from "node:crypto";

export const CLI_TOKEN_PREFIX = "bnc_";

/** A secret that says nothing and is kept only as its digest: 256 random bits need no slow hash. */
export function newOpaqueToken(prefix: string, draw = randomBytes): string {
  return `${prefix}${draw(32).toString("base64url")}`;
}

export function digestOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
