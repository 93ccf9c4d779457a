import Type, { type Static } from "typebox";
import {
  DisplayName,
  Email,
  Nullable,
  Page,
  Password,
  pageFields,
  ReadName,
  SearchText,
  strict,
  Timestamp,
  Username,
  Uuid,
} from "../fields.ts";
import { operation } from "../operation.ts";
import { BINDING_ROLES, ORG_ROLES, SCOPES } from "../states.ts";
import { RoleBinding } from "./role-bindings.ts";

const tag = "Users";

const fields = {
  name: DisplayName("Ada Lovelace", { minLength: 2, maxLength: 30 }),
  username: Username,
  email: Email,
};
const ProfileImageUrl = Type.String({
  format: "uri",
  maxLength: 2000,
  pattern: "^https?://",
  examples: ["https://example.com/ada.png"],
});
const params = Type.Object({ id: Uuid() });

export const User = Type.Object(
  {
    id: Uuid(),
    ...fields,
    name: ReadName("Ada Lovelace"),
    profile_image_url: Nullable(ProfileImageUrl),
    email_verified: Type.Boolean({
      description: "Whether a superuser has set or confirmed the email address.",
    }),
    is_superuser: Type.Boolean(),
    disabled: Type.Boolean({ description: "A disabled user cannot sign in, and holds no session and no CLI token." }),
    tier: Type.String({ examples: ["free"] }),
    created_at: Timestamp(),
    updated_at: Timestamp(),
  },
  { title: "User" },
);
export type User = Static<typeof User>;

/** Of each kind, so that nobody fills an answer that everybody asks for at every start. */
export const MOST_OWN_ROLES = 1_000;

const moreRoles = (named: string) =>
  Type.Integer({
    minimum: 0,
    examples: [0],
    description: `How many more roles you have. ${named}`,
  });

const Me = Type.Object(
  {
    ...User.properties,
    organizations: Type.Array(
      Type.Object({ id: Uuid(), name: Type.String({ examples: ["Demo"] }), role: Type.Enum(ORG_ROLES) }),
    ),
    role_bindings: Type.Array(RoleBinding),
    more_roles: moreRoles(
      `The first ${MOST_OWN_ROLES} organizations by name and the newest ${MOST_OWN_ROLES} role bindings are listed.`,
    ),
    token: Nullable(
      Type.Object(
        {
          scopes: Type.Array(Type.Enum(SCOPES), { examples: [["read", "write"]] }),
          org_id: Nullable(Uuid("The organization that it is bound to.")),
          project_id: Nullable(Uuid("The project that it is bound to.")),
          expires_at: Timestamp(),
        },
        { title: "PresentedToken", description: "What the CLI token of the request may do; null for a session." },
      ),
    ),
  },
  { title: "Me" },
);

export const getMe = operation({
  id: "getMe",
  method: "GET",
  path: "/user/me",
  tag,
  summary: "Read your profile, organizations and role bindings",
  credentials: "user",
  success: [200, Me],
});

const MyAccess = Type.Object(
  {
    is_superuser: Type.Boolean({ description: "A superuser may do everything, whatever the lists say." }),
    orgs: Type.Array(
      Type.Object({
        id: Uuid(),
        name: Type.String({ examples: ["Demo"] }),
        slug: Type.String({ examples: ["demo"] }),
        role: Type.Enum(ORG_ROLES),
      }),
      { description: "Your memberships, by name." },
    ),
    clusters: Type.Array(Type.Object({ id: Uuid(), org_id: Uuid(), role: Type.Enum(BINDING_ROLES) }), {
      description: "Your role bindings on clusters. They hold on the projects there, too.",
    }),
    projects: Type.Array(
      Type.Object({ id: Uuid(), cluster_id: Uuid(), org_id: Uuid(), role: Type.Enum(BINDING_ROLES) }),
      { description: "Your role bindings on projects." },
    ),
    more_roles: moreRoles(
      `The first ${MOST_OWN_ROLES} organizations by name, and those bindings on the newest ${MOST_OWN_ROLES} clusters and projects, are listed.`,
    ),
  },
  { title: "MyAccess" },
);

export const getMyAccess = operation({
  id: "getMyAccess",
  method: "GET",
  path: "/user/me/access",
  tag,
  summary: "Read your memberships and role bindings with the places they hold in",
  description:
    "Together with the `x-access` of an operation it says what you may do. Only what is granted to you: an administrator of an organization has no bindings for its clusters and projects, and needs none. A bound CLI token gets what is in its place.",
  credentials: "user",
  success: [200, MyAccess],
});

export const listUsers = operation({
  id: "listUsers",
  method: "GET",
  path: "/users",
  tag,
  summary: "List users: all for a superuser, otherwise those who share an organization with you",
  credentials: "user",
  query: Type.Object({
    ...pageFields(),
    search: Type.Optional(SearchText("Only those with this text in their name, username or email address.")),
  }),
  success: [200, Page(User)],
});

export const createUser = operation({
  id: "createUser",
  method: "POST",
  path: "/user",
  tag,
  summary: "Create a user; by a superuser or an administrator of any organization",
  description:
    "The email address counts as verified where a superuser makes the user; where an administrator does, it counts in the organizations that they administer and nowhere else.",
  credentials: "user",
  body: Type.Object({ ...fields, password: Password, profile_image_url: Type.Optional(ProfileImageUrl) }, strict),
  success: [201, User],
  failures: [403, 409],
});

export const getUser = operation({
  id: "getUser",
  method: "GET",
  path: "/user/{id}",
  tag,
  summary: "Read a user",
  credentials: "user",
  params,
  success: [200, User],
  failures: [404],
});

export const updateUser = operation({
  id: "updateUser",
  method: "PATCH",
  path: "/user/{id}",
  tag,
  summary: "Change your own record",
  description:
    "A new `password` or another `email` needs the `current_password`; wrong ones are throttled together with failed logins. A new password ends every session of the user, this one too, and revokes the CLI tokens unless `keep_tokens` is true. Another email address counts as unverified until a superuser confirms it.",
  credentials: "user",
  params,
  body: Type.Object(
    {
      name: Type.Optional(fields.name),
      username: Type.Optional(fields.username),
      email: Type.Optional(fields.email),
      profile_image_url: Type.Optional(Nullable(ProfileImageUrl)),
      password: Type.Optional(Password),
      current_password: Type.Optional(Type.String({ minLength: 1, maxLength: 128, examples: ["binnacle"] })),
      keep_tokens: Type.Optional(
        Type.Boolean({ description: "With a new password only: leave the CLI tokens as they are." }),
      ),
    },
    { ...strict, dependentRequired: { password: ["current_password"], keep_tokens: ["password"] } },
  ),
  success: [200, User],
  failures: [403, 409],
});

export const deleteUser = operation({
  id: "deleteUser",
  method: "DELETE",
  path: "/user/{id}",
  tag,
  summary: "Delete your own record",
  credentials: "user",
  params,
  success: [204, null],
  failures: [403, 409],
});

export const setUserTier = operation({
  id: "setUserTier",
  method: "PATCH",
  path: "/user/{id}/tier",
  tag,
  summary: "Move a user to another tier; superuser only",
  credentials: "user",
  params,
  body: Type.Object({ tier: Type.String({ minLength: 1, maxLength: 50, examples: ["pro"] }) }, strict),
  success: [200, User],
  failures: [403, 404],
});

export const setUserDisabled = operation({
  id: "setUserDisabled",
  method: "PATCH",
  path: "/user/{id}/disabled",
  tag,
  summary: "Disable or enable a user; superuser only",
  description:
    "Disabling ends the user's sessions and streams and revokes the CLI tokens at once; enabling brings none of them back. Nobody disables themselves, so one enabled superuser is always left.",
  credentials: "user",
  params,
  body: Type.Object({ disabled: Type.Boolean({ examples: [true] }) }, strict),
  success: [200, User],
  failures: [403, 404, 409],
});

export const verifyUserEmail = operation({
  id: "verifyUserEmail",
  method: "POST",
  path: "/user/{id}/email-verification",
  tag,
  summary: "Confirm that a user's email address is theirs; superuser only",
  description: "With `email`, only that address is confirmed: where the user has another one by now, it is a 409.",
  credentials: "user",
  params,
  body: Type.Object({ email: Type.Optional(Email) }, strict),
  bodyIsOptional: true,
  success: [204, null],
  failures: [403, 404, 409],
});
