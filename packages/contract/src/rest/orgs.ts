import Type, { type Static } from "typebox";
import { Description, DisplayName, Nullable, Page, pageFields, ReadName, strict, Timestamp, Uuid } from "../fields.ts";
import { operation } from "../operation.ts";
import { Gitops, GitopsInput } from "./gitops.ts";

const tag = "Organizations";
const params = Type.Object({ id: Uuid() });

export const Org = Type.Object(
  {
    id: Uuid(),
    name: ReadName("Demo"),
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
  summary: "List the organizations you belong to",
  credentials: ["clusters:read", "clusters:register"],
  query: Type.Object({
    ...pageFields(),
    all: Type.Boolean({ default: false, description: "All organizations there are; for superusers only." }),
  }),
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

const query = Type.Object({ org_id: Uuid(undefined, "SettingsOrgId") });

export const DRIFT_POLICIES = ["heal", "report"] as const;

const known = {
  drift_policy: Type.Enum(DRIFT_POLICIES, { description: "What an operator does about drift.", examples: ["heal"] }),
};

export const MAX_SETTINGS = 100;
/** The limit of all settings of an organization together, as JSON. */
export const MAX_SETTINGS_BYTES = 64 * 1024;

/** Known keys are typed; other keys are stored as given. */
export const OrgSettings = Type.Object(
  { drift_policy: Type.Optional(known.drift_policy), gitops: Type.Optional(Gitops) },
  { title: "OrgSettings", additionalProperties: true, examples: [{ drift_policy: "heal" }] },
);
export type OrgSettings = Static<typeof OrgSettings>;

const Answer = Type.Object({ org_id: Uuid(), settings: OrgSettings }, { title: "OrgSettingsRecord" });

export const getOrgSettings = operation({
  id: "getOrgSettings",
  method: "GET",
  path: "/org/settings",
  tag,
  summary: "Read an organization's settings",
  credentials: "user",
  query,
  success: [200, Answer],
  failures: [404],
});

export const updateOrgSettings = operation({
  id: "updateOrgSettings",
  method: "PATCH",
  path: "/org/settings",
  tag,
  summary: "Change an organization's settings; org admin",
  description:
    "A merge: keys left out stay, a key given as null is taken out. All settings together take at most 64 KiB as JSON; more is a 413. " +
    "`gitops` is checked with the host before it is stored; what does not work is a 422 that says so.",
  credentials: "user",
  query,
  body: Type.Object(
    {
      settings: Type.Object(
        {
          drift_policy: Type.Optional(Nullable(known.drift_policy)),
          gitops: Type.Optional(Nullable(GitopsInput)),
        },
        { additionalProperties: true, maxProperties: MAX_SETTINGS, examples: [{ drift_policy: "report" }] },
      ),
    },
    strict,
  ),
  success: [200, Answer],
  failures: [403, 404, 429],
});
