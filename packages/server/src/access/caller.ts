import type { Scope } from "@binnacle/contract";

/** Who is calling, as the database knows them at this request. */
export interface Caller {
  readonly id: string;
  readonly email: string;
  readonly isSuperuser: boolean;
  readonly tier: string;
  readonly via: "user" | "cli_token";
  /** The session or the CLI token that was presented. */
  readonly credentialId: string;
  /** What a CLI token is limited to; a session is not. */
  readonly scopes: readonly Scope[] | null;
}

/** What a request presents, its form and signature already checked; whether it still counts is the database's word. */
export type Credential =
  | { readonly kind: "session"; readonly sessionId: string; readonly userId: string; readonly expiresAtMs: number }
  | { readonly kind: "cli_token"; readonly digest: Buffer };
