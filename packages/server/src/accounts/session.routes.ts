import { endSession, listSessions, login, logout, refresh } from "@binnacle/contract";
import { notFound, unauthenticated } from "../fault.ts";
import { anyone, signedIn } from "../http/guard.ts";
import { envelope, pageOf } from "../http/pagination.ts";
import { type Route, route } from "../http/route.ts";
import type { Ports } from "../ports.ts";
import { bySource, clearAttempts, tallyKeys } from "./login-tally.store.ts";
import { endSessionOf, isSessionLive, listSessionsOf, recordSessionUse } from "./session.store.ts";
import { readableUserAgent, sessionResource, wireSession } from "./session.ts";
import type { TokenClaims } from "./tokens.adapter.ts";
import { findUserByLogin, lockUser, recordInOrgsOf } from "./user.store.ts";
import { subjectOf } from "./user.ts";

/** A wrong password, an unknown or disabled user and a throttled attempt get the same answer. */
const refused = () => unauthenticated("Wrong username, email or password.");
const invalidRefreshToken = () => unauthenticated("Invalid refresh token.");

export function sessionRoutes({
  db,
  tokens,
  isPasswordRight,
  clock,
  issuer,
  refuseOtherPages,
}: Ports<"db" | "tokens" | "isPasswordRight" | "clock" | "issuer" | "refuseOtherPages">): Route[] {
  async function refreshClaims(presented: string | undefined): Promise<TokenClaims> {
    if (!presented) throw unauthenticated("Refresh token missing.");
    const claims = await tokens.read("refresh", presented);
    if (!claims || !(await isSessionLive(db, claims.sessionId, clock()))) {
      throw invalidRefreshToken();
    }
    return claims;
  }

  return [
    route(login, anyone, async ({ body, headers, sourceAddress, reply, change }) => {
      // The browser would keep the cookie of the answer, and its user would go on in the account that the page has chosen.
      refuseOtherPages(headers);
      const account = body.username.trim().toLowerCase();
      const user = await findUserByLogin(db, account);
      const sources = [bySource(sourceAddress)];
      const { password } = body;
      const isRight = await isPasswordRight({
        user,
        account,
        password,
        sources,
        refusal: "session.refuse",
        reply,
        change,
      });
      if (!isRight || !user) throw refused();

      const session = await change(async (unit) => {
        const { db: tx } = unit;
        // A password change during the check has ended all sessions, so this one must not be opened.
        const current = await lockUser(tx, user.id);
        if (current?.password_hash !== user.password_hash || current.disabled) throw refused();
        const names = [user.username, user.email];
        await clearAttempts(tx, tallyKeys(sources, names), names, clock());
        const userAgent = readableUserAgent(headers["user-agent"]);
        return issuer.open(unit, user, { sourceAddress, userAgent, clientName: null });
      });
      return issuer.answer(reply, session);
    }),

    route(refresh, anyone, async ({ cookies, headers, sourceAddress }) => {
      refuseOtherPages(headers);
      const claims = await refreshClaims(cookies.refresh_token);
      await recordSessionUse(db, claims.sessionId, sourceAddress, clock());
      return issuer.accessToken(claims);
    }),

    route(logout, signedIn, async ({ caller, cookies, headers, reply, change }) => {
      refuseOtherPages(headers);
      const { sessionId } = await refreshClaims(cookies.refresh_token);
      // The browser adds the cookie by itself. A page with another token must not end the session of that cookie.
      if (sessionId !== caller.credentialId) throw invalidRefreshToken();
      await change(async (unit) => {
        await endSessionOf(unit, caller.id, sessionId, clock());
        await recordInOrgsOf(caller.id, unit, { action: "session.end", resource: sessionResource(sessionId) });
      });
      issuer.clearCookie(reply);
      return { message: "Logged out successfully" };
    }),

    route(listSessions, signedIn, async ({ caller, query }) => {
      const userId = subjectOf(caller, query.user_id);
      const { sessions, total } = await listSessionsOf(db, userId, clock(), pageOf(query));
      return envelope(
        sessions.map((session) => wireSession(session, caller.credentialId)),
        total,
        query,
      );
    }),

    route(endSession, signedIn, async ({ caller, params, query, change }) => {
      const userId = subjectOf(caller, query.user_id);
      const id = params.id.toLowerCase();
      return change(async (unit) => {
        if (!(await endSessionOf(unit, userId, id, clock()))) throw notFound("Session");
        await recordInOrgsOf(userId, unit, { action: "session.end", resource: sessionResource(id) });
        return null;
      });
    }),
  ];
}
