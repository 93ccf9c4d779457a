import Type from "typebox";
import { DisplayName, Nullable, strict, Timestamp, Uuid } from "../fields.ts";
import { operation } from "../operation.ts";
import { holds, holdsByDefault, where } from "../rules.ts";
import { SCOPES } from "../states.ts";
import { boundFields, onePlace, Scopes } from "./cli-tokens.ts";
import { AccessToken } from "./sessions.ts";

const tag = "CLI tokens";

/** The error codes of RFC 8628. */
export const DEVICE_ERRORS = ["authorization_pending", "slow_down", "access_denied", "expired_token"] as const;
export type DeviceError = (typeof DEVICE_ERRORS)[number];

/** A device gets a CLI token or a session. */
export const DEVICE_KINDS = ["token", "session"] as const;
export type DeviceKind = (typeof DEVICE_KINDS)[number];

const UserCode = Type.String({ minLength: 1, maxLength: 20, examples: ["BCDF-GHJK"] });

export const startDeviceLogin = operation({
  id: "startDeviceLogin",
  method: "POST",
  path: "/auth/cli/device",
  tag,
  summary: "Begin a device login (RFC 8628): get a code for a person to approve",
  description: [
    "By default the device gets a CLI token with the requested scopes, which may be bound to an organization or a project. With",
    "`kind: session` it gets a session, with which it may do everything that its user may do; scopes are ignored then.",
    "An address has at most 50 logins that wait for a decision. With one more, one whose device has missed three polls expires; where all",
    "are polled, the new one is a 429 with `Retry-After`.",
  ].join(" "),
  credentials: "none",
  body: Type.Object(
    {
      client_name: DisplayName("binnacle on laptop"),
      kind: Type.Optional(Type.Enum(DEVICE_KINDS, { default: "token" })),
      requested_scopes: Type.Optional(Scopes),
      ...boundFields,
    },
    {
      ...strict,
      allOf: [
        where(holdsByDefault("kind", ["token"]), "A CLI token has scopes", { requires: ["requested_scopes"] }),
        where(holds("kind", ["session"]), "A session cannot be bound to a place", {
          refuses: ["org_id", "project_id"],
        }),
        onePlace,
      ],
      examples: [{ client_name: "binnacle on laptop", requested_scopes: ["clusters:read"] }],
    },
  ),
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
        kind: Type.Enum(DEVICE_KINDS, {
          description:
            "What an approval gives to the device: a CLI token, or a session that may do everything you may do.",
        }),
        scopes: Type.Array(Type.Enum(SCOPES), {
          description: "The scopes of the token; empty for a session, which has no limits.",
          examples: [["clusters:read"]],
        }),
        org_id: Nullable(Uuid("The organization that the token would be bound to.")),
        org_name: Nullable(Type.String({ description: "Null where you do not see it.", examples: ["Acme"] })),
        project_id: Nullable(Uuid("The project that the token would be bound to.")),
        project_name: Nullable(Type.String({ description: "Null where you do not see it.", examples: ["shop"] })),
        source_address: Nullable(
          Type.String({ description: "Where the device asked from.", examples: ["203.0.113.7"] }),
        ),
        created_at: Timestamp(),
        age_seconds: Type.Integer({ description: "Seconds since the device asked.", examples: [60] }),
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
  description: [
    "Read the login by its code first: it says whether the device gets a limited token or a session. The organization or the",
    "project that a token would be bound to is a 404 if you do not see it.",
  ].join(" "),
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
  summary: "Ask whether the device has been approved, and get its CLI token or its session",
  description:
    "A session is answered as a login is: with an access token, and with the refresh token as an HttpOnly cookie. A page of another origin: 403.",
  credentials: "none",
  body: Type.Object(
    { device_code: Type.String({ minLength: 1, maxLength: 200, examples: ["<DEVICE_CODE>"] }) },
    strict,
  ),
  failures: [403, 409],
  success: [
    200,
    Type.Union([
      Type.Object({ token: Type.String({ examples: ["bnc_<SECRET>"] }) }, { title: "DeviceToken" }),
      AccessToken,
    ]),
  ],
  failureBodies: { 400: Type.Object({ error: Type.Enum(DEVICE_ERRORS) }, { title: "DeviceRefusal" }) },
});
