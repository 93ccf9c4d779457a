import { createFetch } from "@binnacle/charts";
import type { AppPorts } from "../apps/operate.runner.ts";
import type { SharedCache } from "../bus/shared-cache.adapter.ts";
import type { Catalog } from "../catalog/catalog.adapter.ts";
import { repositoryCredentials } from "../chart-repositories/chart-repository.store.ts";
import type { Queries } from "../database/transaction.ts";
import type { Route } from "../http/route.ts";
import type { Log } from "../outage.ts";
import { createCharts } from "./chart-inspection.adapter.ts";
import { chartRoutes } from "./chart-inspection.routes.ts";
import { templateDeployRoutes } from "./deploy.routes.ts";
import { createReaders } from "./readers.adapter.ts";
import { templateRoutes } from "./template.routes.ts";
import { templateRegistry } from "./template-registry.adapter.ts";
import { templateYamlRoutes } from "./template-yaml.routes.ts";

interface Ports extends AppPorts {
  readonly db: Queries;
  readonly catalog: Catalog;
  readonly sharedCache: SharedCache;
  readonly log: Log;
}

interface Settings {
  readonly chartHosts: readonly string[];
  readonly templateRegistry: string | null;
}

/** All routes under `/stack-templates`. */
export function stackTemplateRoutes(ports: Ports, settings: Settings): Route[] {
  const { db, clock, catalog, vault, log, findDefinition, sharedCache } = ports;
  const readers = createReaders();
  const charts = createCharts(createFetch({ allowedHosts: settings.chartHosts }), clock, readers, sharedCache);
  const registry = templateRegistry(settings.templateRegistry, catalog.templates, clock, readers);
  return [
    ...templateRoutes(db, clock, findDefinition, readers),
    ...templateYamlRoutes(db, clock, findDefinition, readers),
    ...templateDeployRoutes(db, ports, readers, registry),
    ...chartRoutes({ db, clock, charts, registry, readers, credentials: repositoryCredentials(db, vault, log) }),
  ];
}
