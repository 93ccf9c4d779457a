import type { ClusterFacts } from "@binnacle/contract";
import type { DesiredView } from "../desired/desired-state.ts";
import type { HelmReleases } from "../helm/helm-releases.reconciler.ts";
import type { ReleasePodsSource } from "../helm/release-pods.ts";
import { createInfrastructure } from "../infrastructure/infrastructure.adapter.ts";
import type { KubeClient } from "../kube/kube-client.ts";
import type { PodView } from "../kube/pod-view.ts";
import type { Clock } from "../kube/work-queue.ts";
import type { Answerer, EventSink, LinkLog } from "../link/ports.ts";
import { type AppComponent, componentsIn, releaseComponents } from "./app-components.ts";
import { startBuilds } from "./builds.adapter.ts";
import { createExec } from "./exec.adapter.ts";
import { createLogs } from "./logs.adapter.ts";
import { createMetrics } from "./metrics.adapter.ts";
import { createObservations } from "./observations.adapter.ts";
import { createPrometheus } from "./prometheus.adapter.ts";
import { createRuns } from "./runs.adapter.ts";
import { startSamples } from "./samples.adapter.ts";

export interface TelemetryPorts {
  readonly kube: KubeClient;
  readonly clusterId: string;
  /** Null searches a Prometheus in the cluster. */
  readonly prometheusUrl: string | null;
  readonly view: Pick<DesiredView, "get" | "holder" | "list">;
  readonly releasePods: ReleasePodsSource;
  readonly helmReleases: Pick<HelmReleases, "objects">;
  readonly pods: Pick<PodView, "in">;
  readonly facts: { current(): ClusterFacts };
  readonly events: EventSink;
  readonly clock: Clock;
  readonly nowMs: () => number;
  readonly random: () => number;
  readonly log: LinkLog;
}

export interface Telemetry {
  readonly answerer: Answerer;
  stop(): Promise<void>;
}

/** Logs, metrics and builds of the cluster: answered on request, and sent as events. */
export function startTelemetry(given: TelemetryPorts): Telemetry {
  const { view, facts, releasePods } = given;
  const ports = {
    ...given,
    url: given.prometheusUrl,
    capacity: () => facts.current().capacity,
    isProjectNamespace: (namespace: string) => view.holder("project", `project/${namespace}`) !== null,
    componentsOf(namespace: string, app: string): readonly AppComponent[] | null {
      const holder = view.holder("app", `app/${namespace}/${app}`);
      return holder && componentsIn(holder);
    },
    releases: () => {
      const apps = view.list("app").flatMap(({ key }) => view.holder("app", key) ?? []);
      return releaseComponents(apps, releasePods.known);
    },
  };
  const prometheus = createPrometheus(ports);
  const samples = startSamples({ ...ports, prometheus });
  const builds = startBuilds(ports);
  return {
    answerer: {
      metrics: createMetrics({ ...ports, prometheus }),
      logs: createLogs(ports),
      observe: createObservations(ports),
      run: createRuns(ports),
      infrastructure: createInfrastructure(ports),
      exec: createExec(ports),
    },
    async stop() {
      await Promise.all([samples.stop(), builds.stop()]);
      await prometheus.close();
    },
  };
}
