export interface Session {
  readonly id: string;
  readonly user_id: string;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly source_address: string | null;
  readonly user_agent: string | null;
  readonly last_used_at: Date;
  readonly last_used_address: string | null;
  /** The name of the device that its user approved; null for a login with a password. */
  readonly client_name: string | null;
}

export const sessionResource = (sessionId: string) => ({ type: "session", id: sessionId, name: null });

export function wireSession(session: Session, currentId: string) {
  return {
    ...session,
    created_at: session.created_at.toISOString(),
    expires_at: session.expires_at.toISOString(),
    last_used_at: session.last_used_at.toISOString(),
    current: session.id === currentId,
  };
}

const LONGEST_USER_AGENT = 200;

/** Keeps the readable part of the header, because a client may send anything in it. */
export function readableUserAgent(header: string | undefined): string | null {
  const text = (header ?? "").replace(/[^\x20-\x7e]+/g, " ").trim();
  return text.slice(0, LONGEST_USER_AGENT) || null;
}

const OF_OTHERS = ["cross-site", "same-site"];

/**
 * A page of another site may send a form here, and the browser would keep the cookie of the answer: whoever uses Binnacle in
 * it would go on in the account that the page has chosen. Browsers say from where a request comes; programs say nothing.
 * The Host header is not compared: behind a proxy that changes it nobody could sign in.
 */
export function isSentByAnotherSite(
  headers: { readonly [name: string]: string | readonly string[] | undefined },
  trusted: readonly string[],
): boolean {
  const { origin, "sec-fetch-site": site } = headers;
  return OF_OTHERS.includes(String(site)) && !trusted.includes(String(origin));
}
