import { type AppReport, type LogLine, type Reports, safeText } from "@binnacle/contract";
import type { Answerer } from "../../packages/operator/src/link/ports.ts";
import { simulatedExec } from "./simulated-exec.ts";
import { nothingThere, type SimulatedOperator, simulateOperator } from "./simulated-operator.ts";

/** The words that people and clusters have put into the world. */
export interface Texts {
  /** Of things whose names are free; it is made unique by a number. */
  readonly name: string;
  readonly description: string;
  readonly message: string;
  readonly logLine: string;
}

/** An operator that reports an app in trouble, and tells of objects, events, figures and lines of logs. */
export function talkingOperator(url: string, token: string, texts: Texts): SimulatedOperator {
  const reports = reportsOf(texts);
  return simulateOperator({ url, token, reportOf: ({ kind }) => reports[kind], answers: answererOf(texts) });
}

function reportsOf({ message }: Texts): Reports {
  const pod = (name: string, reason: string | null) => ({
    name,
    phase: "Running" as const,
    reason,
    restarts: reason ? 7 : 0,
    node: "node-1",
    started_at: null,
  });
  const component = (name: string, ready: number, desired: number) => ({
    name,
    phase: ready < desired ? ("degraded" as const) : ("running" as const),
    reason: ready < desired ? "CrashLoopBackOff" : null,
    message: ready < desired ? message.slice(0, 512) : null,
    desired,
    ready,
    updated: desired,
    restarts: 7,
    image: `ghcr.io/acme/${name}:1.4.2`,
    pods: [pod(`${name}-0`, null), pod(`${name}-1`, "CrashLoopBackOff")].slice(0, desired),
  });
  const app: AppReport = {
    phase: "degraded",
    reason: "CrashLoopBackOff",
    message: message.slice(0, 1_024),
    components: [{ name: "web", ready_replicas: 1 }],
    components_status: [component("web", 1, 2), component("worker", 1, 1)],
    drift: {
      state: "drifted",
      summary: message.slice(0, 1_024),
      fields: [
        {
          object: { kind: "Deployment", name: "storefront-web" },
          pointer: "/spec/replicas",
          desired: 2,
          observed: message,
          manager: "kubectl",
        },
      ],
      detected_at: "2026-11-16T10:00:00.000Z",
    },
  };
  return {
    project: { state: "ready", message: null },
    registry_secrets: { state: "ready", message: null },
    app,
    addon_instance: {
      phase: "ready",
      reason: null,
      message: message.slice(0, 1_024),
      exports: { host: "db.shop.svc", password: null },
    },
  };
}

/** Answers every request of people. */
export function answererOf(texts: Texts): Answerer {
  const at = "2026-11-16T10:00:00.000Z";
  // The hub ends the session of an operator that has not made its texts safe.
  const message = safeText(texts.message);
  const object = (id: string, kind: string, parent: string | null) => ({
    id,
    parent_id: parent,
    component: "web",
    api_version: "v1",
    kind,
    name: id,
    namespace: "shop",
    status: "failed" as const,
    reason: "CrashLoopBackOff",
    message,
    desired: 2,
    ready: 1,
    restarts: 7,
    node: "node-1",
    created_at: at,
  });
  const observed = { truncated: false, observed_at: at };
  return {
    metrics: async () => {
      const now = Math.floor(Date.now() / 1000);
      const points = Array.from({ length: 30 }, (_, index): [number, number] => [now - (30 - index) * 60, index % 7]);
      const series = (name: string, unit: string) => ({ name, unit, labels: { component: "web" }, points });
      return { step: "60s", series: [series("cpu_used", "cores"), series("memory_used", "bytes")] };
    },
    observe: async ({ name }) => {
      if (name === "resources") {
        const objects = [object("web", "Deployment", null), object("web-7d4", "ReplicaSet", "web")];
        return { resources: { objects: [...objects, object("web-0", "Pod", "web-7d4")], ...observed } };
      }
      if (name === "deletion") return { deletion: { objects: [], volumes: [], ...observed } };
      const event = {
        type: "Warning",
        reason: "BackOff",
        message,
        count: 3,
        first_seen_at: at,
        last_seen_at: at,
        object: { kind: "Pod", name: "web-0", component: "web" },
      };
      return { events: { events: [event], ...observed } };
    },
    run: async () => ({ run: null }),
    infrastructure: async (request) => nothingThere(request),
    async *logs(_, signal) {
      for (let line = 0; line < 40; line++) yield logLine(`${texts.logLine} ${line}`);
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    },
    exec: simulatedExec,
  };
}

export const logLine = (line: string): LogLine => ({
  component: "web",
  pod: "web-0",
  container: "web",
  time: "2026-11-16T10:00:00.000Z",
  line,
});
