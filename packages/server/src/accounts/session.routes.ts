import { login, logout, refresh } from "@binnacle/contract";
import type { Clock } from "../clock.ts";
import { inTransaction, type Queries } from "../database/transaction.ts";
import { unauthenticated } from "../fault.ts";
import { anyone, signedIn } from "../http/guard.ts";
import { type Route, route } from "../http/route.ts";
import { API_BASE } from "../http/server.ts";
import { newId } from "../id.ts";
import { countAttempt, forgiveAttempts } from "./login-tally.store.ts";
import type { Passwords } from "./password.adapter.ts";
import { endSessions, insertSession, isSessionLive } from "./session.store.ts";
import type { TokenClaims, Tokens } from "./tokens.ts";
import { findUserByLogin, lockUser } from "./user.store.ts";

const COOKIE = "refresh_token";
const MINUTE_MS = 60_000;
const DAY_SECONDS = 24 * 60 * 60;

interface Settings {
  readonly accessTokenMinutes: number;
  readonly refreshTokenDays: number;
  readonly secureCookies: boolean;
}

/** One answer for a wrong password, an unknown user and a throttled attempt. */
const refused = () => unauthenticated("Wrong username, email or password.");

const resourceOf = (sessionId: string) => ({ type: "session", id: sessionId, name: null });

export function sessionRoutes(
  db: Queries,
  tokens: Tokens,
  passwords: Passwords,
  clock: Clock,
  settings: Settings,
): Route[] {
  const cookie = { path: API_BASE, httpOnly: true, sameSite: "lax", secure: settings.secureCookies } as const;
  const sessionSeconds = settings.refreshTokenDays * DAY_SECONDS;

  /** Never outlives the session it belongs to. */
  async function accessToken({ sessionId, userId, expiresAtMs }: TokenClaims) {
    const lifetimeEndsMs = clock().getTime() + settings.accessTokenMinutes * MINUTE_MS;
    const claims = { sessionId, userId, expiresAtMs: Math.min(lifetimeEndsMs, expiresAtMs) };
    return { access_token: await tokens.sign("access", claims), token_type: "bearer" as const };
  }

  async function refreshClaims(presented: string | undefined): Promise<TokenClaims> {
    if (!presented) throw unauthenticated("Refresh token missing.");
    const claims = await tokens.read("refresh", presented);
    if (!claims || !(await isSessionLive(db, claims.sessionId, clock()))) {
      throw unauthenticated("Invalid refresh token.");
    }
    return claims;
  }

  return [
    route(login, anyone, async ({ body, sourceAddress, reply, change }) => {
      const account = body.username.trim().toLowerCase();
      const isThrottled = await inTransaction(db, (tx) => countAttempt(tx, sourceAddress, account, clock()));
      const user = await findUserByLogin(db, account);
      const isRight = await passwords.matches(body.password, isThrottled ? null : (user?.password_hash ?? null));
      if (!isRight || !user) throw refused();

      const now = clock();
      const expires_at = new Date(now.getTime() + sessionSeconds * 1000);
      const session = { id: newId(), user_id: user.id, created_at: now, expires_at };
      await change(async ({ db: tx, record }) => {
        // It may have been changed while it was being checked, and that ends the sessions it opened.
        const current = await lockUser(tx, user.id);
        if (current?.password_hash !== user.password_hash) throw refused();
        await forgiveAttempts(tx, sourceAddress, [user.username, user.email], now);
        await insertSession(tx, session);
        const actor = { id: user.id, email: user.email, via: "user" } as const;
        record({ action: "session.create", resource: resourceOf(session.id), orgId: null, actor });
      });
      const claims = { sessionId: session.id, userId: user.id, expiresAtMs: expires_at.getTime() };
      reply.setCookie(COOKIE, await tokens.sign("refresh", claims), { ...cookie, maxAge: sessionSeconds });
      return accessToken(claims);
    }),

    route(refresh, anyone, async ({ cookies }) => accessToken(await refreshClaims(cookies.refresh_token))),

    route(logout, signedIn, async ({ caller, cookies, reply, change }) => {
      const { sessionId } = await refreshClaims(cookies.refresh_token);
      // Usually one and the same; a client that mixes the tokens of two logins ends both.
      const ended = [...new Set([caller.credentialId, sessionId])];
      await change(async ({ db: tx, record }) => {
        await endSessions(tx, ended, clock());
        for (const id of ended) record({ action: "session.end", resource: resourceOf(id), orgId: null });
      });
      reply.clearCookie(COOKIE, cookie);
      return { message: "Logged out successfully" };
    }),
  ];
}
