import type { Scope } from "@binnacle/contract";

/** The caller, as the database knows them at this request. */
export interface Caller {
  readonly id: string;
  readonly email: string;
  readonly isSuperuser: boolean;
  readonly tier: string;
  readonly via: "user" | "cli_token";
  /** The session or the CLI token that was presented. */
  readonly credentialId: string;
  /** The scopes of a CLI token; null for a session, which has no limits. */
  readonly scopes: readonly Scope[] | null;
}

/** The credential of a request. Its form and signature are checked; only the database knows whether it is still valid. */
export type Credential =
  | { readonly kind: "session"; readonly sessionId: string; readonly userId: string; readonly expiresAtMs: number }
  | { readonly kind: "cli_token"; readonly digest: Buffer };
