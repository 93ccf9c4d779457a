import { randomBytes } from "node:crypto";
import { claimDeviceToken, type DeviceError, decideDeviceLogin, startDeviceLogin } from "@binnacle/contract";
import type { Clock } from "../clock.ts";
import { inTransaction, type Queries } from "../database/transaction.ts";
import { Fault, notFound } from "../fault.ts";
import { anyone, signedIn } from "../http/guard.ts";
import { type Route, route } from "../http/route.ts";
import { newId } from "../id.ts";
import { insertCliToken } from "./cli-token.store.ts";
import { cliToken, cliTokenResource, DEFAULT_LIFETIME_DAYS } from "./cli-token.ts";
import { insertDeviceLogin, lockDeviceByCode, lockDeviceByUserCode, updateDeviceLogin } from "./device-login.store.ts";
import {
  ask,
  type DeviceLogin,
  FIRST_INTERVAL_SECONDS,
  isUndecided,
  LIFETIME_SECONDS,
  normaliseUserCode,
  userCode,
} from "./device-login.ts";
import { CLI_TOKEN_PREFIX, digestOf, newOpaqueToken } from "./opaque-token.ts";
import { findUser } from "./user.store.ts";

/** RFC 8628 has answers of its own form, without a `detail`. */
const refusal = (error: DeviceError) => new Fault("bad_request", error, { body: { error } });

export function deviceLoginRoutes(db: Queries, clock: Clock, publicUrl: string): Route[] {
  return [
    route(startDeviceLogin, anyone, async ({ body }) => {
      const now = clock();
      const deviceCode = newOpaqueToken("");
      const code = userCode(randomBytes);
      const login: DeviceLogin = {
        id: newId(),
        user_code: code,
        client_name: body.client_name,
        scopes: [...new Set(body.requested_scopes)],
        status: "pending",
        user_id: null,
        interval_seconds: FIRST_INTERVAL_SECONDS,
        last_asked_at: null,
        created_at: now,
        expires_at: new Date(now.getTime() + LIFETIME_SECONDS * 1000),
      };
      await insertDeviceLogin(db, login, digestOf(deviceCode));
      return {
        device_code: deviceCode,
        user_code: code,
        verification_uri: `${publicUrl}/device`,
        verification_uri_complete: `${publicUrl}/device?user_code=${code}`,
        expires_in: LIFETIME_SECONDS,
        interval: FIRST_INTERVAL_SECONDS,
      };
    }),

    route(decideDeviceLogin, signedIn, async ({ caller, body, change }) =>
      change(async ({ db: tx, record }) => {
        const login = await lockDeviceByUserCode(tx, normaliseUserCode(body.user_code));
        if (!login || !isUndecided(login, clock())) throw notFound("Device login");
        await updateDeviceLogin(tx, { ...login, status: body.approved ? "approved" : "denied", user_id: caller.id });
        record({
          action: body.approved ? "device_login.approve" : "device_login.deny",
          resource: { type: "device_login", id: login.id, name: login.client_name },
          orgId: null,
          changes: { scopes: login.scopes },
        });
        return null;
      }),
    ),

    route(claimDeviceToken, anyone, async ({ body, change }) => {
      const digest = digestOf(body.device_code);
      const asked = await inTransaction(db, async (tx) => {
        const login = await lockDeviceByCode(tx, digest);
        if (!login) throw refusal("expired_token");
        const answer = ask(login, clock());
        // Noted at once; only the token itself has to be claimed together with what it creates.
        if (answer.outcome !== "token") await updateDeviceLogin(tx, answer.next);
        return answer;
      });
      if (asked.outcome !== "token") throw refusal(asked.outcome);
      return change(async ({ db: tx, record }) => {
        const login = await lockDeviceByCode(tx, digest);
        const user = await findUser(tx, asked.userId);
        if (login?.status !== "approved" || !user) throw refusal("expired_token");
        await updateDeviceLogin(tx, { ...login, status: "claimed" });
        const grant = { name: login.client_name, scopes: login.scopes, lifetimeDays: DEFAULT_LIFETIME_DAYS };
        const token = cliToken(newId(), user.id, grant, clock());
        const secret = newOpaqueToken(CLI_TOKEN_PREFIX);
        await insertCliToken(tx, token, digestOf(secret));
        const actor = { id: user.id, email: user.email, via: "user" } as const;
        record({
          action: "cli_token.create",
          resource: cliTokenResource(token),
          orgId: null,
          changes: { scopes: login.scopes },
          actor,
        });
        return { token: secret };
      });
    }),
  ];
}
