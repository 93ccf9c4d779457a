import {
  type ComponentRun,
  getAppMetrics,
  getComponentRun,
  runComponent,
  streamAppLogs,
  streamComponentLogs,
  streamRunLogs,
} from "@binnacle/contract";
import type { FastifyReply } from "fastify";
import { type Caller, type Credential, readerOf } from "../access/caller.ts";
import { mayReadProject } from "../access/role.ts";
import { metricsOf } from "../cluster-metrics/cluster-metrics.store.ts";
import { rangeSeconds } from "../cluster-metrics/series.ts";
import { Fault, notFound } from "../fault.ts";
import { at } from "../http/guard.ts";
import { type Route, route } from "../http/route.ts";
import { openStream } from "../http/sse.adapter.ts";
import { newId } from "../id.adapter.ts";
import type { Ports } from "../ports.ts";
import { requireOperator } from "./app.store.ts";
import { type AppWithSecretPaths, addressed, auditedApp } from "./app.ts";
import { appPlace } from "./app-place.store.ts";
import { logTarget, pumpLogs } from "./log-stream.runner.ts";
import { runProblem } from "./transition.ts";

const runPlace = ({ namespace, name }: AppWithSecretPaths, runId: string) => ({ namespace, app: name, run_id: runId });

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
  /** Of this run, and not of the component's own pods. */
  readonly run?: string;
}

/** Logs and metrics are requested from the operator of the app's cluster while the client waits. Nothing is stored. */
export function appStreamRoutes({
  db,
  clock,
  operators,
  broadcast,
}: Ports<"db" | "clock" | "operators" | "broadcast">): Route[] {
  async function streamLogs(
    { app, caller, credential, reply }: LogReader,
    asked: string | undefined,
    options: LogOptions,
  ) {
    const component = options.run === undefined ? logTarget(app, asked) : (asked ?? "");
    if (component instanceof Fault) throw component;
    await requireOperator(db, app.cluster_id, clock());
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
        ...(options.run ? { run: options.run } : {}),
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

  async function runOf(app: AppWithSecretPaths, runId: string): Promise<ComponentRun> {
    const request = { name: "run_status", ...runPlace(app, runId.toLowerCase()) } as const;
    const run = await operators.run(app.cluster_id, request);
    if (!run) throw notFound("Run");
    return run;
  }

  return [
    route(streamAppLogs, at(appPlace, "viewer", addressed), (call) =>
      streamLogs(call, call.query.component, call.query),
    ),
    route(streamComponentLogs, at(appPlace, "viewer", addressed), (call) =>
      streamLogs(call, call.params.component, call.query),
    ),
    route(runComponent, at(appPlace, "editor", addressed), async ({ app, params, body, change }) => {
      const { command = null, args = null, env = [] } = body;
      const refusal = runProblem(app, params.component);
      if (refusal) throw refusal;
      await requireOperator(db, app.cluster_id, clock());
      const run = newId();
      // The entry comes first: a run that has begun is always on record.
      await change(async ({ record }) => {
        const changes = { run, component: params.component, command, args, env: env.map(({ name }) => name) };
        record({ action: "app.run", resource: auditedApp(app), orgId: app.org_id, changes });
      });
      const { component } = params;
      const request = { name: "run", ...runPlace(app, run), component, command, args, env } as const;
      const begun = await operators.run(app.cluster_id, request);
      if (!begun) throw new Fault("bad_gateway", "The cluster's operator has not begun the run.");
      return begun;
    }),

    route(getComponentRun, at(appPlace, "viewer", addressed), ({ app, params }) => runOf(app, params.run_id)),
    route(streamRunLogs, at(appPlace, "viewer", addressed), async (call) => {
      const { component, status } = await runOf(call.app, call.params.run_id);
      // Nothing comes after the lines of a run that has ended, not even a pod, if the cluster has lost it.
      const follow = call.query.follow && status !== "succeeded" && status !== "failed";
      return streamLogs(call, component, { ...call.query, follow, run: call.params.run_id.toLowerCase() });
    }),

    route(getAppMetrics, at(appPlace, "viewer", addressed), async ({ app, query: { range } }) => {
      const { cluster_id: clusterId, namespace, name } = app;
      const request = { clusterId, app: { namespace, name }, rangeSeconds: rangeSeconds(range) };
      return { range, ...(await metricsOf({ db, clock, operators }, request)) };
    }),
  ];
}
