import Type, { type Static } from "typebox";
import { Description, DisplayName, Nullable, strict, Timestamp, Uuid } from "../fields.ts";
import { operation } from "../operation.ts";
import { Page, PageQuery } from "../page.ts";

const tag = "Organizations";
const params = Type.Object({ id: Uuid() });

export const Org = Type.Object(
  {
    id: Uuid(),
    name: DisplayName("Demo"),
    slug: Type.String({ description: "Derived from the name.", examples: ["demo"] }),
    description: Nullable(Description),
    created_at: Timestamp(),
    updated_at: Timestamp(),
  },
  { title: "Organization" },
);
export type Org = Static<typeof Org>;

const body = Type.Object({ name: DisplayName("Demo"), description: Type.Optional(Nullable(Description)) }, strict);

export const listOrgs = operation({
  id: "listOrgs",
  method: "GET",
  path: "/orgs",
  tag,
  summary: "List the organizations you belong to; all of them for a superuser",
  credentials: ["clusters:read", "clusters:register"],
  query: PageQuery,
  success: [200, Page(Org)],
});

export const createOrg = operation({
  id: "createOrg",
  method: "POST",
  path: "/orgs",
  tag,
  summary: "Create an organization; superuser only",
  description: "The creator becomes its first administrator.",
  credentials: "user",
  body,
  success: [201, Org],
  failures: [403, 409],
});

export const getOrg = operation({
  id: "getOrg",
  method: "GET",
  path: "/orgs/{id}",
  tag,
  summary: "Read an organization",
  credentials: "user",
  params,
  success: [200, Org],
  failures: [403, 404],
});

export const updateOrg = operation({
  id: "updateOrg",
  method: "PUT",
  path: "/orgs/{id}",
  tag,
  summary: "Change an organization; org admin",
  credentials: "user",
  params,
  body,
  success: [200, Org],
  failures: [403, 404, 409],
});

export const deleteOrg = operation({
  id: "deleteOrg",
  method: "DELETE",
  path: "/orgs/{id}",
  tag,
  summary: "Delete an organization; superuser only",
  description: "Refused while clusters belong to it.",
  credentials: "user",
  params,
  success: [204, null],
  failures: [403, 404, 409],
});
