import { cliTokenRoutes } from "./accounts/cli-token.routes.ts";
import { deviceApprovalRoutes, deviceLoginRoutes, deviceTokenRoutes } from "./accounts/device-login.routes.ts";
import { sessionIssuer } from "./accounts/open-session.runner.ts";
import { passwordCheck } from "./accounts/password-check.runner.ts";
import { sessionRoutes } from "./accounts/session.routes.ts";
import { userAdministrationRoutes, userRoutes, userUpdateRoutes } from "./accounts/user.routes.ts";
import { addonChangeRoutes, addonCreationRoutes, addonDefinitionRoutes, addonRoutes } from "./addons/addon.routes.ts";
import { addonDeletionRoutes } from "./addons/addon-deletion.routes.ts";
import { definitionFinder } from "./apps/addon-component.ts";
import { appOperationRoutes, appRoutes } from "./apps/app.routes.ts";
import { appResourceRoutes } from "./apps/app-resources.routes.ts";
import { appSecretRoutes } from "./apps/app-secret.routes.ts";
import { appStreamRoutes } from "./apps/app-stream.routes.ts";
import { appSummaryRoutes } from "./apps/app-summary.routes.ts";
import { deploymentRoutes } from "./apps/deployment.routes.ts";
import { execRoutes } from "./apps/exec.routes.ts";
import { appSuspensionRoutes } from "./apps/suspension.routes.ts";
import { auditRoutes } from "./audit/audit.routes.ts";
import { bindingRoutes } from "./bindings/binding.routes.ts";
import { bundleRoutes } from "./bundles/bundle.routes.ts";
import { chartRepositoryRoutes } from "./chart-repositories/chart-repository.routes.ts";
import { abandonmentRoutes } from "./clusters/abandonment.routes.ts";
import { clusterDeletionRoutes, clusterRoutes } from "./clusters/cluster.routes.ts";
import { clusterSettingsRoutes } from "./clusters/cluster-settings.routes.ts";
import { connectionRoutes } from "./clusters/connection.routes.ts";
import { nodeRoutes } from "./clusters/node.routes.ts";
import { type Config, parseConfig, schemeOf } from "./config.ts";
import { credentialCheckRoutes, credentialRoutes } from "./credentials/credential.routes.ts";
import { deletionPreviewRoutes } from "./deletions/deletion-preview.routes.ts";
import { eventRoutes } from "./events/event.routes.ts";
import { gitopsRoutes } from "./gitops/gitops.routes.ts";
import { versionRoutes } from "./http/health.routes.ts";
import { otherPagesRefusal } from "./http/page-origin.ts";
import type { Route } from "./http/route.ts";
import { installRoutes } from "./installs/install.routes.ts";
import { operatorUpgradeRoutes } from "./operator-upgrades/operator-upgrade.routes.ts";
import { memberRoutes } from "./orgs/member.routes.ts";
import { orgRoutes, orgSettingsRoutes } from "./orgs/org.routes.ts";
import { overviewRoutes } from "./overview/overview.routes.ts";
import { searchRoutes } from "./overview/search.routes.ts";
import type { ApiPorts, RoutePorts } from "./ports.ts";
import { projectContentsRoutes, projectRoutes } from "./projects/project.routes.ts";
import { projectPolicyRoutes } from "./projects/project-policy.routes.ts";
import { kubernetesUpgradeRoutes } from "./provisioning/kubernetes-upgrade.routes.ts";
import { nodeBootstrapRoutes } from "./provisioning/node-bootstrap.routes.ts";
import { nodeReportRoutes } from "./provisioning/node-report.routes.ts";
import { provisioningChangeRoutes, provisioningRoutes } from "./provisioning/provisioning.routes.ts";
import { registrySecretRoutes } from "./registry-secrets/registry-secret.routes.ts";
import { suspensionRoutes } from "./suspensions/suspension.routes.ts";
import { systemRoutes } from "./system/system.routes.ts";
import { taskRoutes } from "./tasks/task.routes.ts";
import { stackTemplateRoutes } from "./templates/stack-template.routes.ts";
import { tierRoutes } from "./tiers/tier.routes.ts";

/** All routes of the API, by resource. Each function takes its ports in one object, so that this list is all there is to registering them. */
const ROUTES: readonly ((ports: RoutePorts) => Route[])[] = [
  versionRoutes,
  systemRoutes,
  sessionRoutes,
  userRoutes,
  userUpdateRoutes,
  userAdministrationRoutes,
  cliTokenRoutes,
  deviceLoginRoutes,
  deviceApprovalRoutes,
  deviceTokenRoutes,
  orgRoutes,
  orgSettingsRoutes,
  gitopsRoutes,
  memberRoutes,
  auditRoutes,
  overviewRoutes,
  searchRoutes,
  tierRoutes,
  taskRoutes,
  bundleRoutes,
  addonDefinitionRoutes,
  addonRoutes,
  addonCreationRoutes,
  addonChangeRoutes,
  addonDeletionRoutes,
  eventRoutes,
  credentialRoutes,
  credentialCheckRoutes,
  chartRepositoryRoutes,
  clusterRoutes,
  clusterDeletionRoutes,
  abandonmentRoutes,
  clusterSettingsRoutes,
  connectionRoutes,
  operatorUpgradeRoutes,
  nodeRoutes,
  kubernetesUpgradeRoutes,
  provisioningRoutes,
  provisioningChangeRoutes,
  nodeBootstrapRoutes,
  nodeReportRoutes,
  installRoutes,
  bindingRoutes,
  registrySecretRoutes,
  projectRoutes,
  projectContentsRoutes,
  projectPolicyRoutes,
  stackTemplateRoutes,
  appRoutes,
  appSummaryRoutes,
  appOperationRoutes,
  appSuspensionRoutes,
  suspensionRoutes,
  deploymentRoutes,
  appSecretRoutes,
  appStreamRoutes,
  execRoutes,
  appResourceRoutes,
  deletionPreviewRoutes,
];

export function apiRoutes(ports: ApiPorts, config: Config): Route[] {
  const { db, clock, tokens, passwords, catalog, publicUrl, listenUrl } = ports;
  const { build, environment, chartHosts, templateCatalog, deploymentTimeoutSeconds, bootstrapTimeoutMinutes } = config;
  const { accessTokenMinutes, refreshTokenDays, corsOrigins } = config;
  const isLocal = environment === "local";
  const secureCookies = !isLocal || schemeOf(config) === "https";
  const all: RoutePorts = {
    ...ports,
    build,
    environment,
    chartHosts,
    templateCatalog,
    deploymentTimeoutSeconds,
    bootstrapTimeoutMinutes,
    issuer: sessionIssuer(tokens, clock, { accessTokenMinutes, refreshTokenDays, secureCookies }),
    isPasswordRight: passwordCheck({ db, passwords, clock }),
    refuseOtherPages: otherPagesRefusal({ isLocal, publicUrl, listenUrl, corsOrigins }),
    findDefinition: definitionFinder(catalog.addons),
  };
  return ROUTES.flatMap((routes) => routes(all));
}

/** All routes of the API for the document and its tests. They have no ports, so they cannot be called. */
export function describedRoutes(): Route[] {
  const catalog = { bundles: [], addons: [], templates: [] };
  return apiRoutes({ catalog } as unknown as Parameters<typeof apiRoutes>[0], parseConfig({}));
}
