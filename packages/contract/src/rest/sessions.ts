import Type from "typebox";
import { strict } from "../fields.ts";
import { operation } from "../operation.ts";

const tag = "Sessions";

const AccessToken = Type.Object(
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
    "Answers with an access token and sets the refresh token as an HttpOnly cookie. A wrong password, an unknown user and a throttled attempt get the same 401.",
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
  failures: [401],
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
  failures: [401],
});

export const logout = operation({
  id: "logout",
  method: "POST",
  path: "/logout",
  tag,
  summary: "End the session: refuse both tokens from now on and clear the cookie",
  credentials: "user",
  cookies: RefreshCookie,
  success: [
    200,
    Type.Object({ message: Type.String({ examples: ["Logged out successfully"] }) }, { title: "LoggedOut" }),
  ],
});
