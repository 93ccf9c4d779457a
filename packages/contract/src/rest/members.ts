import Type from "typebox";
import { Email, strict, Timestamp, Uuid } from "../fields.ts";
import { operation } from "../operation.ts";
import { Page, PageQuery } from "../page.ts";
import { ORG_ROLES } from "../roles.ts";

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
  summary: "Add a user, by id or by email address; org admin",
  description: "Exactly one of `user_id` and `email`.",
  credentials: "user",
  params: orgParams,
  body: Type.Object(
    { user_id: Type.Optional(Uuid()), email: Type.Optional(Email), role: Type.Enum(ORG_ROLES) },
    { ...strict, examples: [{ email: "ada@example.com", role: "member" }] },
  ),
  success: [201, Member],
  failures: [403, 404, 409],
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
