import { EXEC_LIMITS, EXEC_SUBPROTOCOL, execComponent } from "@binnacle/contract";
import { type Caller, type Credential, readerOf } from "../access/caller.ts";
import { mayEditProject } from "../access/role.ts";
import { readSettings } from "../clusters/cluster.store.ts";
import type { Queries } from "../database/transaction.ts";
import type { WatchEnd } from "../events/broadcast.ts";
import { EVENTS_TOPIC, isEvent } from "../events/event.ts";
import { Fault, invalidValue, notFound } from "../fault.ts";
import { at } from "../http/guard.ts";
import { type Route, route } from "../http/route.ts";
import { acceptWebSocket, isHandshake } from "../http/websocket.adapter.ts";
import type { Ports } from "../ports.ts";
import { findExecApp, requireOperator } from "./app.store.ts";
import { type AppWithSecretPaths, addressed, auditedApp } from "./app.ts";
import { appPlace } from "./app-place.store.ts";
import { type ExecReason, execProblem, reasonOf } from "./exec.ts";
import { startExecSession } from "./exec-session.runner.ts";

/** Whether the app is still as it must be is read again this often, because the message of a change may be lost. */
const RECHECKED_EVERY_MS = 15_000;

const REASON_OF: Readonly<Record<WatchEnd, ExecReason>> = {
  credential: "credential_ended",
  access: "access_lost",
  stopping: "server_stopping",
};

/** Commands in containers. What is typed and shown is neither stored nor logged. */
export function execRoutes(
  ports: Ports<"db" | "bus" | "clock" | "log" | "operators" | "broadcast" | "refuseOtherPages">,
): Route[] {
  const { db, clock, log, operators, refuseOtherPages } = ports;
  return [
    route(execComponent, at(appPlace, "editor", addressed), async (call) => {
      const { app, params, query, caller, credential, reply, change } = call;
      const { component } = params;
      const { request } = reply;
      refuseOtherPages(request.headers);
      if (query.command[0] === "") throw invalidValue(["query", "command", 0], "The first word names a program");
      const { exec_enabled: isEnabled } = await readSettings(db, app.cluster_id);
      const refusal = execProblem(app, component, isEnabled);
      if (refusal) throw refusal;
      await requireOperator(db, app.cluster_id, clock());

      const access = await watchAccess(ports, app, caller, credential);
      const { command, tty, cols, rows, pod = null, container = null } = query;
      const { namespace, name, cluster_id: clusterId } = app;
      const wanted = { clusterId, namespace, app: name, component, pod, container, command, tty, size: { cols, rows } };
      const opened = operators.exec(wanted).catch((error: unknown) => {
        access.unwatch();
        throw error;
      });
      const process = await opened;
      const abandon = () => {
        process.cancel();
        access.unwatch();
      };
      if (!isHandshake(request, EXEC_SUBPROTOCOL)) {
        abandon();
        throw new Fault("upgrade_required", `Connect with a WebSocket and its subprotocol ${EXEC_SUBPROTOCOL}.`);
      }
      const place = { component, pod: process.pod, container: process.container };
      const audited = { resource: auditedApp(app), orgId: app.org_id };
      try {
        // The entry comes first: a command that has begun is always on record.
        await change(async ({ record }) =>
          record({ action: "app.exec", ...audited, changes: { ...place, command, tty } }),
        );
      } catch (error) {
        abandon();
        throw error;
      }
      const ended = (outcome: object) =>
        change(async ({ record }) =>
          record({ action: "app.exec_ended", ...audited, changes: { ...place, ...outcome } }),
        ).catch((error: unknown) => log.error({ err: error }, "the end of a command in a container is not on record"));

      const accepted = acceptWebSocket(reply, EXEC_SUBPROTOCOL, EXEC_LIMITS.frameBytes + 1);
      if (!accepted) {
        abandon();
        await ended({ reason: "client_closed", exit_code: null, bytes_in: 0, bytes_out: 0, duration_ms: 0 });
        return null;
      }
      const session = startExecSession(accepted.socket, process);
      const unwatchApp = watchApp(ports, app, component, session.end);
      access.whenEnded(session.end);
      const recorded = session.done.then(({ reason, exitCode, bytesIn, bytesOut, durationMs }) => {
        access.unwatch();
        unwatchApp();
        const duration_ms = Math.round(durationMs);
        return ended({ reason, exit_code: exitCode, bytes_in: bytesIn, bytes_out: bytesOut, duration_ms });
      });
      accepted.onStop(async () => {
        session.end("server_stopping");
        await recorded;
      });
      return null;
    }),
  ];
}

async function problemNow(db: Queries, app: AppWithSecretPaths, component: string): Promise<Fault | null> {
  const [found, { exec_enabled }] = await Promise.all([findExecApp(db, app.id), readSettings(db, app.cluster_id)]);
  return found ? execProblem(found, component, exec_enabled) : notFound("App");
}

/** Calls `end` once the app, the component or the permission of the cluster is gone. */
function watchApp(
  { db, bus, log }: Ports<"db" | "bus" | "log">,
  app: AppWithSecretPaths,
  component: string,
  end: (reason: ExecReason) => void,
): () => void {
  let isDue = false;
  let isReading = false;
  const recheck = async () => {
    isDue = true;
    if (isReading) return;
    isReading = true;
    try {
      while (isDue) {
        isDue = false;
        const problem = await problemNow(db, app, component);
        if (problem) end(reasonOf(problem));
      }
    } catch (error) {
      log.warn({ err: error }, "the app of a command in a container could not be read");
    } finally {
      isReading = false;
    }
  };
  const unsubscribe = bus.subscribe(EVENTS_TOPIC, (message) => {
    if (isEvent(message) && concerns(message, app)) void recheck();
  });
  const timer = setInterval(() => void recheck(), RECHECKED_EVERY_MS);
  // For changes since the request was authorized.
  void recheck();
  return () => {
    unsubscribe();
    clearInterval(timer);
  };
}

/** Ends with the credential and the role of the caller. Until the session is there, its end is remembered. */
async function watchAccess(
  { broadcast }: Ports<"broadcast">,
  app: AppWithSecretPaths,
  caller: Caller,
  credential: Credential | null,
) {
  let ended: ExecReason | null = null;
  let onEnd: (reason: ExecReason) => void = () => undefined;
  const unwatch = await broadcast.watch(
    readerOf(credential, caller),
    (access) => mayEditProject(app, access),
    (why) => {
      ended = REASON_OF[why];
      onEnd(ended);
    },
    { kind: "exec", isCounted: true },
  );
  return {
    unwatch,
    whenEnded(listener: typeof onEnd) {
      onEnd = listener;
      if (ended) listener(ended);
    },
  };
}

interface Concerning {
  readonly workload_id?: string;
  readonly project_id?: string;
  readonly cluster_id?: string;
  readonly resource: { readonly type: string };
}

/** Whether the event may be about the deletion of the app, or of what it is in, or about the settings of its cluster. */
const concerns = (event: Concerning, app: Pick<AppWithSecretPaths, "id" | "project_id" | "cluster_id">): boolean =>
  event.workload_id === app.id ||
  (event.resource.type === "project" && event.project_id === app.project_id) ||
  (event.resource.type === "cluster" && event.cluster_id === app.cluster_id);
