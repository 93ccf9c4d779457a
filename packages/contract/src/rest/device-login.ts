import Type from "typebox";
import { DisplayName, Nullable, strict, Timestamp } from "../fields.ts";
import { operation } from "../operation.ts";
import { SCOPES } from "../states.ts";
import { Scopes } from "./cli-tokens.ts";

const tag = "CLI tokens";

/** The error codes of RFC 8628. */
export const DEVICE_ERRORS = ["authorization_pending", "slow_down", "access_denied", "expired_token"] as const;
export type DeviceError = (typeof DEVICE_ERRORS)[number];

const UserCode = Type.String({ minLength: 1, maxLength: 20, examples: ["BCDF-GHJK"] });

export const startDeviceLogin = operation({
  id: "startDeviceLogin",
  method: "POST",
  path: "/auth/cli/device",
  tag,
  summary: "Begin a device login (RFC 8628): get a code for a person to approve",
  description: "An address has at most 10 that wait for a decision; one more is a 429.",
  credentials: "none",
  body: Type.Object({ requested_scopes: Scopes, client_name: DisplayName("binnacle on laptop") }, strict),
  success: [
    200,
    Type.Object(
      {
        device_code: Type.String({ examples: ["<DEVICE_CODE>"] }),
        user_code: Type.String({ examples: ["BCDF-GHJK"] }),
        verification_uri: Type.String({ examples: ["http://127.0.0.1:8080/device"] }),
        verification_uri_complete: Type.String({ examples: ["http://127.0.0.1:8080/device?user_code=BCDF-GHJK"] }),
        expires_in: Type.Integer({ description: "Seconds.", examples: [600] }),
        interval: Type.Integer({ description: "Seconds to wait between two questions.", examples: [5] }),
      },
      { title: "DeviceLogin" },
    ),
  ],
  failures: [429],
});

export const getDeviceLogin = operation({
  id: "getDeviceLogin",
  method: "GET",
  path: "/auth/cli/device/{user_code}",
  tag,
  summary: "Read what asks for approval, before approving it",
  description:
    "A code that is unknown, expired or decided already is a 404. Whoever tries many codes that are not there is told 429 for a while, also at the approval.",
  credentials: "user",
  params: Type.Object({ user_code: UserCode }),
  success: [
    200,
    Type.Object(
      {
        user_code: Type.String({ examples: ["BCDF-GHJK"] }),
        client_name: Type.String({
          description: "What the device calls itself; nothing proves it.",
          examples: ["binnacle on laptop"],
        }),
        kind: Type.Enum(["token", "session"], { description: "What an approval gives to the device." }),
        scopes: Type.Array(Type.Enum(SCOPES), { examples: [["clusters:read"]] }),
        source_address: Nullable(
          Type.String({ description: "Where the device asked from.", examples: ["203.0.113.7"] }),
        ),
        created_at: Timestamp(),
        expires_in: Type.Integer({ description: "Seconds that are left.", examples: [540] }),
      },
      { title: "PendingDeviceLogin" },
    ),
  ],
  failures: [404, 429],
});

export const decideDeviceLogin = operation({
  id: "decideDeviceLogin",
  method: "POST",
  path: "/auth/cli/device/approval",
  tag,
  summary: "Approve or deny a device by the code it shows",
  credentials: "user",
  body: Type.Object({ user_code: UserCode, approved: Type.Boolean() }, strict),
  success: [204, null],
  failures: [404, 409, 429],
});

export const claimDeviceToken = operation({
  id: "claimDeviceToken",
  method: "POST",
  path: "/auth/cli/device/token",
  tag,
  summary: "Ask whether the device has been approved, and get its CLI token",
  credentials: "none",
  body: Type.Object(
    { device_code: Type.String({ minLength: 1, maxLength: 200, examples: ["<DEVICE_CODE>"] }) },
    strict,
  ),
  failures: [409],
  success: [200, Type.Object({ token: Type.String({ examples: ["bnc_<SECRET>"] }) }, { title: "DeviceToken" })],
  failureBodies: { 400: Type.Object({ error: Type.Enum(DEVICE_ERRORS) }, { title: "DeviceRefusal" }) },
});
