import Type, { type Static } from "typebox";
import { LONGEST_SUMMARY } from "../app/change-sentence.ts";
import { MOST_FIELD_CHANGES } from "../field-change.ts";
import { AnyMap, CappedPage, DisplayLine, ExportPart, idPageFields, Nullable, Timestamp, Uuid } from "../fields.ts";
import { operation } from "../operation.ts";

/** The kind of credential that made a change; `system` is the control plane itself. */
export const VIAS = ["user", "cli_token", "system"] as const;
export type Via = (typeof VIAS)[number];

export const AuditEntry = Type.Object(
  {
    id: Uuid(),
    at: Timestamp(),
    actor: Type.Object({ id: Nullable(Uuid()), email: Nullable(Type.String({ examples: ["ada@example.com"] })) }),
    via: Type.Enum(VIAS),
    source_address: Nullable(Type.String({ examples: ["203.0.113.7"] })),
    action: Type.String({ examples: ["org.update"] }),
    resource: Type.Object({
      type: Type.String({ examples: ["org"] }),
      id: Nullable(Type.String({ examples: ["01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11"] })),
      name: Nullable(Type.String({ examples: ["Demo"] })),
    }),
    changes: AnyMap({
      description: [
        "By field: `before` and `after` of what had another value; `added`, `changed` or `removed` of a secret and of what is not",
        "shown; the plain value of what else there is to tell. Fields of a component begin with its name. Values are cut after 200",
        `characters; of more than ${MOST_FIELD_CHANGES} fields, or of very long ones, \`more_changes\` counts the rest.`,
      ].join(" "),
      examples: [{ name: { before: "Demo", after: "Our demo" } }],
    }),
    summary: Nullable(
      Type.String({
        maxLength: LONGEST_SUMMARY,
        description: "What changed, in one line; null where the action and the resource say everything.",
        examples: ["name Demo → Our demo"],
      }),
    ),
    request_id: Nullable(Type.String({ examples: ["01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11"] })),
  },
  { title: "AuditEntry" },
);
export type AuditEntry = Static<typeof AuditEntry>;

export const listAuditLog = operation({
  id: "listAuditLog",
  method: "GET",
  path: "/orgs/{id}/audit-log",
  tag: "Organizations",
  summary: "Read who changed what in the organization; org admin",
  credentials: "user",
  params: Type.Object({ id: Uuid() }),
  description: "Newest first. The filters are combined.",
  query: Type.Object({
    ...idPageFields(),
    action: Type.Optional(DisplayLine("app.", 100, "Only actions that begin like this: `app.` has all of apps.")),
    actor_id: Type.Optional(Uuid("Only changes by this user.")),
    resource_type: Type.Optional(DisplayLine("app", 100, "Only of such resources.")),
    resource_id: Type.Optional(DisplayLine("01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11", 200, "Only of this resource.")),
    since: Type.Optional({ ...Timestamp("Only from this time on."), maxLength: 64 }),
    until: Type.Optional({ ...Timestamp("Only before this time."), maxLength: 64 }),
  }),
  success: [200, CappedPage(AuditEntry)],
  failures: [403, 404],
});

/** Of one answer of an export, which ends early where they are long. */
export const MOST_EXPORTED_ENTRIES = 5_000;

/** Changes of which the entries have younger ids may be committed later than others, but not by so much. */
export const EXPORTED_AFTER_SECONDS = 60;

export const exportAuditLog = operation({
  id: "exportAuditLog",
  method: "GET",
  path: "/orgs/{org_id}/audit-log/export",
  tag: "Organizations",
  summary: "Read the whole audit log of a time, to keep it elsewhere; org admin",
  description: `Oldest first, up to ${MOST_EXPORTED_ENTRIES.toLocaleString("en")} entries in an answer. Ask again with the \`next_cursor\` until it is null. With the id of the last entry that you have, an export goes on where an earlier one ended, and misses none: entries of the last ${EXPORTED_AFTER_SECONDS} seconds are left for the next one.`,
  credentials: "user",
  params: Type.Object({ org_id: Uuid() }),
  query: Type.Object({
    cursor: Type.Optional(Uuid("Only what follows this entry: the `next_cursor` of an answer, or an entry's id.")),
    since: Type.Optional({ ...Timestamp("Only from this time on."), maxLength: 64 }),
    until: Type.Optional({ ...Timestamp("Only before this time."), maxLength: 64 }),
  }),
  success: [200, ExportPart(AuditEntry)],
  failures: [403, 404],
});
