import Type from "typebox";
import { DisplayName, Nullable, Page, pageFields, strict, Timestamp, Uuid } from "../fields.ts";
import { operation } from "../operation.ts";
import { SCOPES } from "../states.ts";
import { OfUser } from "./sessions.ts";

const tag = "CLI tokens";

export const Scopes = Type.Array(Type.Enum(SCOPES), { minItems: 1, maxItems: 16, examples: [["clusters:read"]] });

export const CliToken = Type.Object(
  {
    id: Uuid(),
    name: Type.String({ examples: ["laptop"] }),
    scopes: Type.Array(Type.Enum(SCOPES)),
    expires_at: Timestamp(),
    last_used_at: Nullable(Timestamp()),
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
  description: "A user has at most 50 tokens that have not expired; one more is a 409.",
  credentials: "user",
  body: Type.Object(
    {
      name: DisplayName("laptop"),
      scopes: Scopes,
      expires_in_days: Type.Optional(Type.Integer({ minimum: 1, maximum: 365, default: 90 })),
    },
    strict,
  ),
  success: [201, NewCliToken],
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
