import type { Scope } from "@binnacle/contract";

/** The organization or the project that a CLI token is bound to. Nothing else exists for the token. */
export type Boundary = { readonly org_id: string } | { readonly project_id: string };

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
  /** Null for a session and for a CLI token that is not bound. */
  readonly boundary: Boundary | null;
  /** The end of a CLI token; null for a session, which ends with its access token. */
  readonly tokenExpiresAt: Date | null;
}

/** The credential of a request. Its form and signature are checked; only the database knows whether it is still valid. */
export type Credential =
  | { readonly kind: "session"; readonly sessionId: string; readonly userId: string; readonly expiresAtMs: number }
  | { readonly kind: "cli_token"; readonly digest: Buffer; readonly sourceAddress: string };

/** Who reads a stream. The stream ends with the access token or the CLI token that opened it. */
export interface Reader {
  readonly credentialId: string;
  readonly userId: string;
  readonly expiresAtMs: number;
}

export function readerOf(credential: Credential | null, { id, credentialId, tokenExpiresAt }: Caller): Reader {
  const expiresAtMs = credential?.kind === "session" ? credential.expiresAtMs : (tokenExpiresAt?.getTime() ?? 0);
  return { credentialId, userId: id, expiresAtMs };
}
