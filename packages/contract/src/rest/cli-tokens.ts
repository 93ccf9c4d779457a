import Type from "typebox";
import { DisplayName, Nullable, Page, pageFields, strict, Timestamp, Uuid } from "../fields.ts";
import { operation } from "../operation.ts";
import { given, where } from "../rules.ts";
import { SCOPES } from "../states.ts";
import { OfUser } from "./sessions.ts";

const tag = "CLI tokens";

export const Scopes = Type.Array(Type.Enum(SCOPES), {
  minItems: 1,
  maxItems: 16,
  description:
    "`read` is every read that you may make, without secret values; `write` is every change that you may make, and no read. Neither is for accounts, sessions, tokens, members, roles and credentials.",
  examples: [["clusters:read"]],
});

/** The place that a token is bound to. */
export const boundFields = {
  org_id: Type.Optional(Uuid("Binds the token to this organization: everything else is a 404 for it.")),
  project_id: Type.Optional(Uuid("Binds the token to this project: everything else is a 404 for it.")),
};

export const onePlace = where(given("org_id"), "A token is bound to one organization or to one project, not to both", {
  refuses: ["project_id"],
});

export const CliToken = Type.Object(
  {
    id: Uuid(),
    name: Type.String({ examples: ["laptop"] }),
    scopes: Type.Array(Type.Enum(SCOPES)),
    org_id: Nullable(Uuid("The organization that it is bound to.")),
    project_id: Nullable(Uuid("The project that it is bound to.")),
    expires_at: Timestamp(),
    expires_soon: Type.Boolean({ description: "Whether it expires within 7 days." }),
    last_used_at: Nullable(Timestamp("To the minute.")),
    last_used_address: Nullable(
      Type.String({ description: "The source address of the use at `last_used_at`.", examples: ["203.0.113.7"] }),
    ),
    created_at: Timestamp(),
    updated_at: Timestamp(),
  },
  { title: "CliToken" },
);

const NewCliToken = Type.Object(
  { ...CliToken.properties, token: Type.String({ description: "Shown this once.", examples: ["bnc_<SECRET>"] }) },
  { title: "NewCliToken" },
);

export const createCliToken = operation({
  id: "createCliToken",
  method: "POST",
  path: "/cli-tokens",
  tag,
  summary: "Make a CLI token that acts as you, limited to its scopes",
  description: [
    "A user has at most 50 tokens that have not expired; one more is a 409. A token may be bound to an organization or a",
    "project that you see; another one is a 404. A bound token is revoked when its place is deleted. Seven days before a token",
    "expires, an `activity` event and an audit entry `cli_token.expires_soon` announce it, unless it is valid for 7 days or less.",
  ].join(" "),
  credentials: "user",
  body: Type.Object(
    {
      name: DisplayName("laptop"),
      scopes: Scopes,
      expires_in_days: Type.Optional(Type.Integer({ minimum: 1, maximum: 365, default: 90 })),
      ...boundFields,
    },
    { ...strict, allOf: [onePlace], examples: [{ name: "laptop", scopes: ["read"], expires_in_days: 90 }] },
  ),
  success: [201, NewCliToken],
  failures: [404],
});

export const listCliTokens = operation({
  id: "listCliTokens",
  method: "GET",
  path: "/cli-tokens",
  tag,
  summary: "List your CLI tokens; a superuser lists anybody's",
  credentials: "user",
  query: Type.Object({ ...pageFields(), user_id: OfUser }),
  success: [200, Page(CliToken)],
});

export const deleteCliToken = operation({
  id: "deleteCliToken",
  method: "DELETE",
  path: "/cli-tokens/{id}",
  tag,
  summary: "Revoke one of your CLI tokens; a superuser revokes anybody's",
  credentials: "user",
  params: Type.Object({ id: Uuid() }),
  query: Type.Object({ user_id: OfUser }),
  success: [204, null],
  failures: [404],
});

export const revokePresentedCliToken = operation({
  id: "revokePresentedCliToken",
  method: "DELETE",
  path: "/cli-tokens/self",
  tag,
  summary: "Revoke the CLI token that this request presents, whatever its scopes",
  description: "A session is a 403; it ends with `POST /logout`.",
  credentials: "cli_token",
  success: [204, null],
});
