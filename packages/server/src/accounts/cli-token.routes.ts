import { createCliToken, deleteCliToken, listCliTokens, revokePresentedCliToken } from "@binnacle/contract";
import { notFound, unauthenticated } from "../fault.ts";
import { signedIn } from "../http/guard.ts";
import { envelope, pageOf } from "../http/pagination.ts";
import { type Route, route } from "../http/route.ts";
import { newId } from "../id.adapter.ts";
import type { Ports } from "../ports.ts";
import {
  deleteCliTokenOf,
  insertCliToken,
  listCliTokensOf,
  requireRoomForToken,
  visibleBoundary,
} from "./cli-token.store.ts";
import {
  CLI_TOKEN_PREFIX,
  cliToken,
  cliTokenResource,
  DEFAULT_LIFETIME_DAYS,
  digestOf,
  newOpaqueToken,
  wireCliToken,
} from "./cli-token.ts";
import { lockCaller } from "./session.store.ts";
import { recordInOrgsOf } from "./user.store.ts";
import { subjectOf } from "./user.ts";

export function cliTokenRoutes({ db, clock }: Ports<"db" | "clock">): Route[] {
  return [
    route(createCliToken, signedIn, async ({ caller, body, change }) =>
      change(async (unit) => {
        const { db: tx } = unit;
        const now = clock();
        await lockCaller(tx, caller, now);
        await requireRoomForToken(tx, caller.id, now);
        const { name, scopes, expires_in_days: lifetimeDays = DEFAULT_LIFETIME_DAYS } = body;
        const boundary = await visibleBoundary(tx, caller, body);
        const token = cliToken(newId(), caller.id, { name, scopes, lifetimeDays, boundary }, now);
        const secret = newOpaqueToken(CLI_TOKEN_PREFIX);
        await insertCliToken(tx, token, digestOf(secret));
        const resource = cliTokenResource(token);
        await recordInOrgsOf(caller.id, unit, {
          action: "cli_token.create",
          resource,
          changes: { scopes, ...boundary },
        });
        return { ...wireCliToken(token, now), token: secret };
      }),
    ),

    route(listCliTokens, signedIn, async ({ caller, query }) => {
      const { tokens, total } = await listCliTokensOf(db, subjectOf(caller, query.user_id), pageOf(query));
      return envelope(
        tokens.map((token) => wireCliToken(token, clock())),
        total,
        query,
      );
    }),

    route(deleteCliToken, signedIn, async ({ caller, params, query, change }) => {
      const userId = subjectOf(caller, query.user_id);
      return change(async (unit) => {
        const token = await deleteCliTokenOf(unit, userId, params.id);
        if (!token) throw notFound("CLI token");
        await recordInOrgsOf(userId, unit, { action: "cli_token.delete", resource: cliTokenResource(token) });
        return null;
      });
    }),

    route(revokePresentedCliToken, signedIn, async ({ caller, change }) =>
      change(async (unit) => {
        const token = await deleteCliTokenOf(unit, caller.id, caller.credentialId);
        if (!token) throw unauthenticated();
        await recordInOrgsOf(caller.id, unit, { action: "cli_token.delete", resource: cliTokenResource(token) });
        return null;
      }),
    ),
  ];
}
