import Type from "typebox";
import { type ConflictCode, Failure } from "../errors.ts";
import { Email, Page, PageQuery, strict, Timestamp, Username, Uuid } from "../fields.ts";
import { operation } from "../operation.ts";
import { exactlyOneOf } from "../rules.ts";
import { ORG_ROLES } from "../states.ts";

const tag = "Organizations";
const orgParams = Type.Object({ id: Uuid() });
const memberParams = Type.Object({ id: Uuid(), user_id: Uuid() });

export const Member = Type.Object(
  {
    user_id: Uuid(),
    name: Type.String({ examples: ["Ada Lovelace"] }),
    email: Email,
    role: Type.Enum(ORG_ROLES),
    created_at: Timestamp(),
    updated_at: Timestamp(),
  },
  { title: "Member" },
);

const EMAIL_UNVERIFIED: ConflictCode = "email_unverified";
const UnverifiedEmail = Type.Object(
  {
    detail: Type.Object({
      code: Type.Literal(EMAIL_UNVERIFIED),
      message: Type.String({ examples: ["The email address is not verified. Add the user by `username` instead."] }),
    }),
  },
  { title: "UnverifiedEmail" },
);

export const listMembers = operation({
  id: "listMembers",
  method: "GET",
  path: "/orgs/{id}/members",
  tag,
  summary: "List an organization's members with their roles",
  credentials: "user",
  params: orgParams,
  query: PageQuery,
  success: [200, Page(Member)],
  failures: [403, 404],
});

export const addMember = operation({
  id: "addMember",
  method: "POST",
  path: "/orgs/{id}/members",
  tag,
  summary: "Add a user, by id, by username or by email address; org admin",
  description:
    "Exactly one of `user_id`, `email` and `username`. An email address that its user has set, or an administrator of another organization, is a 409 `email_unverified`: it does not prove who the user is, so name them by their username.",
  credentials: "user",
  params: orgParams,
  body: Type.Object(
    {
      user_id: Type.Optional(Uuid()),
      email: Type.Optional(Email),
      username: Type.Optional(Username),
      role: Type.Enum(ORG_ROLES),
    },
    {
      ...strict,
      allOf: [exactlyOneOf("user_id", "email", "username")],
      examples: [{ email: "ada@example.com", role: "member" }],
    },
  ),
  success: [201, Member],
  failures: [403, 404],
  // A user who is a member already is refused with a plain sentence.
  failureBodies: { 409: Type.Union([UnverifiedEmail, Failure]) },
});

export const changeMember = operation({
  id: "changeMember",
  method: "PUT",
  path: "/orgs/{id}/members/{user_id}",
  tag,
  summary: "Change a member's role; org admin",
  description: "An organization keeps at least one administrator.",
  credentials: "user",
  params: memberParams,
  body: Type.Object({ role: Type.Enum(ORG_ROLES) }, strict),
  success: [200, Member],
  failures: [403, 404, 409],
});

export const removeMember = operation({
  id: "removeMember",
  method: "DELETE",
  path: "/orgs/{id}/members/{user_id}",
  tag,
  summary: "Remove a member and all the roles granted to them in the organization; org admin",
  credentials: "user",
  params: memberParams,
  success: [204, null],
  failures: [403, 404, 409],
});
