import { randomBytes } from "node:crypto";
import {
  claimDeviceToken,
  type DeviceError,
  decideDeviceLogin,
  getDeviceLogin,
  startDeviceLogin,
} from "@binnacle/contract";
import { boundaryOf } from "../access/caller.store.ts";
import { nameOfVisible } from "../access/visibility.store.ts";
import { inTransaction, type Tx } from "../database/transaction.ts";
import { Fault, notFound } from "../fault.ts";
import { anyone, signedIn } from "../http/guard.ts";
import { type Route, route } from "../http/route.ts";
import { newId } from "../id.adapter.ts";
import type { Ports } from "../ports.ts";
import { insertCliToken, requireRoomForToken, visibleBoundary } from "./cli-token.store.ts";
import {
  CLI_TOKEN_PREFIX,
  cliToken,
  cliTokenResource,
  DEFAULT_LIFETIME_DAYS,
  digestOf,
  newOpaqueToken,
} from "./cli-token.ts";
import {
  findDeviceByUserCode,
  insertDeviceLogin,
  lockDeviceByCode,
  lockDeviceByUserCode,
  makeRoomForDevice,
  updateDeviceLogin,
} from "./device-login.store.ts";
import {
  ask,
  type DeviceLogin,
  deviceLogin,
  FIRST_INTERVAL_SECONDS,
  isUndecided,
  LIFETIME_SECONDS,
  type LoginRequest,
  newUserCode,
  normaliseUserCode,
  secondsUntil,
  tooManyGuesses,
  wirePendingDevice,
} from "./device-login.ts";
import { clearAttempts, countAttempt } from "./login-tally.store.ts";
import { lockCaller } from "./session.store.ts";
import { readableUserAgent } from "./session.ts";
import { lockUser, recordInOrgsOf } from "./user.store.ts";

/** RFC 8628 prescribes error answers without a `detail`. */
const refusal = (error: DeviceError) => new Fault("bad_request", error, { body: { error } });

/** The grant of an approval, for the audit log. */
const grantOf = ({ kind, scopes, org_id, project_id, source_address }: DeviceLogin) => ({
  kind,
  ...(kind === "token" ? { scopes } : {}),
  ...boundaryOf(org_id, project_id),
  asked_from: source_address,
});

export function deviceLoginRoutes({ db, clock, publicUrl }: Ports<"db" | "clock" | "publicUrl">): Route[] {
  /** Two devices may draw the same short user code; the later one draws another. */
  async function begin(tx: Tx, wanted: LoginRequest, deviceCode: string): Promise<string> {
    const userCode = newUserCode(randomBytes);
    const isFree = await insertDeviceLogin(tx, deviceLogin(newId(), userCode, wanted, clock()), digestOf(deviceCode));
    return isFree ? userCode : begin(tx, wanted, deviceCode);
  }

  return [
    route(startDeviceLogin, anyone, async ({ body, sourceAddress }) => {
      const deviceCode = newOpaqueToken("");
      const wanted = {
        clientName: body.client_name,
        kind: body.kind ?? "token",
        scopes: body.requested_scopes ?? [],
        orgId: body.org_id ?? null,
        projectId: body.project_id ?? null,
        sourceAddress,
      };
      const userCode = await inTransaction(db, async (tx) => {
        await makeRoomForDevice(tx, sourceAddress, clock());
        return begin(tx, wanted, deviceCode);
      });
      return {
        device_code: deviceCode,
        user_code: userCode,
        verification_uri: `${publicUrl()}/device`,
        verification_uri_complete: `${publicUrl()}/device?user_code=${userCode}`,
        expires_in: LIFETIME_SECONDS,
        interval: FIRST_INTERVAL_SECONDS,
      };
    }),
  ];
}

/** What the person does who approves a program. */
export function deviceApprovalRoutes({ db, clock }: Ports<"db" | "clock">): Route[] {
  const guessesOf = (userId: string) => [`device codes of ${userId}`];

  /**
   * The guess is counted before the code is looked up, and the count is reverted for a right code. Concurrent guesses
   * are therefore all counted.
   */
  async function countGuess(userId: string, code: string): Promise<void> {
    const now = clock();
    const refusedUntilMs = await inTransaction(db, (tx) => countAttempt(tx, guessesOf(userId), code, now));
    if (refusedUntilMs !== null) throw tooManyGuesses(secondsUntil(refusedUntilMs, now));
  }

  const clearGuess = (tx: Tx, userId: string, code: string) => clearAttempts(tx, guessesOf(userId), [code], clock());

  return [
    route(getDeviceLogin, signedIn, async ({ caller, params }) => {
      const code = normaliseUserCode(params.user_code);
      await countGuess(caller.id, code);
      const login = await findDeviceByUserCode(db, code);
      const now = clock();
      if (!login || !isUndecided(login, now)) throw notFound("Device login");
      await inTransaction(db, (tx) => clearGuess(tx, caller.id, code));
      const boundary = boundaryOf(login.org_id, login.project_id);
      return wirePendingDevice(login, boundary && (await nameOfVisible(db, caller, boundary)), now);
    }),

    route(decideDeviceLogin, signedIn, async ({ caller, body: { user_code, approved }, change }) => {
      const code = normaliseUserCode(user_code);
      await countGuess(caller.id, code);
      return change(async (unit) => {
        const { db: tx } = unit;
        const now = clock();
        await lockCaller(tx, caller, now);
        const login = await lockDeviceByUserCode(tx, code);
        if (!login || !isUndecided(login, now)) throw notFound("Device login");
        // The person is refused at approval, because they can revoke a token and the device cannot.
        if (approved && login.kind === "token") {
          await requireRoomForToken(tx, caller.id, now);
          await visibleBoundary(tx, caller, login);
        }
        await clearGuess(tx, caller.id, code);
        await updateDeviceLogin(tx, { ...login, status: approved ? "approved" : "denied", user_id: caller.id });
        await recordInOrgsOf(caller.id, unit, {
          action: approved ? "device_login.approve" : "device_login.deny",
          resource: { type: "device_login", id: login.id, name: login.client_name },
          changes: grantOf(login),
        });
        return null;
      });
    }),
  ];
}

export function deviceTokenRoutes({
  db,
  clock,
  issuer,
  refuseOtherPages,
}: Ports<"db" | "clock" | "issuer" | "refuseOtherPages">): Route[] {
  return [
    route(claimDeviceToken, anyone, async ({ body, headers, sourceAddress, reply, change }) => {
      // An approved session sets the refresh cookie, as a login does.
      refuseOtherPages(headers);
      const digest = digestOf(body.device_code);
      const asked = await inTransaction(db, async (tx) => {
        const login = await lockDeviceByCode(tx, digest);
        if (!login) return { outcome: "expired_token" } as const;
        const answer = ask(login, clock());
        // The poll is stored at once. The token is claimed later, in the transaction that creates it.
        if (answer.outcome !== "approved") await updateDeviceLogin(tx, answer.next);
        return answer;
      });
      if (asked.outcome !== "approved") throw refusal(asked.outcome);

      const given = await change(async (unit) => {
        const { db: tx } = unit;
        const now = clock();
        // The user is locked before the device, in the same order as where approvals are revoked.
        const user = await lockUser(tx, asked.userId);
        const login = await lockDeviceByCode(tx, digest);
        const answer = login && ask(login, now);
        // Another request with the same code was faster, or the user was disabled in the meantime.
        if (answer?.outcome !== "approved" || !user || user.disabled) throw refusal("expired_token");
        await updateDeviceLogin(tx, answer.next);
        const { client_name: name, kind, scopes, org_id, project_id } = answer.next;
        if (kind === "session") {
          const userAgent = readableUserAgent(headers["user-agent"]);
          return { session: await issuer.open(unit, user, { sourceAddress, userAgent, clientName: name }) };
        }
        await requireRoomForToken(tx, user.id, now);
        const boundary = boundaryOf(org_id, project_id);
        const lifetimeDays = DEFAULT_LIFETIME_DAYS;
        const token = cliToken(newId(), user.id, { name, scopes, lifetimeDays, boundary }, now);
        const secret = newOpaqueToken(CLI_TOKEN_PREFIX);
        await insertCliToken(tx, token, digestOf(secret)).catch((error: unknown) => {
          // The place of the token was deleted after the approval.
          throw error instanceof Fault && error.kind === "not_found" ? refusal("expired_token") : error;
        });
        await recordInOrgsOf(user.id, unit, {
          action: "cli_token.create",
          resource: cliTokenResource(token),
          changes: { scopes, ...boundary },
          actor: { id: user.id, email: user.email, via: "user" },
        });
        return { token: secret };
      });
      return given.session ? issuer.answer(reply, given.session) : { token: given.token };
    }),
  ];
}
