import type { FastifyReply } from "fastify";
import type { Clock } from "../clock.ts";
import type { Unit } from "../http/change.runner.ts";
import { API_BASE } from "../http/server.adapter.ts";
import { newId } from "../id.adapter.ts";
import { insertSession } from "./session.store.ts";
import { type Session, sessionResource } from "./session.ts";
import type { TokenClaims, Tokens } from "./tokens.adapter.ts";
import { recordInOrgsOf } from "./user.store.ts";

const COOKIE = "refresh_token";
const MINUTE_MS = 60_000;
const DAY_SECONDS = 24 * 60 * 60;

export interface SessionSettings {
  readonly accessTokenMinutes: number;
  readonly refreshTokenDays: number;
  readonly secureCookies: boolean;
}

/** Opens sessions and answers with their tokens, for logins and for approved devices. */
export interface SessionIssuer {
  /** Requires the user's row to be locked. */
  open(unit: Unit, user: { readonly id: string; readonly email: string }, opened: OpenedBy): Promise<Session>;
  /** Sets the refresh cookie and returns the body of the answer. */
  answer(reply: FastifyReply, session: Session): Promise<AccessToken>;
  accessToken(claims: TokenClaims): Promise<AccessToken>;
  clearCookie(reply: FastifyReply): void;
}

interface OpenedBy {
  readonly sourceAddress: string;
  readonly userAgent: string | null;
  /** The name of the approved device; null for a login with a password. */
  readonly clientName: string | null;
}

interface AccessToken {
  readonly access_token: string;
  readonly token_type: "bearer";
}

export function sessionIssuer(tokens: Tokens, clock: Clock, settings: SessionSettings): SessionIssuer {
  const cookie = { path: API_BASE, httpOnly: true, sameSite: "lax", secure: settings.secureCookies } as const;
  const sessionSeconds = settings.refreshTokenDays * DAY_SECONDS;

  /** The access token expires with its session at the latest. */
  async function accessToken({ sessionId, userId, expiresAtMs }: TokenClaims): Promise<AccessToken> {
    const lifetimeEndsMs = clock().getTime() + settings.accessTokenMinutes * MINUTE_MS;
    const claims = { sessionId, userId, expiresAtMs: Math.min(lifetimeEndsMs, expiresAtMs) };
    return { access_token: await tokens.sign("access", claims), token_type: "bearer" };
  }

  return {
    async open(unit, user, { sourceAddress, userAgent, clientName }) {
      const now = clock();
      const session = {
        id: newId(),
        user_id: user.id,
        created_at: now,
        expires_at: new Date(now.getTime() + sessionSeconds * 1000),
        source_address: sourceAddress,
        user_agent: userAgent,
        last_used_at: now,
        last_used_address: sourceAddress,
        client_name: clientName,
      };
      await insertSession(unit.db, session);
      await recordInOrgsOf(user.id, unit, {
        action: "session.create",
        resource: sessionResource(session.id),
        ...(clientName === null ? {} : { changes: { client_name: clientName } }),
        actor: { id: user.id, email: user.email, via: "user" },
      });
      return session;
    },

    async answer(reply, { id, user_id, expires_at }) {
      const claims = { sessionId: id, userId: user_id, expiresAtMs: expires_at.getTime() };
      reply.setCookie(COOKIE, await tokens.sign("refresh", claims), { ...cookie, maxAge: sessionSeconds });
      return accessToken(claims);
    },

    accessToken,

    clearCookie(reply) {
      reply.clearCookie(COOKIE, cookie);
    },
  };
}
