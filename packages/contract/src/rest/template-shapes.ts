import Type, { type Static } from "typebox";
import { TemplateComponent, TemplateParameter } from "../catalog/stack-template.ts";
import { Description, DisplayLine, DisplayWord, DnsLabel, Nullable, strict, Timestamp, Uuid } from "../fields.ts";
import { holds, holdsByDefault, where } from "../rules.ts";
import { TEMPLATE_SCOPES } from "../states.ts";

const version = Type.String({
  minLength: 1,
  maxLength: 50,
  pattern: "^[0-9A-Za-z][0-9A-Za-z.+_-]*$",
  examples: ["1.0.0"],
});
export const scope = Type.Enum(TEMPLATE_SCOPES, {
  description:
    "Who sees it: whoever has a role in its project; on its cluster or in any project there; members; everyone.",
  examples: ["organization"],
});
const icon = Type.Union([DisplayLine("globe", 2000, "A name or an address."), Type.Null()], { title: "TemplateIcon" });
const tags = Type.Array(DisplayWord("web"), { title: "TemplateTags", maxItems: 20, uniqueItems: true });
export const placeRules = [
  where(
    holds(
      "scope",
      TEMPLATE_SCOPES.filter((other) => other !== "project"),
    ),
    "Only a template of scope project has a project_id",
    { refuses: ["project_id"] },
  ),
  where(
    holdsByDefault(
      "scope",
      TEMPLATE_SCOPES.filter((other) => other !== "cluster"),
    ),
    "Only a template of scope cluster has a cluster_id",
    { refuses: ["cluster_id"] },
  ),
];
export const parameters = Type.Array(TemplateParameter, { maxItems: 100 });
export const components = Type.Array(TemplateComponent, {
  minItems: 1,
  maxItems: 100,
  description: `As those of an app. "\${name}" anywhere in a value stands for the parameter, "$\${" for itself.`,
  examples: [[{ name: "web", workload_spec: { image: `\${image}` } }]],
});
export const orgId = Type.Optional(
  Uuid("Else the organization of the project with that namespace, else the only one you belong to."),
);
export const place = {
  project_id: Type.Optional(
    Uuid("The project of a template of scope `project`. Else the only one with that namespace that you can see."),
  ),
  cluster_id: Type.Optional(
    Uuid("The cluster of a template of scope `cluster`. Else that of the only project with that namespace."),
  ),
};

const summary = {
  id: Uuid(),
  org_id: Uuid(),
  project_id: Nullable(Uuid("Of scope `project` and no other.")),
  cluster_id: Nullable(Uuid("Of scope `cluster` and no other.")),
  namespace: DnsLabel("shop"),
  name: DnsLabel("web-app"),
  version,
  scope,
  description: Nullable(Description),
  icon,
  tags,
  created_at: Timestamp(),
  updated_at: Timestamp(),
};

export const StackTemplateSummary = Type.Object(summary, { title: "StackTemplateSummary" });
export type StackTemplateSummary = Static<typeof StackTemplateSummary>;
export const StackTemplate = Type.Object({ ...summary, parameters, components }, { title: "StackTemplate" });
export type StackTemplate = Static<typeof StackTemplate>;

export const changeable = {
  description: Type.Optional(Nullable(Description)),
  icon: Type.Optional(icon),
  tags: Type.Optional(tags),
};
export const identity = {
  name: DnsLabel("web-app"),
  version: Type.Optional({ ...version, default: "1.0.0" }),
  scope: Type.Optional({ ...scope, default: "project" as const }),
};

/** The content of a template, in a request or in a YAML file. */
export const StackTemplateContent = Type.Object(
  {
    ...identity,
    ...changeable,
    namespace: Type.Optional(DnsLabel("shop")),
    parameters: Type.Optional(parameters),
    components,
  },
  strict,
);
export type StackTemplateContent = Static<typeof StackTemplateContent>;
