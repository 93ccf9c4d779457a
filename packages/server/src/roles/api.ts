import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { placeStore } from "../access/place.store.ts";
import { accessOfCredentials } from "../access/visible.store.ts";
import { createTokens } from "../accounts/tokens.adapter.ts";
import { type Config, originOf } from "../config.ts";
import { registerConsole } from "../console/console.routes.ts";
import type { Database } from "../database/connection.adapter.ts";
import { startBroadcast } from "../events/broadcast.runner.ts";
import { registerDocumentation } from "../http/documentation.routes.ts";
import { registerSchemas } from "../http/health.routes.ts";
import { openApiDocument } from "../http/openapi.ts";
import { API_BASE, registerApi } from "../http/server.adapter.ts";
import { loadOperatorChart } from "../operator-chart/operator-chart.adapter.ts";
import { registerCharts } from "../operator-chart/operator-chart.routes.ts";
import { type ApiPorts, apiRoutes } from "../routes.ts";

interface Ports extends Omit<ApiPorts, "tokens" | "operatorChart" | "broadcast" | "publicUrl" | "listenUrl"> {
  readonly database: Database;
  readonly signingKey: string;
  readonly log: Logger;
}

/** Starts the REST API and the event streams; returns a function that stops them. */
export async function startApiRole(app: FastifyInstance, given: Ports, config: Config): Promise<() => Promise<void>> {
  const { db, bus, clock, log } = given;
  const { eventStreamsPerUser: mostEventStreams } = config;
  const broadcast = startBroadcast({ bus, clock, log, accessOf: accessOfCredentials(db), mostEventStreams });
  const listenUrl = () => originOf(app.server.address() as AddressInfo);
  const ports = {
    ...given,
    broadcast,
    tokens: await createTokens(given.signingKey, clock),
    operatorChart: await loadOperatorChart(),
    places: placeStore(given.database),
    listenUrl,
    publicUrl: () => config.publicUrl ?? listenUrl(),
  };
  const routes = apiRoutes(ports, config);
  registerApi(app, routes, ports);
  registerCharts(app, ports.operatorChart);
  registerSchemas(app);
  const describe = () => openApiDocument(routes, { serverUrl: API_BASE });
  await registerDocumentation(app, API_BASE, describe, config.environment, ports);
  await registerConsole(app);
  return async () => broadcast.stop();
}
