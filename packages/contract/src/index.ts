export * from "./app/change-sentence.ts";
export * from "./app/change-summary.ts";
export * from "./app/component.ts";
export * from "./app/component-status.ts";
export { renameExportRefs, renameInComponents } from "./app/export-ref-alias.ts";
export * from "./app/exports.ts";
export { findSharedName, LONGEST_NAMES_TOGETHER, type ObjectName, objectNames } from "./app/names.ts";
export { type Need, needsOf } from "./app/needs.ts";
export type { AppProblem } from "./app/problem.ts";
export {
  type JudgedApp,
  type JudgedComponent,
  missingSecretsOf,
  problemsOf,
  unknownExport,
  type Warning,
  warningsOf,
} from "./app/problems.ts";
export { type ProjectFacts, projectProblems } from "./app/project-problems.ts";
export * from "./app/reasons.ts";
export * from "./app/volumes.ts";
export { ingressAddress, ingressPort } from "./app/workload-problems.ts";
export * from "./app-manifest.ts";
export * from "./catalog/addon-definition.ts";
export * from "./catalog/bundle.ts";
export * from "./catalog/placeholders.ts";
export * from "./catalog/stack-template.ts";
export * from "./cli-access.ts";
export { type Cloud, type CloudField, maskedEnd } from "./cloud/cloud.ts";
export { Egress } from "./cloud/egress.ts";
export * from "./errors.ts";
export { exampleOf } from "./example.ts";
export * from "./field-change.ts";
export * from "./fields.ts";
export * from "./kube.ts";
export * from "./link/desired.ts";
export * from "./link/detach.ts";
export * from "./link/exec.ts";
export { misfitOf } from "./link/frame-check.ts";
export * from "./link/frames.ts";
export * from "./link/infrastructure.ts";
export * from "./link/inventory.ts";
export * from "./link/labels.ts";
export * from "./link/log-stream.ts";
export * from "./link/negotiated.ts";
export * from "./link/observed.ts";
export * from "./link/operator-upgrade.ts";
export * from "./link/protocol.ts";
export * from "./link/report.ts";
export * from "./link/runs.ts";
export * from "./link/text.ts";
export { mergePatch } from "./merge-patch.ts";
export * from "./metrics.ts";
export * from "./operation.ts";
export * from "./pattern-messages.ts";
export * from "./project-policy.ts";
export * from "./rest/addons.ts";
export * from "./rest/app-lists.ts";
export * from "./rest/app-operations.ts";
export * from "./rest/app-resources.ts";
export * from "./rest/app-summaries.ts";
export * from "./rest/apps.ts";
export * from "./rest/audit.ts";
export * from "./rest/bundles.ts";
export * from "./rest/chart-inspection.ts";
export * from "./rest/chart-repositories.ts";
export * from "./rest/cli-tokens.ts";
export * from "./rest/cluster-abandonment.ts";
export * from "./rest/cluster-capacity.ts";
export * from "./rest/cluster-detachment.ts";
export * from "./rest/cluster-nodes.ts";
export * from "./rest/cluster-suspensions.ts";
export * from "./rest/clusters.ts";
export * from "./rest/credentials.ts";
export * from "./rest/deletion-preview.ts";
export * from "./rest/device-login.ts";
export * from "./rest/events.ts";
export * from "./rest/exec.ts";
export * from "./rest/gitops.ts";
export * from "./rest/installs.ts";
export * from "./rest/machines.ts";
export * from "./rest/members.ts";
export * from "./rest/namespace-policies.ts";
export * from "./rest/operator-upgrades.ts";
export * from "./rest/orgs.ts";
export * from "./rest/overview.ts";
export * from "./rest/projects.ts";
export {
  type AccessTo,
  CLOUD_PROVIDERS,
  cloudOf,
  credentialFieldsOf,
  fieldsOfAll,
  listCloudProviders,
  SECRET_FIELDS,
  type ShownField,
} from "./rest/providers.ts";
export * from "./rest/provisioning.ts";
export * from "./rest/registry-secrets.ts";
export * from "./rest/role-bindings.ts";
export * from "./rest/runs.ts";
export * from "./rest/search.ts";
export * from "./rest/sessions.ts";
export { Suspension } from "./rest/suspensions.ts";
export * from "./rest/system.ts";
export * from "./rest/tasks.ts";
export { StackTemplate, StackTemplateContent, StackTemplateSummary } from "./rest/template-shapes.ts";
export * from "./rest/templates.ts";
export * from "./rest/tiers.ts";
export * from "./rest/users.ts";
export * from "./rest/version.ts";
export * from "./rules.ts";
export * from "./secret-names.ts";
export * from "./secret-text.ts";
export * from "./states.ts";
