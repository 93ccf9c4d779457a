import Type, { type Static } from "typebox";
import { ShownComponentStatus } from "../app/component-status.ts";
import { ShownReason } from "../app/reasons.ts";
import { AddonDefinitionFile } from "../catalog/addon-definition.ts";
import { conflictBody, Failure } from "../errors.ts";
import {
  DnsLabel,
  FreeMap,
  freshnessFields,
  Nullable,
  Page,
  PageQuery,
  pageFields,
  SearchText,
  severalOf,
  strict,
  Timestamp,
  Uuid,
} from "../fields.ts";
import { operation } from "../operation.ts";
import { exactlyOneOf } from "../rules.ts";
import { ADDON_PHASES } from "../states.ts";
import { Drift, ListedDrift } from "./apps.ts";

const tag = "Addons";
const params = Type.Object({ id: Uuid() });

export const DEFAULT_REVISIONS_PER_PAGE = 50;
export const MAX_REVISIONS_PER_PAGE = 200;

export const AddonDefinition = Type.Object(
  { id: Uuid("Made of the name: the same in every installation."), ...AddonDefinitionFile.properties },
  { title: "AddonDefinition" },
);

export const SecretRef = Type.Object(
  { secret_ref: Type.Object({ name: Type.String(), key: Type.String() }, strict) },
  {
    ...strict,
    title: "SecretRef",
    description: "Stands where a secret is: the Secret in the cluster that holds it, and the key there.",
    examples: [{ secret_ref: { name: "db-addon-values", key: "auth.password" } }],
  },
);
export type SecretRef = Static<typeof SecretRef>;

const Values = FreeMap({
  description: "Laid over the definition's default values.",
  examples: [{ auth: { database: "shop" } }],
});

const RedactedValues = Type.Unsafe<Record<string, unknown>>({
  ...Values,
  description: "As they were set; a secret reads as a reference to the Secret that holds it.",
  examples: [
    { auth: { database: "shop", password: { secret_ref: { name: "db-addon-values", key: "auth.password" } } } },
  ],
});

const ChartVersion = Type.String({
  minLength: 1,
  maxLength: 100,
  description: "One of the versions that the definition offers.",
  examples: ["0.20.1"],
});

export const AllowDowngrade = Type.Boolean({
  description:
    "Confirms an older chart version of an addon that keeps data, which it may be unable to read; without it that is a 409 `stateful_downgrade`.",
});

const StatefulDowngrade = Type.Object(
  {
    detail: Type.Object(
      {
        code: Type.Literal("stateful_downgrade"),
        message: Type.String({ examples: ["The addon instance db keeps data."] }),
        from_version: Nullable(Type.String({ examples: ["0.20.1"] })),
        to_version: Nullable(Type.String({ examples: ["0.12.4"] })),
      },
      {
        examples: [
          {
            code: "stateful_downgrade",
            message: "The addon instance db keeps data.",
            from_version: "0.20.1",
            to_version: "0.12.4",
          },
        ],
      },
    ),
  },
  {
    title: "StatefulDowngrade",
    description: "The addon keeps data that the older chart version may be unable to read.",
  },
);
const addonConflict = { 409: Type.Union([StatefulDowngrade, Failure]) };

const Notes = Type.String({ maxLength: 2000, description: "Why, for those who read the revisions later." });

export const AddonInstance = Type.Object(
  {
    id: Uuid(),
    name: DnsLabel("db"),
    namespace: DnsLabel("shop"),
    org_id: Uuid(),
    cluster_id: Uuid(),
    project_id: Uuid(),
    addon_definition_id: Uuid(),
    chart_version: ChartVersion,
    values: RedactedValues,
    revision_number: Type.Integer({ description: "The revision that is in force.", examples: [1] }),
    phase: Type.Enum(ADDON_PHASES),
    phase_since: Timestamp("When the phase began."),
    phase_reason: Nullable(ShownReason),
    phase_message: Nullable(Type.String({ examples: ["The image cannot be pulled."] })),
    components_status: Type.Array(ShownComponentStatus, {
      description: "The workloads of its release, as the cluster last reported; empty before.",
    }),
    drift: Drift,
    generation: Type.Integer({ description: "Counts what the cluster has been asked for.", examples: [1] }),
    observed_generation: Nullable(
      Type.Integer({ description: "The last one that the operator has spoken of.", examples: [1] }),
    ),
    exports: Type.Unsafe<Record<string, string | SecretRef>>(
      Type.Object(
        {},
        {
          additionalProperties: Type.Union([Type.String(), SecretRef]),
          description: "What the operator has published, by key; empty until then.",
          examples: [{ host: "db-postgres.shop.svc.cluster.local", port: "5432" }],
        },
      ),
    ),
    ...freshnessFields(),
    created_at: Timestamp(),
    updated_at: Timestamp(),
  },
  { title: "AddonInstance" },
);
export type AddonInstance = Static<typeof AddonInstance>;

const { values: _, ...listed } = AddonInstance.properties;
export const AddonInstanceListItem = Type.Object({ ...listed, drift: ListedDrift }, { title: "AddonInstanceListItem" });
export type AddonInstanceListItem = Static<typeof AddonInstanceListItem>;

export const AddonRevision = Type.Object(
  {
    revision_id: Uuid(),
    revision_number: Type.Integer({ examples: [1] }),
    values: RedactedValues,
    chart_version: ChartVersion,
    notes: Nullable(Notes),
    created_by: Nullable(Type.String({ description: "The email of who made it.", examples: ["ada@example.com"] })),
    created_at: Timestamp(),
  },
  { title: "AddonRevision" },
);
export type AddonRevision = Static<typeof AddonRevision>;

export const listAddonDefinitions = operation({
  id: "listAddonDefinitions",
  method: "GET",
  path: "/addon-definitions",
  tag,
  summary: "List the addons of the catalog, by name",
  credentials: "user",
  query: PageQuery,
  success: [200, Page(AddonDefinition)],
});

export const getAddonDefinition = operation({
  id: "getAddonDefinition",
  method: "GET",
  path: "/addon-definitions/{id}",
  tag,
  summary: "Read an addon of the catalog",
  description: "Its chart, the default values, what may be set, which values are secret and what it exports.",
  credentials: "user",
  params,
  success: [200, AddonDefinition],
  failures: [404],
});

const needs = (field: "org_id" | "project_id") => ({
  type: "object",
  properties: { [field]: {} },
  required: [field],
  description: "Field required: give project_id or org_id, or both",
});

export const listAddonInstances = operation({
  id: "listAddonInstances",
  method: "GET",
  path: "/addon-instances",
  tag,
  summary: "List the addon instances of a project or an organization, newest first",
  description:
    "At least one of `org_id` and `project_id`. Only what you can see is listed and counted. `phase` may be repeated. " +
    "An item has no values and no fields of its drift: read the instance for these.",
  credentials: "user",
  query: Type.Object(
    {
      org_id: Type.Optional(Uuid()),
      project_id: Type.Optional(Uuid()),
      phase: Type.Optional(severalOf(ADDON_PHASES, "Only those in one of these phases.")),
      search: Type.Optional(SearchText("Only those with this text in their name or namespace.")),
      ...pageFields(),
    },
    { anyOf: [needs("org_id"), needs("project_id")] },
  ),
  success: [200, Page(AddonInstanceListItem)],
});

export const createAddonInstance = operation({
  id: "createAddonInstance",
  method: "POST",
  path: "/addon-instances",
  tag,
  summary: "Run an addon in a project; project editor",
  description:
    "Answers once the wish is stored; follow `phase` for what the cluster makes of it. Secrets that are left out are made up.",
  credentials: "user",
  body: Type.Object(
    {
      name: DnsLabel("db"),
      project_id: Uuid(),
      addon_definition_id: Uuid(),
      values: Type.Optional(Values),
      chart_version: Type.Optional(ChartVersion),
      notes: Type.Optional(Nullable(Notes)),
    },
    strict,
  ),
  versioned: true,
  success: [201, AddonInstance],
  failures: [404],
});

export const getAddonInstance = operation({
  id: "getAddonInstance",
  method: "GET",
  path: "/addon-instances/{id}",
  tag,
  summary: "Read an addon instance",
  credentials: "user",
  params,
  versioned: true,
  success: [200, AddonInstance],
  failures: [404],
});

export const updateAddonInstance = operation({
  id: "updateAddonInstance",
  method: "PATCH",
  path: "/addon-instances/{id}",
  tag,
  summary: "Change the values or the chart version of an addon instance; project editor",
  description:
    "Exactly one of `values` and `chart_version`; it makes a new revision. `values` replace all values that were set: " +
    "a secret that is left out, or given back as the reference that was read, stays as it is.",
  credentials: "user",
  params,
  body: Type.Object(
    {
      values: Type.Optional(Values),
      chart_version: Type.Optional(ChartVersion),
      notes: Type.Optional(Nullable(Notes)),
      allow_downgrade: Type.Optional(AllowDowngrade),
    },
    {
      ...strict,
      allOf: [exactlyOneOf("values", "chart_version")],
      examples: [{ values: { auth: { database: "shop" } }, notes: "A database of its own." }],
    },
  ),
  versioned: true,
  success: [200, AddonInstance],
  failures: [404],
  failureBodies: addonConflict,
});

export const deleteAddonInstance = operation({
  id: "deleteAddonInstance",
  method: "DELETE",
  path: "/addon-instances/{id}",
  tag,
  summary: "Delete an addon instance; project editor",
  description:
    "Answers 204 once the cluster has confirmed the deletion; the instance reads as `deleting` until it is gone. " +
    "While no operator is connected nothing is deleted (502). Without a confirmation in time the deletion is recorded " +
    "and goes on (504).",
  credentials: "user",
  params,
  versioned: true,
  success: [204, null],
  failures: [404, 409, 502, 504],
  failureBodies: conflictBody,
});

export const rollBackAddonInstance = operation({
  id: "rollBackAddonInstance",
  method: "POST",
  path: "/addon-instances/{id}/rollback",
  tag,
  summary: "Bring back the values and the chart version of a revision; project editor",
  description:
    "Exactly one of `revision_number` and `revision_id`; it makes a new revision. Secrets are not part of revisions and stay.",
  credentials: "user",
  params,
  body: Type.Object(
    {
      revision_number: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647, examples: [1] })),
      revision_id: Type.Optional(Uuid()),
      allow_downgrade: Type.Optional(AllowDowngrade),
    },
    { ...strict, allOf: [exactlyOneOf("revision_number", "revision_id")], examples: [{ revision_number: 1 }] },
  ),
  versioned: true,
  success: [200, AddonInstance],
  failures: [404],
  failureBodies: addonConflict,
});

export const listAddonRevisions = operation({
  id: "listAddonRevisions",
  method: "GET",
  path: "/addon-instances/{id}/revisions",
  tag,
  summary: "List the revisions of an addon instance, newest first",
  credentials: "user",
  params,
  query: Type.Object(pageFields(DEFAULT_REVISIONS_PER_PAGE, MAX_REVISIONS_PER_PAGE)),
  success: [200, Page(AddonRevision)],
  failures: [404],
});
