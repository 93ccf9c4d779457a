import type { ServerResponse } from "node:http";
import { LABELS, type LogLine } from "@binnacle/contract";
import { onTestFinished } from "vitest";
import { ownLabels } from "../desired/ownership.ts";
import type { ReleasePodsSource } from "../helm/release-pods.ts";
import { releaseOfComponent } from "../helm/revision.ts";
import { type Asked, startFakeApi } from "../kube/fake-api.fixture.ts";
import { realClock } from "../kube/real-clock.adapter.ts";
import type { Clock } from "../kube/work-queue.ts";
import type { Answerer, DroppedLines, LogStreamRequest } from "../link/ports.ts";
import { createLogs } from "./logs.adapter.ts";

export const CLUSTER = "0190e5e0-0000-7000-8000-0000000000c1";
const NAMESPACE = "shop-ns";

const OF_WEB: Readonly<Record<string, string>> = {
  ...ownLabels(CLUSTER),
  [LABELS.app]: "shop",
  [LABELS.component]: "web",
};

interface FakePod {
  readonly metadata: Record<string, unknown> & { name: string };
  readonly spec: { readonly containers: readonly { readonly name: string }[] };
  status: object;
}

type Refusal = readonly [status: number, body: object] | "silence";

/** Pods and their logs as an API server has them, with a network that fails on demand. */
export async function startPodsApi() {
  const pods = new Map<string, FakePod>();
  const written = new Map<string, string[]>();
  const followers = new Map<string, Set<ServerResponse>>();
  const watchers = new Set<ServerResponse>();
  const refusals = new Map<string, Refusal>();
  const sent: { readonly version: number; readonly text: string }[] = [];
  let version = 1;

  const api = await startFakeApi((asked, response) => {
    const [, pod] = /\/pods\/([^/]+)\/log$/.exec(asked.path) ?? [];
    if (pod) {
      const run = asked.query["previous"] === "true" ? " before" : "";
      return serveLog(`${pod}/${asked.query["container"]}${run}`, asked, response);
    }
    if (asked.query["watch"]) {
      watchers.add(response);
      response.on("close", () => watchers.delete(response));
      response.flushHeaders();
      const since = Number(asked.query["resourceVersion"]);
      for (const event of sent) if (event.version > since) response.write(event.text);
      return null;
    }
    if (refusals.has("pods")) return answerOf(refusals.get("pods"));
    return [200, { metadata: { resourceVersion: String(version) }, items: [...pods.values()] }];
  });

  function serveLog(id: string, { query }: Asked, response: ServerResponse) {
    if (refusals.has(id)) return answerOf(refusals.get(id));
    const since = query["sinceTime"] ?? "";
    const all = (written.get(id) ?? []).filter((line) => line >= since.slice(0, 19));
    const tail = query["tailLines"];
    const shown = tail === undefined ? all : all.slice(all.length - Math.min(Number(tail), all.length));
    response.writeHead(200, { "content-type": "text/plain" });
    response.flushHeaders();
    for (const line of shown) response.write(`${line}\n`);
    if (query["follow"] !== "true" || !isRunning(id)) response.end();
    else {
      followers.set(id, (followers.get(id) ?? new Set()).add(response));
      response.on("close", () => followers.get(id)?.delete(response));
    }
    return null;
  }

  const isRunning = (id: string) => JSON.stringify(pods.get(id.split("/")[0] ?? "")?.status ?? {}).includes("running");

  function tell(type: string, pod: FakePod): void {
    version += 1;
    pod.metadata["resourceVersion"] = String(version);
    const text = `${JSON.stringify({ type, object: pod })}\n`;
    sent.push({ version, text });
    for (const watcher of watchers) watcher.write(text);
  }

  function statusOf(containers: readonly string[], state: object | null, run: number): object {
    const containerID = `containerd://${run}`;
    return {
      phase: state ? "Running" : "Pending",
      containerStatuses: containers.map((name) => ({ name, containerID, state: state ?? { waiting: {} } })),
    };
  }

  return {
    ...api,
    followerCount: () => [...followers.values()].reduce((count, { size }) => count + size, 0),
    watcherCount: () => watchers.size,
    refuse: (id: string, refusal: Refusal | null) => void (refusal ? refusals.set(id, refusal) : refusals.delete(id)),

    /** A pod that runs, or only waits for its image. */
    run(
      name: string,
      { containers = ["web"], isWaiting = false, createdAt = "2026-01-01T00:00:00Z", labels = OF_WEB } = {},
    ): void {
      const uid = `${name}-${version}`;
      const pod: FakePod = {
        metadata: { name, namespace: NAMESPACE, uid, labels, creationTimestamp: createdAt },
        spec: { containers: containers.map((container) => ({ name: container })) },
        status: statusOf(containers, isWaiting ? null : { running: {} }, 1),
      };
      pods.set(name, pod);
      tell("ADDED", pod);
    },

    /** The container begins, or begins again. */
    begin(name: string, run: number): void {
      const pod = pods.get(name);
      if (!pod) return;
      const containers = pod.spec.containers.map((container) => container.name);
      pod.status = statusOf(containers, { running: {} }, run);
      tell("MODIFIED", pod);
    },

    /** The container has ended, and has begun again. The log before is that of `<id> before`. */
    restart(name: string): void {
      const pod = pods.get(name);
      if (!pod) return;
      const lastState = { terminated: { containerID: "containerd://1" } };
      const containerStatuses = pod.spec.containers.map((container) => ({
        name: container.name,
        containerID: "containerd://2",
        state: { running: {} },
        lastState,
      }));
      pod.status = { phase: "Running", containerStatuses };
      tell("MODIFIED", pod);
    },

    /** The container ends, and so does its log unless told otherwise. With a phase its pod has finished. */
    finish(name: string, run: number, phase?: "Succeeded" | "Failed", endsLog = true): void {
      const pod = pods.get(name);
      if (!pod) return;
      const containers = pod.spec.containers.map((container) => container.name);
      const status = statusOf(containers, { terminated: { containerID: `containerd://${run}` } }, run);
      pod.status = phase ? { ...status, phase } : status;
      tell("MODIFIED", pod);
      for (const container of endsLog ? containers : []) {
        for (const response of followers.get(`${name}/${container}`) ?? []) response.end();
      }
    },

    remove(name: string): void {
      const pod = pods.get(name);
      pods.delete(name);
      if (pod) tell("DELETED", pod);
    },

    /** As the node stamps it: a time and what the container has written. */
    write(id: string, ...lines: readonly string[]): void {
      written.set(id, [...(written.get(id) ?? []), ...lines]);
      for (const response of followers.get(id) ?? []) for (const line of lines) response.write(`${line}\n`);
    },

    /** Connections that follow logs break. */
    cut(): void {
      for (const responses of followers.values()) for (const response of responses) response.destroy();
    },
  };
}
export type PodsApi = Awaited<ReturnType<typeof startPodsApi>>;

function answerOf(refusal: Refusal | undefined) {
  return refusal === "silence" || !refusal ? null : refusal;
}

/** Waits are a hundredth of what they are. */
export const hastyClock: Clock = { ...realClock, after: (ms, callback) => realClock.after(ms / 100, callback) };

const COMPONENTS = [
  { name: "web", release: null },
  { name: "store", release: releaseOfComponent(NAMESPACE, "shop", "store") },
];

/** Without releases, unless it is said how their pods are known. */
export function logsOf(
  api: PodsApi,
  clock: Clock = hastyClock,
  read: ReleasePodsSource["read"] = async () => null,
): Answerer["logs"] {
  return createLogs({
    kube: api.client,
    clusterId: CLUSTER,
    componentsOf: (namespace, app) => (namespace === NAMESPACE && app === "shop" ? COMPONENTS : null),
    releasePods: { read },
    clock,
    nowMs: Date.now,
    log: { debug: () => undefined, info: () => undefined, warn: () => undefined },
  });
}

/** Reads the logs of one component, gathering what comes. Everything ends with the test. */
export function reading(api: PodsApi, changes: Partial<LogStreamRequest> = {}, logs = logsOf(api)) {
  const request: LogStreamRequest = {
    name: "logs",
    namespace: NAMESPACE,
    app: "shop",
    component: "web",
    tail_lines: 100,
    since_seconds: null,
    follow: true,
    ...changes,
  };
  const stop = new AbortController();
  const items: (LogLine | DroppedLines)[] = [];
  const done = (async () => {
    for await (const item of logs(request, stop.signal)) items.push(item);
  })();
  // A failure is for the test that awaits it.
  done.catch(() => undefined);
  onTestFinished(async () => {
    stop.abort();
    await done.catch(() => undefined);
  });
  return {
    items,
    done,
    stop,
    lines: () => items.flatMap((item) => ("line" in item ? [item.line] : [])),
  };
}
