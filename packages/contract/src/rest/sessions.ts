import Type from "typebox";
import { Nullable, Page, pageFields, strict, Timestamp, Uuid } from "../fields.ts";
import { operation } from "../operation.ts";

const tag = "Sessions";

export const AccessToken = Type.Object(
  {
    access_token: Type.String({ examples: ["<ACCESS_TOKEN>"] }),
    token_type: Type.Literal("bearer"),
  },
  { title: "AccessToken" },
);

const RefreshCookie = Type.Object({
  refresh_token: Type.Optional(
    Type.String({ maxLength: 4096, description: "Set by the login; HttpOnly.", examples: ["<REFRESH_TOKEN>"] }),
  ),
});

export const login = operation({
  id: "login",
  method: "POST",
  path: "/login",
  tag,
  summary: "Sign in with a username or an email address, and a password",
  description:
    "Answers with an access token and sets the refresh token as an HttpOnly cookie. A wrong password, an unknown user and a throttled attempt get the same 401. A page of another origin than the server and those in `BINNACLE_CORS_ORIGINS`: 403.",
  credentials: "none",
  bodyType: "application/x-www-form-urlencoded",
  body: Type.Object(
    {
      username: Type.String({ minLength: 1, maxLength: 254, examples: ["admin"] }),
      password: Type.String({ minLength: 1, maxLength: 128, examples: ["binnacle"] }),
      grant_type: Type.Optional(
        Type.String({ maxLength: 32, description: "OAuth2 password flow; ignored.", examples: ["password"] }),
      ),
      scope: Type.Optional(
        Type.String({ maxLength: 256, description: "OAuth2 password flow; ignored.", examples: [""] }),
      ),
      client_id: Type.Optional(
        Type.String({ maxLength: 256, description: "OAuth2 password flow; ignored.", examples: [""] }),
      ),
      client_secret: Type.Optional(
        Type.String({ maxLength: 256, description: "OAuth2 password flow; ignored.", examples: [""] }),
      ),
    },
    strict,
  ),
  success: [200, AccessToken],
  failures: [401, 403],
});

export const refresh = operation({
  id: "refreshAccessToken",
  method: "POST",
  path: "/refresh",
  tag,
  summary: "Exchange the refresh cookie for a new access token",
  description: "The cookie itself is not rotated.",
  credentials: "none",
  cookies: RefreshCookie,
  success: [200, AccessToken],
  failures: [401, 403],
});

export const logout = operation({
  id: "logout",
  method: "POST",
  path: "/logout",
  tag,
  summary: "End the session: refuse both tokens from now on and clear the cookie",
  description: "Both tokens must be of one session; a cookie of another one is a 401 and ends nothing.",
  credentials: "user",
  cookies: RefreshCookie,
  success: [
    200,
    Type.Object({ message: Type.String({ examples: ["Logged out successfully"] }) }, { title: "LoggedOut" }),
  ],
});

const Session = Type.Object(
  {
    id: Uuid(),
    user_id: Uuid(),
    created_at: Timestamp(),
    expires_at: Timestamp(),
    source_address: Nullable(Type.String({ description: "Where the login came from.", examples: ["203.0.113.7"] })),
    user_agent: Nullable(
      Type.String({ description: "What the login called itself, shortened.", examples: ["Mozilla/5.0"] }),
    ),
    client_name: Nullable(
      Type.String({
        description:
          "The name of the device for which its user approved the session; null for a login with a password.",
        examples: ["binnacle on laptop"],
      }),
    ),
    last_used_at: Timestamp("When it last got an access token: at the login or by a refresh; to the minute."),
    last_used_address: Nullable(Type.String({ description: "Where that came from.", examples: ["203.0.113.7"] })),
    current: Type.Boolean({ description: "Whether it is the session of this very request." }),
  },
  { title: "Session" },
);

/** Only superusers may name another user. */
export const OfUser = Type.Optional(
  Uuid("Whose; your own unless given. Only superusers may name somebody else.", "UserFilter"),
);

export const listSessions = operation({
  id: "listSessions",
  method: "GET",
  path: "/sessions",
  tag,
  summary: "List your sessions that are open; a superuser lists anybody's",
  credentials: "user",
  query: Type.Object({ ...pageFields(), user_id: OfUser }),
  success: [200, Page(Session)],
});

export const endSession = operation({
  id: "endSession",
  method: "DELETE",
  path: "/sessions/{id}",
  tag,
  summary: "End one of your sessions; a superuser ends anybody's",
  description: "Its access tokens, its refresh token and its streams end at once.",
  credentials: "user",
  params: Type.Object({ id: Uuid() }),
  query: Type.Object({ user_id: OfUser }),
  success: [204, null],
  failures: [404],
});
