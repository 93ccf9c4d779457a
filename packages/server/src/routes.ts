import { cliTokenRoutes } from "./accounts/cli-token.routes.ts";
import { deviceLoginRoutes } from "./accounts/device-login.routes.ts";
import type { Passwords } from "./accounts/password.adapter.ts";
import { sessionRoutes } from "./accounts/session.routes.ts";
import type { Tokens } from "./accounts/tokens.ts";
import { userRoutes } from "./accounts/user.routes.ts";
import { auditRoutes } from "./audit/audit.routes.ts";
import { bundleRoutes } from "./bundles/bundle.routes.ts";
import type { Bus } from "./bus/bus.ts";
import type { Catalog } from "./catalog/catalog.adapter.ts";
import type { Clock } from "./clock.ts";
import type { Config } from "./config.ts";
import type { Queries } from "./database/transaction.ts";
import type { Route } from "./http/route.ts";
import { memberRoutes } from "./orgs/member.routes.ts";
import { orgRoutes } from "./orgs/org.routes.ts";
import { taskRoutes } from "./tasks/task.routes.ts";
import { tierRoutes } from "./tiers/tier.routes.ts";
import { versionRoutes } from "./version/version.routes.ts";

interface Ports {
  readonly db: Queries;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly tokens: Tokens;
  readonly passwords: Passwords;
  readonly catalog: Catalog;
}

/** Every route of the API, by resource. */
export function apiRoutes({ db, bus, clock, tokens, passwords, catalog }: Ports, config: Config): Route[] {
  const sessionSettings = {
    accessTokenMinutes: config.accessTokenMinutes,
    refreshTokenDays: config.refreshTokenDays,
    secureCookies: config.environment !== "local",
  };
  return [
    ...versionRoutes(config.build),
    ...sessionRoutes(db, tokens, passwords, clock, sessionSettings),
    ...userRoutes(db, passwords, clock),
    ...cliTokenRoutes(db, clock),
    ...deviceLoginRoutes(db, clock, config.publicUrl),
    ...orgRoutes(db, clock),
    ...memberRoutes(db, clock),
    ...auditRoutes(db),
    ...tierRoutes(db, clock),
    ...taskRoutes(db, bus, clock),
    ...bundleRoutes(catalog.bundles),
  ];
}
