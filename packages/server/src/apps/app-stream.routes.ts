import { getAppMetrics, streamAppLogs, streamComponentLogs } from "@binnacle/contract";
import type { FastifyReply } from "fastify";
import { type Caller, type Credential, readerOf } from "../access/caller.ts";
import { mayReadProject } from "../access/role.ts";
import type { Clock } from "../clock.ts";
import { metricsOf } from "../cluster-metrics/cluster-metrics.store.ts";
import { rangeSeconds } from "../cluster-metrics/series.ts";
import type { Queries } from "../database/transaction.ts";
import type { Broadcast } from "../events/broadcast.runner.ts";
import { Fault } from "../fault.ts";
import { inApp } from "../http/guard.ts";
import { type Route, route } from "../http/route.ts";
import { openStream } from "../http/sse.adapter.ts";
import { noOperatorConnected, type OperatorRequests } from "../hub/operator-requests.ts";
import { sessionLease } from "./app.store.ts";
import { type AppWithSecretPaths, addressed } from "./app.ts";
import { logTarget, pumpLogs } from "./log-stream.runner.ts";

interface Ports {
  readonly db: Queries;
  readonly clock: Clock;
  readonly operators: OperatorRequests;
  readonly broadcast: Pick<Broadcast, "watch">;
}

interface LogReader {
  readonly app: AppWithSecretPaths;
  readonly caller: Caller;
  readonly credential: Credential | null;
  readonly reply: FastifyReply;
}

interface LogOptions {
  readonly tail_lines: number;
  readonly since_seconds?: number;
  readonly follow: boolean;
  readonly previous: boolean;
}

/** Logs and metrics are requested from the operator of the app's cluster while the client waits. Nothing is stored. */
export function appStreamRoutes({ db, clock, operators, broadcast }: Ports): Route[] {
  async function requireOperator(clusterId: string): Promise<void> {
    const leaseUntil = await sessionLease(db, clusterId);
    if (leaseUntil === null || leaseUntil <= clock()) throw noOperatorConnected();
  }

  async function streamLogs(
    { app, caller, credential, reply }: LogReader,
    asked: string | undefined,
    options: LogOptions,
  ) {
    const component = logTarget(app, asked);
    if (component instanceof Fault) throw component;
    await requireOperator(app.cluster_id);
    const follow = options.follow && !options.previous;
    const leaving = new AbortController();
    reply.raw.once("close", () => leaving.abort());
    const unwatch = await broadcast.watch(
      readerOf(credential, caller),
      (access) => mayReadProject(app, access),
      () => leaving.abort(),
      { isCounted: follow },
    );
    leaving.signal.addEventListener("abort", unwatch);
    // The client may have disconnected while its access was read; without this, the stream would count until the token
    // expires.
    if (leaving.signal.aborted) unwatch();
    const lines = await operators.logs(
      {
        clusterId: app.cluster_id,
        namespace: app.namespace,
        app: app.name,
        component,
        tailLines: options.tail_lines,
        sinceSeconds: options.since_seconds ?? null,
        follow,
        previous: options.previous,
      },
      leaving.signal,
    );
    const stream = openStream(reply);
    // The answer has begun, so an error can only end the stream.
    pumpLogs(lines, stream).catch((error: unknown) =>
      reply.log.warn({ err: error }, "a log stream ended with an error"),
    );
    return null;
  }

  return [
    route(streamAppLogs, inApp("viewer", addressed), (call) => streamLogs(call, call.query.component, call.query)),
    route(streamComponentLogs, inApp("viewer", addressed), (call) =>
      streamLogs(call, call.params.component, call.query),
    ),
    route(getAppMetrics, inApp("viewer", addressed), async ({ app, query: { range } }) => {
      const { cluster_id: clusterId, namespace, name } = app;
      const request = { clusterId, app: { namespace, name }, rangeSeconds: rangeSeconds(range) };
      return { range, ...(await metricsOf({ db, clock, operators }, request)) };
    }),
  ];
}
