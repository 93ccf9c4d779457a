import Type, { type Static } from "typebox";
import { renameInComponents } from "../app/export-ref-alias.ts";
import { parameterRules, TemplateParameter } from "../catalog/stack-template.ts";
import { codedConflictBody, conflictBody, ValidationItem } from "../errors.ts";
import { ChartName, DnsLabel, FreeMap, Nullable, Page, pageFields, strict, Uuid } from "../fields.ts";
import { operation } from "../operation.ts";
import { exactlyOneOf } from "../rules.ts";
import { appParams, appQuery } from "./apps.ts";
import { ChartRepo, ChartVersion } from "./chart-inspection.ts";
import {
  changeable,
  components,
  identity,
  orgId,
  parameters,
  place,
  placeRules,
  StackTemplate,
  StackTemplateContent,
  StackTemplateSummary,
  scope,
} from "./template-shapes.ts";

const tag = "Stack templates";
const params = Type.Object({
  namespace: Type.String({ title: "TemplateNamespace", maxLength: 253, examples: ["shop"] }),
  name: Type.String({ title: "TemplateName", maxLength: 253, examples: ["web-app"] }),
});
const OrgChoice = Type.Object({
  org_id: Type.Optional(
    Uuid("Whose template is meant, where several organizations have one of this name.", "TemplateOrgId"),
  ),
});

export const listStackTemplates = operation({
  id: "listStackTemplates",
  method: "GET",
  path: "/stack-templates",
  tag,
  summary: "List the stack templates that you can see",
  credentials: "user",
  query: Type.Object({
    ...pageFields(),
    namespace: Type.Optional(Type.String({ maxLength: 63, examples: ["shop"] })),
    scope: Type.Optional(scope),
  }),
  success: [200, Page(StackTemplateSummary)],
});

export const createStackTemplate = operation({
  id: "createStackTemplate",
  method: "POST",
  path: "/stack-templates",
  tag,
  summary: "Create a stack template",
  description:
    "Scope `project` needs an editor of the project, `cluster` and `organization` an administrator of the organization, `global` a superuser. A template of scope `project` goes with its project, one of scope `cluster` with its cluster.",
  credentials: "user",
  rename: renameInComponents,
  body: Type.Object(
    {
      ...StackTemplateContent.properties,
      namespace: DnsLabel("shop"),
      org_id: orgId,
      ...place,
    },
    {
      ...strict,
      allOf: placeRules,
      examples: [
        {
          org_id: "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11",
          namespace: "shop",
          name: "web-app",
          scope: "organization",
          parameters: [{ name: "image", type: "string", required: true }],
          components: [{ name: "web", workload_spec: { image: `\${image}` } }],
        },
      ],
    },
  ),
  success: [201, StackTemplate],
  versioned: true,
  failures: [403, 404, 409, 429],
});

export const getStackTemplate = operation({
  id: "getStackTemplate",
  method: "GET",
  path: "/stack-templates/{namespace}/{name}",
  tag,
  summary: "Read a stack template with its parameters and components",
  credentials: "user",
  params,
  query: OrgChoice,
  success: [200, StackTemplate],
  versioned: true,
  failures: [404],
  failureBodies: codedConflictBody,
});

export const updateStackTemplate = operation({
  id: "updateStackTemplate",
  method: "PUT",
  path: "/stack-templates/{namespace}/{name}",
  tag,
  summary: "Change a stack template in place; its version stays",
  description: "Fields that are left out stay as they are. Who may create a template of its scope may change it.",
  credentials: "user",
  params,
  query: OrgChoice,
  rename: renameInComponents,
  body: Type.Object(
    { ...changeable, parameters: Type.Optional(parameters), components: Type.Optional(components) },
    { ...strict, examples: [{ description: "What every shop of ours runs." }] },
  ),
  success: [200, StackTemplate],
  versioned: true,
  failures: [403, 404, 429],
  failureBodies: codedConflictBody,
});

export const deleteStackTemplate = operation({
  id: "deleteStackTemplate",
  method: "DELETE",
  path: "/stack-templates/{namespace}/{name}",
  tag,
  summary: "Delete a stack template",
  description: "What was deployed from it stays as it is. Who may create a template of its scope may delete it.",
  credentials: "user",
  params,
  query: OrgChoice,
  success: [204, null],
  versioned: true,
  failures: [403, 404],
  failureBodies: codedConflictBody,
});

export const createStackTemplateFromApp = operation({
  id: "createStackTemplateFromApp",
  method: "POST",
  path: "/stack-templates/from-app/{namespace}/{name}",
  tag,
  summary: "Make a stack template of an app",
  description:
    "Secrets keep their keys: each value becomes a required parameter of type `secret`. What an app takes from the exports of its components stays, or becomes parameters where `preserve_export_refs` is false.",
  credentials: "user",
  params: Type.Object(appParams),
  query: Type.Object(appQuery),
  body: Type.Object(
    {
      ...identity,
      ...changeable,
      project_id: Type.Optional(Uuid("Of scope `project`: the app's own project where left out.")),
      cluster_id: Type.Optional(Uuid("Of scope `cluster`: the app's own cluster where left out.")),
      preserve_export_refs: Type.Optional(Type.Boolean({ default: true })),
    },
    { ...strict, allOf: placeRules, examples: [{ name: "web-app", version: "1.0.0", scope: "organization" }] },
  ),
  success: [201, StackTemplate],
  versioned: true,
  failures: [403, 404, 409],
});

/** A parameter that sets one value of a chart. */
const PromotedParameter = Type.Object(
  {
    ...TemplateParameter.properties,
    type: Type.Optional({
      ...TemplateParameter.properties.type,
      description: "That of the chart's own value where left out.",
    }),
    path: Type.String({
      minLength: 1,
      maxLength: 500,
      pattern: "^[^.]+(\\.[^.]+)*$",
      description: "The way to the value, with dots.",
      examples: ["controller.replicaCount"],
    }),
  },
  { ...strict, allOf: parameterRules, examples: [{ name: "replicas", path: "controller.replicaCount" }] },
);
export type PromotedParameter = Static<typeof PromotedParameter>;

export const createStackTemplateFromChart = operation({
  id: "createStackTemplateFromChart",
  method: "POST",
  path: "/stack-templates/from-chart",
  tag,
  summary: "Make a stack template of a Helm chart",
  description:
    "Each parameter stands for a value that the chart has; without a default of its own it takes the chart's.",
  credentials: "user",
  body: Type.Object(
    {
      ...identity,
      ...changeable,
      namespace: DnsLabel("shop"),
      org_id: orgId,
      ...place,
      repo: ChartRepo,
      chart: ChartName,
      chart_version: ChartVersion,
      parameters: Type.Optional(Type.Array(PromotedParameter, { maxItems: 100 })),
    },
    {
      ...strict,
      allOf: placeRules,
      examples: [
        {
          org_id: "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11",
          namespace: "shop",
          name: "web-app",
          scope: "organization",
          repo: "https://charts.example.com",
          chart: "ingress-nginx",
          parameters: [{ name: "replicas", path: "controller.replicaCount" }],
        },
      ],
    },
  ),
  success: [201, StackTemplate],
  versioned: true,
  failures: [403, 404, 409, 429, 502],
});

export const StackTemplateReading = Type.Object(
  {
    valid: Type.Boolean(),
    errors: Type.Array(ValidationItem),
    template: Nullable(Type.Unsafe<StackTemplateContent>(StackTemplateContent)),
  },
  { title: "StackTemplateReading" },
);
export type StackTemplateReading = Static<typeof StackTemplateReading>;

/** The longest template in YAML, in characters. Parsing YAML takes far longer than parsing JSON. */
export const MAX_TEMPLATE_YAML = 128 * 1024;
const Yaml = (description: string, options = {}) =>
  Type.String({ maxLength: MAX_TEMPLATE_YAML, description, ...options });

export const createStackTemplateFromYaml = operation({
  id: "createStackTemplateFromYaml",
  method: "POST",
  path: "/stack-templates/from-yaml",
  tag,
  summary: "Check a stack template that is written in YAML, or create it",
  description:
    "Exactly one of `file` and `yaml_content`. Without `create` nothing is stored: the answer is a 200 that says whether the template is valid, and why not. With it the template is created: 201, and 422 where it is not valid. Aliases, anchors, tags, repeated keys and several documents are refused.",
  credentials: "user",
  body: Type.Object(
    {
      file: Type.Optional(Yaml("The file.", { contentMediaType: "application/yaml" })),
      yaml_content: Type.Optional(Yaml("The same, as text.")),
      create: Type.Optional(Type.Boolean({ default: false })),
      namespace: Type.Optional(DnsLabel("shop")),
      org_id: orgId,
      ...place,
    },
    {
      ...strict,
      allOf: [exactlyOneOf("file", "yaml_content")],
      examples: [
        { yaml_content: "name: web-app\ncomponents: [{ name: web, workload_spec: { image: 'nginx:1.29' } }]\n" },
      ],
    },
  ),
  bodyType: "multipart/form-data",
  success: [200, StackTemplateReading],
  otherSuccess: [201, StackTemplate],
  versioned: true,
  failures: [403, 404, 409, 429],
});

export const deployStackTemplate = operation({
  id: "deployStackTemplate",
  method: "POST",
  path: "/stack-templates/{namespace}/{name}/deploy",
  tag,
  summary: "Make an app of a stack template",
  description:
    "A template of the registry is deployed by its namespace and name without being created first; a template that is stored under them comes first. " +
    "The app has the given `name`, else it is named after the template, with a short suffix where that name is taken. It is recorded at once and runs later; its deployment has failed when it does not run within `timeout` seconds.",
  credentials: "user",
  params,
  query: OrgChoice,
  body: Type.Object(
    {
      project_id: Uuid(),
      name: Type.Optional({ ...DnsLabel("storefront"), description: "Of the app; a taken one is a 409 `name_taken`." }),
      parameters: Type.Optional(FreeMap({ maxProperties: 100, examples: [{ image: "nginx:1.29" }] })),
      timeout: Type.Optional(Type.Integer({ minimum: 1, maximum: 3600, default: 300, description: "Seconds." })),
    },
    strict,
  ),
  success: [
    201,
    Type.Object(
      {
        message: Type.String({ examples: ["web-app is being deployed."] }),
        deploy_name: DnsLabel("web-app"),
        namespace: DnsLabel("shop"),
      },
      { title: "StackTemplateDeployment" },
    ),
  ],
  failures: [403, 404, 429, 502],
  failureBodies: conflictBody,
});
