import { createCliToken, deleteCliToken, listCliTokens } from "@binnacle/contract";
import type { Clock } from "../clock.ts";
import type { Queries } from "../database/transaction.ts";
import { notFound } from "../fault.ts";
import { signedIn } from "../http/guard.ts";
import { envelope, pageOf } from "../http/pagination.ts";
import { type Route, route } from "../http/route.ts";
import { newId } from "../id.ts";
import { deleteCliTokenOf, insertCliToken, listCliTokensOf } from "./cli-token.store.ts";
import { cliToken, cliTokenResource, DEFAULT_LIFETIME_DAYS, wireCliToken } from "./cli-token.ts";
import { CLI_TOKEN_PREFIX, digestOf, newOpaqueToken } from "./opaque-token.ts";

export function cliTokenRoutes(db: Queries, clock: Clock): Route[] {
  return [
    route(createCliToken, signedIn, async ({ caller, body, change }) =>
      change(async ({ db: tx, record }) => {
        const { name, scopes, expires_in_days: lifetimeDays = DEFAULT_LIFETIME_DAYS } = body;
        const token = cliToken(newId(), caller.id, { name, scopes, lifetimeDays }, clock());
        const secret = newOpaqueToken(CLI_TOKEN_PREFIX);
        await insertCliToken(tx, token, digestOf(secret));
        record({ action: "cli_token.create", resource: cliTokenResource(token), orgId: null, changes: { scopes } });
        return { ...wireCliToken(token), token: secret };
      }),
    ),

    route(listCliTokens, signedIn, async ({ caller, query }) => {
      const { tokens, total } = await listCliTokensOf(db, caller.id, pageOf(query));
      return envelope(tokens.map(wireCliToken), total, query);
    }),

    route(deleteCliToken, signedIn, async ({ caller, params, change }) =>
      change(async ({ db: tx, record }) => {
        const token = await deleteCliTokenOf(tx, caller.id, params.id);
        if (!token) throw notFound("CLI token");
        record({ action: "cli_token.delete", resource: cliTokenResource(token), orgId: null });
        return null;
      }),
    ),
  ];
}
