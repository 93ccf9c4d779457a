import type { Server } from "node:http";
import type { Tracer } from "@binnacle/tracing";
import type { Logger } from "pino";
import { logEndedDeployment } from "../apps/app-sync.ts";
import type { Bus } from "../bus/bus.ts";
import type { Catalog } from "../catalog/catalog.adapter.ts";
import { repositoryCredentials } from "../chart-repositories/chart-repository.store.ts";
import type { Clock } from "../clock.ts";
import type { AgentTokens } from "../clusters/agent-token.adapter.ts";
import { hubClusters } from "../clusters/hub-clusters.runner.ts";
import type { Config } from "../config.ts";
import type { Queries } from "../database/transaction.ts";
import { dispatchedKinds } from "../dispatched-kinds.ts";
import type { Metrics } from "../http/request-metrics.adapter.ts";
import { createBodySource } from "../hub/bodies.runner.ts";
import { type Hub, startHub } from "../hub/hub.adapter.ts";
import { acceptPeers, type PeerKey } from "../hub/peer.adapter.ts";
import { createReportSink } from "../hub/reports.store.ts";
import { serveRequests } from "../hub/request-router.runner.ts";
import { addGauge } from "../metrics/metrics.adapter.ts";
import type { Vault } from "../vault/vault.ts";

interface Ports {
  readonly server: Server;
  /** Where other processes reach this one. */
  readonly url: string;
  readonly peerKey: PeerKey;
  readonly db: Queries;
  /** The size of the pool of `db`. */
  readonly connections: number;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Logger;
  readonly catalog: Catalog;
  readonly vault: Vault;
  readonly agentTokens: AgentTokens;
  readonly tracer: Tracer | null;
  readonly metrics: Metrics;
}

interface HubRole {
  readonly sessions: Hub["sessions"];
  stop(): Promise<void>;
}

/** Starts the hub, which holds the sessions of operators and forwards the requests of other processes to them. */
export function startHubRole(
  { server, url, peerKey, db, connections, bus, clock, log, catalog, vault, agentTokens, tracer, metrics }: Ports,
  config: Config,
): HubRole {
  const kinds = dispatchedKinds(vault, catalog);
  const hub = startHub({
    server,
    url,
    db,
    connections,
    bus,
    clock,
    log,
    clusters: hubClusters(db, agentTokens, clock),
    kinds,
    bodies: createBodySource({ db, kinds, log }),
    reports: createReportSink({
      db,
      bus,
      clock,
      kinds,
      tracer,
      onAnnounced: (event) => logEndedDeployment(log, event),
    }),
    repositories: repositoryCredentials(db, vault, log),
    tracer,
  });
  const peers = acceptPeers(server, { hubId: hub.id, key: peerKey, log, onPeer: serveRequests(hub.sessions) });
  addGauge(metrics, "binnacle_hub_sessions", "Operators that are connected to this hub", () => [
    { value: hub.sessions.size },
  ]);
  return {
    sessions: hub.sessions,
    async stop() {
      await hub.stop(config.drainTimeoutMs);
      // Until here the other processes get the answers of operators that have not left yet.
      peers.close();
    },
  };
}
