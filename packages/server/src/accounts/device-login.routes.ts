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
  deviceLogin,
  FIRST_INTERVAL_SECONDS,
  isUndecided,
  LIFETIME_SECONDS,
  newUserCode,
  normaliseUserCode,
  type Wanted,
} from "./device-login.ts";
import { CLI_TOKEN_PREFIX, digestOf, newOpaqueToken } from "./opaque-token.ts";
import { findUser } from "./user.store.ts";

/** RFC 8628 has answers of its own form, without a `detail`. */
const refusal = (error: DeviceError) => new Fault("bad_request", error, { body: { error } });

export function deviceLoginRoutes(db: Queries, clock: Clock, publicUrl: string): Route[] {
  /** A user code is short enough that two may meet; the later device gets another one. */
  async function begin(wanted: Wanted, deviceCode: string): Promise<string> {
    const userCode = newUserCode(randomBytes);
    const isFree = await insertDeviceLogin(db, deviceLogin(newId(), userCode, wanted, clock()), digestOf(deviceCode));
    return isFree ? userCode : begin(wanted, deviceCode);
  }

  return [
    route(startDeviceLogin, anyone, async ({ body }) => {
      const deviceCode = newOpaqueToken("");
      const userCode = await begin({ clientName: body.client_name, scopes: body.requested_scopes }, deviceCode);
      return {
        device_code: deviceCode,
        user_code: userCode,
        verification_uri: `${publicUrl}/device`,
        verification_uri_complete: `${publicUrl}/device?user_code=${userCode}`,
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
      const outcome = await inTransaction(db, async (tx) => {
        const login = await lockDeviceByCode(tx, digest);
        if (!login) return "expired_token";
        const answer = ask(login, clock());
        // Noted at once; the token itself has to be claimed together with what it creates.
        if (answer.outcome !== "token") await updateDeviceLogin(tx, answer.next);
        return answer.outcome;
      });
      if (outcome !== "token") throw refusal(outcome);

      return change(async ({ db: tx, record }) => {
        const login = await lockDeviceByCode(tx, digest);
        const answer = login && ask(login, clock());
        const user = answer?.outcome === "token" ? await findUser(tx, answer.userId) : undefined;
        // Somebody else with the same code was faster.
        if (!answer || !user) throw refusal("expired_token");
        await updateDeviceLogin(tx, answer.next);
        const { client_name: name, scopes } = answer.next;
        const token = cliToken(newId(), user.id, { name, scopes, lifetimeDays: DEFAULT_LIFETIME_DAYS }, clock());
        const secret = newOpaqueToken(CLI_TOKEN_PREFIX);
        await insertCliToken(tx, token, digestOf(secret));
        record({
          action: "cli_token.create",
          resource: cliTokenResource(token),
          orgId: null,
          changes: { scopes },
          actor: { id: user.id, email: user.email, via: "user" },
        });
        return { token: secret };
      });
    }),
  ];
}
