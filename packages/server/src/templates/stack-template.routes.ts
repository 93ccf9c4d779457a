import { createFetch } from "@binnacle/charts";
import type { AppPorts } from "../apps/operate.runner.ts";
import { repositoryCredentials } from "../chart-repositories/chart-repository.store.ts";
import type { Route } from "../http/route.ts";
import type { Ports } from "../ports.ts";
import { createCharts } from "./chart-inspection.adapter.ts";
import { chartRoutes } from "./chart-inspection.routes.ts";
import { templateDeployRoutes } from "./deploy.routes.ts";
import { createReaders } from "./readers.adapter.ts";
import { templateRoutes } from "./template.routes.ts";
import { createTemplateCatalog } from "./template-catalog.adapter.ts";
import { templateYamlRoutes } from "./template-yaml.routes.ts";

/** All routes under `/stack-templates`. */
export function stackTemplateRoutes(
  ports: AppPorts & Ports<"db" | "catalog" | "sharedCache" | "log" | "templateCatalog">,
): Route[] {
  const { db, clock, catalog, vault, log, sharedCache, chartHosts } = ports;
  const readers = createReaders();
  const charts = createCharts(createFetch({ allowedHosts: chartHosts }), clock, readers, sharedCache);
  const templateCatalog = createTemplateCatalog(ports.templateCatalog, catalog.templates, clock, readers);
  const own = { ...ports, readers, templateCatalog };
  return [
    ...templateRoutes(own),
    ...templateYamlRoutes(own),
    ...templateDeployRoutes(own),
    ...chartRoutes({ ...own, charts, credentials: repositoryCredentials(db, vault, log) }),
  ];
}
