import Type, { type Static } from "typebox";
import { SecretPath } from "../app/component.ts";
import { StackTemplateFile } from "../catalog/stack-template.ts";
import { AnyMap, ChartName, Nullable, Page, pageFields, Uuid } from "../fields.ts";
import { operation } from "../operation.ts";

const tag = "Stack templates";

export const ChartRepo = Type.String({
  minLength: 1,
  maxLength: 2000,
  description: "A Helm repository, `https://…`, or an OCI one, `oci://…`. `http://…` is for hosts on the allow-list.",
  examples: ["https://charts.example.com"],
});
export const ChartVersion = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 100,
    description: "The newest stable one where left out.",
    examples: ["4.13.0"],
  }),
);

export const ChartInspection = Type.Object(
  {
    chart_metadata: Type.Object({
      name: Type.String({ examples: ["ingress-nginx"] }),
      version: Type.String({ examples: ["4.13.0"] }),
      description: Nullable(Type.String({ examples: ["Ingress controller."] })),
      app_version: Nullable(Type.String({ examples: ["1.13.0"] })),
      versions: Type.Array(Type.String({ examples: ["4.13.0"] }), { description: "Newest first." }),
    }),
    has_schema: Type.Boolean({
      description: "Whether the chart brings a schema; else `schema` is inferred from its values.",
    }),
    schema: AnyMap({ examples: [{ type: "object" }] }),
    secret_values: Type.Array(SecretPath, {
      description:
        "Paths of what the chart's own schema calls secret, by `x-secret: true` or `format: password`: those that " +
        "`chart_spec.secret_values` of a component should list.",
    }),
    defaults: AnyMap({ examples: [{ replicaCount: 1 }] }),
    readme: Nullable(Type.String({ examples: ["# ingress-nginx"] })),
  },
  { title: "ChartInspection" },
);
export type ChartInspection = Static<typeof ChartInspection>;

export const inspectChart = operation({
  id: "inspectChart",
  method: "GET",
  path: "/stack-templates/inspect-chart",
  tag,
  summary: "Look into a Helm chart: its values and their schema",
  description:
    "Kept for an hour. Addresses that are not public are refused, unless the host is configured as allowed. A private " +
    "repository is read with the credentials that the organization has stored for it.",
  credentials: "user",
  query: Type.Object({
    repo: ChartRepo,
    name: ChartName,
    version: ChartVersion,
    org_id: Type.Optional(
      Uuid("Whose credentials are used; those of the only organization you belong to where left out."),
    ),
  }),
  success: [200, ChartInspection],
  failures: [404, 429, 502],
});

export const CatalogTemplate = Type.Object(StackTemplateFile.properties, { title: "CatalogTemplate" });
export type CatalogTemplate = Static<typeof CatalogTemplate>;

export const browseTemplateRegistry = operation({
  id: "browseTemplateRegistry",
  method: "GET",
  path: "/stack-templates/registry",
  tag,
  summary: "Browse the registry of community templates",
  description: "By name. A template of the registry has the form that `POST /stack-templates` takes.",
  credentials: "user",
  query: Type.Object({
    ...pageFields(),
    search: Type.Optional(
      Type.String({ maxLength: 100, description: "In name, description and tags.", examples: ["web"] }),
    ),
    tag: Type.Optional(Type.String({ maxLength: 63, examples: ["web"] })),
  }),
  success: [200, Page(CatalogTemplate)],
  failures: [502],
});
