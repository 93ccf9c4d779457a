import { login, logout, refresh } from "@binnacle/contract";
import type { Clock } from "../clock.ts";
import { inTransaction, type Queries } from "../database/transaction.ts";
import { unauthenticated } from "../fault.ts";
import { anyone, signedIn } from "../http/guard.ts";
import { type Call, type Route, route } from "../http/route.ts";
import { API_BASE } from "../http/server.ts";
import { newId } from "../id.ts";
import type { Passwords } from "./password.adapter.ts";
import { countAttempt, endSessions, forgiveAttempts, insertSession, isSessionLive } from "./session.store.ts";
import type { TokenClaims, Tokens } from "./tokens.ts";
import { findUserByLogin } from "./user.store.ts";

const COOKIE = "refresh_token";
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

interface Settings {
  readonly accessTokenMinutes: number;
  readonly refreshTokenDays: number;
  readonly secureCookies: boolean;
}

/** One answer for a wrong password, an unknown user and a throttled attempt. */
const refused = () => unauthenticated("Wrong username, email or password.");

export function sessionRoutes(
  db: Queries,
  tokens: Tokens,
  passwords: Passwords,
  clock: Clock,
  settings: Settings,
): Route[] {
  const cookie = { path: API_BASE, httpOnly: true, sameSite: "lax", secure: settings.secureCookies } as const;

  async function accessToken({ sessionId, userId, expiresAtMs }: TokenClaims) {
    const lifetimeEndsMs = clock().getTime() + settings.accessTokenMinutes * MINUTE_MS;
    const claims = { sessionId, userId, expiresAtMs: Math.min(lifetimeEndsMs, expiresAtMs) };
    return { access_token: await tokens.sign("access", claims), token_type: "bearer" as const };
  }

  async function refreshClaims(call: Call<typeof refresh>): Promise<TokenClaims | null> {
    return tokens.read("refresh", call.cookies.refresh_token ?? "");
  }

  return [
    route(login, anyone, async ({ body, sourceAddress, reply, change }) => {
      const account = body.username.trim().toLowerCase();
      const keys = [`source ${sourceAddress}`, `source ${sourceAddress} account ${account}`];
      const isThrottled = await inTransaction(db, (tx) => countAttempt(tx, keys, account, clock()));
      const user = await findUserByLogin(db, account);
      const isRight = await passwords.matches(body.password, isThrottled ? null : (user?.password_hash ?? null));
      if (!isRight || !user) throw refused();

      const now = clock();
      const session = {
        id: newId(),
        user_id: user.id,
        created_at: now,
        expires_at: new Date(now.getTime() + settings.refreshTokenDays * DAY_MS),
      };
      await change(async ({ db: tx, record }) => {
        await forgiveAttempts(tx, keys, [account, user.username, user.email], now);
        await insertSession(tx, session);
        const actor = { id: user.id, email: user.email, via: "user" } as const;
        record({
          action: "session.create",
          resource: { type: "session", id: session.id, name: null },
          orgId: null,
          actor,
        });
      });
      const claims = { sessionId: session.id, userId: user.id, expiresAtMs: session.expires_at.getTime() };
      reply.setCookie(COOKIE, await tokens.sign("refresh", claims), {
        ...cookie,
        maxAge: (settings.refreshTokenDays * DAY_MS) / 1000,
      });
      return accessToken(claims);
    }),

    route(refresh, anyone, async (call) => {
      if (!call.cookies.refresh_token) throw unauthenticated("Refresh token missing.");
      const claims = await refreshClaims(call);
      if (!claims || !(await isSessionLive(db, claims.sessionId, clock())))
        throw unauthenticated("Invalid refresh token.");
      return accessToken(claims);
    }),

    route(logout, signedIn, async (call) => {
      const claims = await refreshClaims(call);
      if (!claims)
        throw unauthenticated(call.cookies.refresh_token ? "Invalid refresh token." : "Refresh token missing.");
      await call.change(async ({ db: tx, record }) => {
        await endSessions(tx, [call.caller.credentialId, claims.sessionId], clock());
        record({
          action: "session.end",
          resource: { type: "session", id: call.caller.credentialId, name: null },
          orgId: null,
        });
      });
      call.reply.clearCookie(COOKIE, cookie);
      return { message: "Logged out successfully" };
    }),
  ];
}
