import type { SessionIssuer } from "./accounts/open-session.runner.ts";
import type { Passwords } from "./accounts/password.adapter.ts";
import type { IsPasswordRight } from "./accounts/password-check.runner.ts";
import type { Tokens } from "./accounts/tokens.adapter.ts";
import type { FindDefinition } from "./apps/addon-component.ts";
import type { Bus } from "./bus/bus.ts";
import type { SharedCache } from "./bus/shared-cache.adapter.ts";
import type { Catalog } from "./catalog/catalog.adapter.ts";
import type { Clock } from "./clock.ts";
import type { CloudProviders } from "./cloud/provider.ts";
import type { AgentTokens } from "./clusters/agent-token.adapter.ts";
import type { PublicUrl } from "./clusters/connection.ts";
import type { Config } from "./config.ts";
import type { Queries } from "./database/transaction.ts";
import type { Broadcast } from "./events/broadcast.ts";
import type { GitAccess } from "./gitops/git-access.ts";
import type { RefuseOtherPages } from "./http/page-origin.ts";
import type { OperatorRequests } from "./hub/operator-requests.ts";
import type { OperatorChart } from "./operator-chart/operator-chart.adapter.ts";
import type { Log } from "./outage.ts";
import type { Vault } from "./vault/vault.ts";

/** The parts of the process that the API works with. */
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
  readonly operatorChart: OperatorChart;
  readonly broadcast: Broadcast;
  readonly operators: OperatorRequests;
  readonly clouds: CloudProviders;
  readonly git: GitAccess;
  readonly log: Log;
  readonly publicUrl: PublicUrl;
  /** The address that this process listens on. */
  readonly listenUrl: () => string;
}

type RouteSettings = Pick<
  Config,
  "build" | "environment" | "chartHosts" | "templateCatalog" | "deploymentTimeoutSeconds" | "bootstrapTimeoutMinutes"
>;

export interface RoutePorts extends ApiPorts, RouteSettings {
  readonly issuer: SessionIssuer;
  readonly isPasswordRight: IsPasswordRight;
  readonly refuseOtherPages: RefuseOtherPages;
  readonly findDefinition: FindDefinition;
}

/** The ports of one function that makes routes, by their names. */
export type Ports<Name extends keyof RoutePorts> = Pick<RoutePorts, Name>;
