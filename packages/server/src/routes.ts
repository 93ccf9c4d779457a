import { cliTokenRoutes } from "./accounts/cli-token.routes.ts";
import { deviceLoginRoutes } from "./accounts/device-login.routes.ts";
import { sessionIssuer } from "./accounts/open-session.runner.ts";
import type { Passwords } from "./accounts/password.adapter.ts";
import { passwordCheck } from "./accounts/password-check.runner.ts";
import { sessionRoutes } from "./accounts/session.routes.ts";
import type { Tokens } from "./accounts/tokens.adapter.ts";
import { userRoutes } from "./accounts/user.routes.ts";
import { addonChangeRoutes, addonDefinitionRoutes, addonRoutes } from "./addons/addon.routes.ts";
import { definitionFinder } from "./apps/addon-component.ts";
import { appOperationRoutes, appRoutes } from "./apps/app.routes.ts";
import { appResourceRoutes } from "./apps/app-resources.routes.ts";
import { appSecretRoutes } from "./apps/app-secret.routes.ts";
import { appStreamRoutes } from "./apps/app-stream.routes.ts";
import { appSummaryRoutes } from "./apps/app-summary.routes.ts";
import { deploymentRoutes } from "./apps/deployment.routes.ts";
import { execRoutes } from "./apps/exec.routes.ts";
import { auditRoutes } from "./audit/audit.routes.ts";
import { bindingRoutes } from "./bindings/binding.routes.ts";
import { bundleRoutes } from "./bundles/bundle.routes.ts";
import type { Bus } from "./bus/bus.ts";
import type { SharedCache } from "./bus/shared-cache.adapter.ts";
import type { Catalog } from "./catalog/catalog.adapter.ts";
import { chartRepositoryRoutes } from "./chart-repositories/chart-repository.routes.ts";
import type { Clock } from "./clock.ts";
import type { CloudProviders } from "./cloud/provider.ts";
import { abandonmentRoutes } from "./clusters/abandonment.routes.ts";
import type { AgentTokens } from "./clusters/agent-token.adapter.ts";
import { clusterRoutes } from "./clusters/cluster.routes.ts";
import { clusterSettingsRoutes } from "./clusters/cluster-settings.routes.ts";
import { connectionRoutes } from "./clusters/connection.routes.ts";
import type { PublicUrl } from "./clusters/connection.ts";
import { nodeRoutes } from "./clusters/node.routes.ts";
import { type Config, parseConfig } from "./config.ts";
import { credentialRoutes } from "./credentials/credential.routes.ts";
import type { Queries } from "./database/transaction.ts";
import { deletionPreviewRoutes } from "./deletions/deletion-preview.routes.ts";
import type { Broadcast } from "./events/broadcast.runner.ts";
import { eventRoutes } from "./events/event.routes.ts";
import { versionRoutes } from "./http/health.routes.ts";
import { otherPagesRefusal } from "./http/page-origin.ts";
import type { Route } from "./http/route.ts";
import type { OperatorRequests } from "./hub/operator-requests.ts";
import { installRoutes } from "./installs/install.routes.ts";
import type { Chart } from "./operator-chart/operator-chart.adapter.ts";
import { memberRoutes } from "./orgs/member.routes.ts";
import { orgRoutes } from "./orgs/org.routes.ts";
import type { Log } from "./outage.ts";
import { overviewRoutes } from "./overview/overview.routes.ts";
import { searchRoutes } from "./overview/search.routes.ts";
import { projectRoutes } from "./projects/project.routes.ts";
import { projectPolicyRoutes } from "./projects/project-policy.routes.ts";
import { nodeBootstrapRoutes } from "./provisioning/node-bootstrap.routes.ts";
import { nodeReportRoutes } from "./provisioning/node-report.routes.ts";
import { provisioningRoutes } from "./provisioning/provisioning.routes.ts";
import { registrySecretRoutes } from "./registry-secrets/registry-secret.routes.ts";
import { systemRoutes } from "./system/system.routes.ts";
import { taskRoutes } from "./tasks/task.routes.ts";
import { stackTemplateRoutes } from "./templates/stack-template.routes.ts";
import { tierRoutes } from "./tiers/tier.routes.ts";
import type { Vault } from "./vault/vault.ts";

export interface ApiPorts {
  readonly db: Queries;
  readonly bus: Bus;
  readonly sharedCache: SharedCache;
  readonly clock: Clock;
  readonly tokens: Tokens;
  readonly passwords: Passwords;
  readonly catalog: Catalog;
  readonly vault: Vault;
  readonly agentTokens: AgentTokens;
  readonly operatorChart: Chart;
  readonly broadcast: Broadcast;
  readonly operators: OperatorRequests;
  readonly clouds: CloudProviders;
  readonly log: Log;
  readonly publicUrl: PublicUrl;
  /** The address that this process listens on. */
  readonly listenUrl: () => string;
}

/** All routes of the API, by resource. */
export function apiRoutes(ports: ApiPorts, config: Config): Route[] {
  const { db, bus, clock, tokens, passwords, catalog, vault, broadcast, operators, publicUrl, listenUrl } = ports;
  const isLocal = config.environment === "local";
  const issuer = sessionIssuer(tokens, clock, {
    accessTokenMinutes: config.accessTokenMinutes,
    refreshTokenDays: config.refreshTokenDays,
    secureCookies: !isLocal,
  });
  const { chartHosts, corsOrigins, deploymentTimeoutSeconds } = config;
  const refuseOtherPages = otherPagesRefusal({ isLocal, publicUrl, listenUrl, corsOrigins });
  const findDefinition = definitionFinder(catalog.addons);
  const appPorts = { vault, clock, operators, findDefinition, chartHosts, deploymentTimeoutSeconds };
  const isPasswordRight = passwordCheck({ db, passwords, clock });
  return [
    ...versionRoutes(config.build),
    ...systemRoutes(db, clock, config),
    ...sessionRoutes(db, tokens, isPasswordRight, clock, issuer, refuseOtherPages),
    ...userRoutes({ db, passwords, isPasswordRight, clock }),
    ...cliTokenRoutes(db, clock),
    ...deviceLoginRoutes({ db, clock, publicUrl, issuer, refuseOtherPages }),
    ...orgRoutes(bus, clock),
    ...memberRoutes(db, clock),
    ...auditRoutes(db),
    ...overviewRoutes(db, clock),
    ...searchRoutes(db),
    ...tierRoutes(db, clock),
    ...taskRoutes(db, bus, clock),
    ...bundleRoutes(catalog.bundles),
    ...addonDefinitionRoutes(catalog.addons),
    ...addonRoutes(db, clock),
    ...addonChangeRoutes({ db, clock, vault, operators }, catalog.addons),
    ...eventRoutes(broadcast),
    ...credentialRoutes(ports),
    ...chartRepositoryRoutes(ports, config.chartHosts),
    ...clusterRoutes(ports, publicUrl),
    ...abandonmentRoutes({ clock }),
    ...clusterSettingsRoutes(ports),
    ...connectionRoutes(ports, publicUrl),
    ...nodeRoutes(ports),
    ...provisioningRoutes(ports),
    ...nodeBootstrapRoutes(ports),
    ...nodeReportRoutes(ports, config.bootstrapTimeoutMinutes),
    ...installRoutes(db, clock, catalog.bundles),
    ...bindingRoutes(db, clock),
    ...registrySecretRoutes(ports),
    ...projectRoutes(ports, catalog.addons),
    ...projectPolicyRoutes(ports),
    ...stackTemplateRoutes({ ...ports, ...appPorts }, config),
    ...appRoutes(appPorts),
    ...appSummaryRoutes(db, clock),
    ...appOperationRoutes(db, appPorts),
    ...deploymentRoutes(db),
    ...appSecretRoutes(db, appPorts),
    ...appStreamRoutes(ports),
    ...execRoutes(ports, { refuseOtherPages }),
    ...appResourceRoutes(operators),
    ...deletionPreviewRoutes(ports),
  ];
}

/** All routes of the API for the document and its tests. They have no ports, so they cannot be called. */
export function describedRoutes(): Route[] {
  const catalog = { bundles: [], addons: [], templates: [] };
  return apiRoutes({ catalog } as unknown as Parameters<typeof apiRoutes>[0], parseConfig({}));
}
