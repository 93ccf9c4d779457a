import type { AppPorts } from "../apps/operate.store.ts";
import type { Catalog } from "../catalog/catalog.adapter.ts";
import type { Queries } from "../database/transaction.ts";
import type { Route } from "../http/route.ts";
import { createFetch } from "../outbound/fetch.adapter.ts";
import { chartRoutes } from "./chart.routes.ts";
import { createCharts } from "./charts.adapter.ts";
import { templateDeployRoutes } from "./deploy.routes.ts";
import { createReaders } from "./readers.adapter.ts";
import { templateRegistry } from "./registry.adapter.ts";
import { templateRoutes } from "./template.routes.ts";
import { templateYamlRoutes } from "./template-yaml.routes.ts";

interface Ports extends AppPorts {
  readonly db: Queries;
  readonly catalog: Catalog;
}

interface Settings {
  readonly chartHosts: readonly string[];
  readonly templateRegistry: string | null;
}

/** Everything under `/stack-templates`. */
export function stackTemplateRoutes(ports: Ports, settings: Settings): Route[] {
  const { db, clock, catalog, findDefinition } = ports;
  const readers = createReaders();
  const charts = createCharts(createFetch({ allowedHosts: settings.chartHosts }), clock, readers);
  const registry = templateRegistry(settings.templateRegistry, catalog.templates, clock, readers);
  return [
    ...templateRoutes(db, clock, findDefinition, readers),
    ...templateYamlRoutes(db, clock, findDefinition, readers),
    ...templateDeployRoutes(db, ports, readers),
    ...chartRoutes(db, clock, { charts, registry, readers }),
  ];
}
