import Type, { type Static } from "typebox";
import { Nullable, strict, Uuid } from "../fields.ts";
import { operation } from "../operation.ts";

const tag = "Organizations";
const query = Type.Object({ org_id: Uuid() });

export const DRIFT_POLICIES = ["heal", "report"] as const;

const known = {
  drift_policy: Type.Enum(DRIFT_POLICIES, { description: "What an operator does about drift.", examples: ["heal"] }),
  gitops: Type.Object(
    {
      repo_url: Type.String({
        minLength: 1,
        maxLength: 2000,
        examples: ["git@git.example.com:platform/clusters.git"],
      }),
      branch: Type.Optional(Type.String({ minLength: 1, maxLength: 250, examples: ["main"] })),
    },
    strict,
  ),
};

export const MAX_SETTINGS = 100;
/** Of all settings of an organization together, as JSON. */
export const MAX_SETTINGS_BYTES = 64 * 1024;

/** Known keys are typed; others are kept as given. */
export const OrgSettings = Type.Object(
  { drift_policy: Type.Optional(known.drift_policy), gitops: Type.Optional(known.gitops) },
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
    "A merge: keys left out stay, a key given as null is taken out. All settings together take at most 64 KiB as JSON; more is a 413.",
  credentials: "user",
  query,
  body: Type.Object(
    {
      settings: Type.Object(
        {
          drift_policy: Type.Optional(Nullable(known.drift_policy)),
          gitops: Type.Optional(Nullable(known.gitops)),
        },
        { additionalProperties: true, maxProperties: MAX_SETTINGS, examples: [{ drift_policy: "report" }] },
      ),
    },
    strict,
  ),
  success: [200, Answer],
  failures: [403, 404],
});
