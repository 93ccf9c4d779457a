/** A rule that no schema says: what a request may still be told that the document accepts. */
export interface BeyondSchema {
  readonly operations: readonly string[];
  /** Places as `body.components.*.name`; a star is one step, two are any number of them. */
  readonly at: readonly string[];
  readonly why: string;
}

const component = (...fields: readonly string[]) => fields.map((field) => `body.components.*.${field}`);
const WRITING_TEMPLATES = ["createStackTemplate", "createStackTemplateFromApp", "createStackTemplateFromChart"];

/**
 * Rules that depend on what is stored, or that JSON Schema has no words for: only for them is a request refused with 422 that
 * the document accepts. `docs/spec/openapi.md` shows this list to people.
 */
export const BEYOND_SCHEMA: readonly BeyondSchema[] = [
  {
    operations: ["checkCredential"],
    at: ["path.id"],
    why: "Which providers can be checked depends on the credential that is stored.",
  },
  {
    operations: ["createApp"],
    at: component("name", "depends_on.*", "export_refs.**", "workload_spec.env.**"),
    why: "Names are unique, fit together into a Kubernetes name, and lead to each other without a circle.",
  },
  {
    operations: ["createApp"],
    at: component("workload_spec.ports.**", "workload_spec.volumes.**", "workload_spec.autoscale.max"),
    why: "Names, ports and paths are unique in their list; a maximum is not below its minimum.",
  },
  {
    operations: ["createApp"],
    at: component("workload_spec.ingress", "workload_spec.ingress.*", "workload_spec.resources.**"),
    why: "An ingress leads to a port of the component and has an address of its own, whose path has plain steps, and a request is not above its limit.",
  },
  {
    operations: ["createApp"],
    at: component("workload_spec.affinity.**", "workload_spec.topology_spread.**", "workload_spec.files.**"),
    why: "Pods are near to or away from components of the app, and spread once for each topology; files have places of their own and secrets of the component.",
  },
  {
    operations: ["createApp"],
    at: component(
      ...["workload_spec.image", "workload_spec.schedule"],
      ...["workload_spec.init_containers.**", "workload_spec.sidecars.**"],
    ),
    why: "An image is a reference that container runtimes parse, and a schedule one that Kubernetes does; containers have names of their own.",
  },
  {
    operations: ["createApp"],
    at: component("exports.*"),
    why: "A placeholder names an export that the component has by itself, or one of its secrets.",
  },
  {
    operations: ["createApp"],
    at: component("addon_spec.definition_id", "addon_spec.chart_version", "addon_spec.values.**"),
    why: "A definition of the catalog says which versions and values its addon takes.",
  },
  {
    operations: ["createApp"],
    at: component("addon_spec.instance", "workload_spec.security_context.*"),
    why: "An addon instance is one of the project, and root is not asked for where the level of the project is `restricted`.",
  },
  {
    operations: ["createApp"],
    at: component("chart_spec.repo"),
    why: "Which hosts may be asked over http is configured.",
  },
  {
    operations: ["createApp"],
    at: component("chart_spec.plain_values.*", "chart_spec.values.**"),
    why: "A path is not in both lists of a chart, a reference stands where it was read, and what looks like a secret can be sealed.",
  },
  {
    operations: ["createAddonInstance", "updateAddonInstance"],
    at: ["body.chart_version", "body.values.**"],
    why: "A definition of the catalog says which versions and values its addon takes.",
  },
  {
    operations: ["updateApp", "updateComponentSecrets"],
    at: ["body", "body.components.**"],
    why: "A change is judged by what it makes of the stored app.",
  },
  {
    operations: ["rollbackApp", "rollbackToDeployment"],
    at: ["body"],
    why: "A revision may be older than a rule that it breaks, or name an addon instance that is gone.",
  },
  {
    operations: ["scaleApp", "attachAddon"],
    at: ["body", "body.component_name", "body.replicas"],
    why: "Only a workload has replicas and takes an addon, and its own bounds hold.",
  },
  {
    operations: ["streamAppLogs"],
    at: ["query.component"],
    why: "An app of several workloads has to be told which one is meant.",
  },
  {
    operations: [...WRITING_TEMPLATES, "updateStackTemplate"],
    at: ["body.components.**", "body.parameters.**"],
    why: "Placeholders are parameters, parameters are used and take their own default, patterns compile, charts have what is promoted.",
  },
  {
    operations: [...WRITING_TEMPLATES, "createStackTemplateFromYaml"],
    at: ["body.org_id", "body.project_id", "body.cluster_id"],
    why: "Where several organizations, projects or clusters could be meant, or none, the request has to say which one.",
  },
  {
    operations: ["createStackTemplateFromYaml"],
    at: ["body.file.**", "body.yaml_content.**", "body.namespace"],
    why: "The text is YAML, and with `create` a template.",
  },
  {
    operations: ["deployStackTemplate"],
    at: ["body", "body.parameters.**"],
    why: "The template declares its parameters, and what they make of its components has to be an app of the project.",
  },
  {
    operations: ["inspectChart", "createStackTemplateFromChart"],
    at: ["query.repo", "body.repo"],
    why: "Whether an address is a public one is known when it has been looked up.",
  },
  {
    operations: ["reportInstallEvent", "recordClusterBundle"],
    at: [
      "body.component",
      "body.detail",
      "body.install_journal.*.detail",
      "body.reason_code",
      "body.install_journal.*.reason_code",
      "body.volume_group_ownership",
      "body.volume_group_ownership.**",
      "body.bundle_version",
      "body.profiles.*",
      "body.ha_tier",
      "body.install_journal.*.component",
      "body.at",
      "body.install_journal.*.at",
    ],
    why: "Bundles of the catalog say which components, profiles and tiers they have, nothing happened in the future, and no text holds a secret.",
  },
  {
    operations: ["createChartRepository", "updateChartRepository"],
    at: ["body.url"],
    why: "Which hosts may be asked over http is configured, and one address has one spelling.",
  },
  {
    operations: ["updateClusterSettings"],
    at: ["body.cluster_wide_charts.**"],
    why: "Two spellings of one chart's address are the same chart.",
  },
  {
    operations: ["abandonCluster", "detachCluster"],
    at: ["body.name"],
    why: "The name that is typed is the cluster's.",
  },
  {
    operations: ["createCluster"],
    at: ["body.credential_id", "body.provider", "body.egress.ca_certificates"],
    why: "A credential is of one provider, new machines need an image of the operator, which is configured, and certificates can be read.",
  },
  {
    operations: ["grantClusterRole", "replaceClusterRole", "grantProjectRole", "replaceProjectRole"],
    at: ["body.user_id"],
    why: "Roles are granted to members of the organization.",
  },
  {
    operations: ["updateUser"],
    at: ["body.current_password"],
    why: "The current password is the right one.",
  },
  {
    operations: ["updateOrgSettings"],
    at: ["body.settings.gitops.*"],
    why: "A Git host is stored only where it works, and a stored token is used only where it was given for.",
  },
  {
    operations: ["testGitops"],
    at: ["body.gitops.*"],
    why: "A stored token is used only where it was given for, and addresses have a host and no password.",
  },
  {
    operations: ["updateOrgSettings"],
    at: ["body.settings"],
    why: "An organization has a limited number of settings, with those it has.",
  },
  {
    operations: ["listAddonInstances"],
    at: ["query.org_id", "query.project_id"],
    why: "At least one of the two is given; OpenAPI has no words for a rule between parameters.",
  },
  {
    operations: ["runComponent"],
    at: ["path.component"],
    why: "Only a workload can be run.",
  },
  {
    operations: ["previewAppDeletion"],
    at: ["query.addon_instance_id"],
    why: "It is not given together with `component`; OpenAPI has no words for a rule between parameters.",
  },
  {
    operations: ["execComponent"],
    at: ["query.command.0"],
    why: "The first word names a program; the others may be empty.",
  },
];

/** Returns whether the rule is about this location. */
export function isAbout({ at }: BeyondSchema, loc: readonly (string | number)[]): boolean {
  return at.some((place) => leadsTo(place.split("."), loc.map(String)));
}

function leadsTo([step, ...steps]: readonly string[], [at, ...rest]: readonly string[]): boolean {
  if (step === undefined) return at === undefined;
  if (step === "**") return true;
  return at !== undefined && (step === "*" || step === at) && leadsTo(steps, rest);
}

/** The list as a table for people. */
export function beyondSchemaTable(): string {
  const cells = BEYOND_SCHEMA.map(({ operations, at, why }) => [
    operations.map((it) => `\`${it}\``).join(", "),
    at.map((it) => `\`${it}\``).join(", "),
    why,
  ]);
  const lines = [["Operations", "Where", "Why"], ["---", "---", "---"], ...cells];
  return lines.map((line) => `| ${line.join(" | ")} |`).join("\n");
}
