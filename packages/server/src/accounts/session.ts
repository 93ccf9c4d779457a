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
