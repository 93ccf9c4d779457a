import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { placeStore } from "../access/place.store.ts";
import { accessOfCredentials } from "../access/visibility.store.ts";
import { createTokens } from "../accounts/tokens.adapter.ts";
import { type Config, originOf, schemeOf } from "../config.ts";
import { registerConsole } from "../console/console.routes.ts";
import type { Database } from "../database/connection.adapter.ts";
import { dispatchedKinds } from "../dispatched-kinds.ts";
import { startBroadcast } from "../events/broadcast.runner.ts";
import { eventLog } from "../events/event-log.store.ts";
import { gitopsWatch } from "../gitops/outbox.store.ts";
import { registerDocumentation } from "../http/documentation.routes.ts";
import { registerSchemas } from "../http/health.routes.ts";
import { openApiDocument } from "../http/openapi.ts";
import type { Metrics } from "../http/request-metrics.adapter.ts";
import { API_BASE, registerApi } from "../http/server.adapter.ts";
import { bundledCli, cliDownloads } from "../images/cli-downloads.adapter.ts";
import { type ImageStore, openImageStore, operatorImage } from "../images/image-store.adapter.ts";
import { registerInstallScript } from "../images/install-script.routes.ts";
import { registerImages } from "../images/registry.routes.ts";
import { addGauge } from "../metrics/metrics.adapter.ts";
import { loadOperatorChart } from "../operator-chart/operator-chart.adapter.ts";
import { registerCharts } from "../operator-chart/operator-chart.routes.ts";
import type { ApiPorts } from "../ports.ts";
import { apiRoutes } from "../routes.ts";

interface Ports extends Omit<ApiPorts, "tokens" | "operatorChart" | "broadcast" | "publicUrl" | "listenUrl"> {
  readonly database: Database;
  readonly signingKey: string;
  readonly metrics: Metrics;
  readonly log: Logger;
}

/** Starts the REST API and the event streams; returns a function that stops them. */
export async function startApiRole(app: FastifyInstance, given: Ports, config: Config): Promise<() => Promise<void>> {
  const { db, bus, clock, log } = given;
  const { eventStreamsPerUser: mostEventStreams } = config;
  const reading = { accessOf: accessOfCredentials(db), eventLog: eventLog(db) };
  const broadcast = startBroadcast({ bus, clock, log, ...reading, mostEventStreams });
  addGauge(given.metrics, "binnacle_streams", "Streams of events, logs and commands that are open", () => [
    { value: broadcast.count() },
  ]);
  const listenUrl = () => originOf(app.server.address() as AddressInfo, schemeOf(config));
  const images: ImageStore = config.imagesDir === null ? new Map() : await openImageStore(config.imagesDir);
  const ports = {
    ...given,
    broadcast,
    tokens: await createTokens(given.signingKey, clock),
    operatorChart: await loadOperatorChart(operatorImage(images, config.imageRegistry)),
    places: placeStore(given.database),
    dispatchWatch: gitopsWatch(given.vault, (vault) => dispatchedKinds(vault, given.catalog)),
    listenUrl,
    publicUrl: () => config.publicUrl ?? listenUrl(),
  };
  const routes = apiRoutes(ports, config);
  registerApi(app, routes, ports);
  registerCharts(app, ports.operatorChart);
  registerSchemas(app);
  if (config.imagesDir !== null) await registerImages(app, images);
  await registerInstallScript(app, ports.publicUrl, await cliDownloads(images), await bundledCli());
  const describe = () => openApiDocument(routes, { serverUrl: API_BASE });
  await registerDocumentation(app, API_BASE, describe, config.environment, ports);
  await registerConsole(app);
  return async () => broadcast.stop();
}
