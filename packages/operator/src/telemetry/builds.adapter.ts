import { type InformerLog, startInformer } from "../kube/informer.adapter.ts";
import type { KubeClient } from "../kube/kube-client.ts";
import { type OptionalKind, startOptionalInformers } from "../kube/optional-informers.adapter.ts";
import type { Clock } from "../kube/work-queue.ts";
import type { BuildEvent, EventSink } from "../link/ports.ts";
import { createBuildFilter, slimBuild } from "./builds.ts";

const KINDS: readonly (OptionalKind & { readonly source: BuildEvent["source"] })[] = [
  { source: "shipwright", kind: "BuildRun", versions: ["shipwright.io/v1beta1", "shipwright.io/v1alpha1"] },
  { source: "kpack", kind: "Build", versions: ["kpack.io/v1alpha2"] },
];

export interface BuildsPorts {
  readonly kube: Pick<KubeClient, "list" | "watch" | "resourceTypeOf">;
  readonly events: Pick<EventSink, "build">;
  readonly isProjectNamespace: (namespace: string) => boolean;
  readonly clock: Clock;
  readonly nowMs: () => number;
  readonly log: InformerLog;
}

export interface Builds {
  /** Resolves once it is known which builders there are, and which builds. */
  readonly synced: Promise<void>;
  stop(): Promise<void>;
}

/** Tells what becomes of builds in the namespaces of projects. */
export function startBuilds(ports: BuildsPorts): Builds {
  const { kube, events, clock, log } = ports;
  const filter = createBuildFilter(ports.nowMs());
  return startOptionalInformers({
    kube,
    kinds: KINDS,
    clock,
    log,
    follow: ({ source }, type) =>
      startInformer({
        client: kube,
        type,
        trim: slimBuild,
        log,
        onChange(key, object) {
          if (!object) return filter.gone(source, key);
          if (!ports.isProjectNamespace(object.metadata.namespace ?? "")) return;
          const changed = filter.changed(source, object);
          if (changed) events.build(changed);
        },
      }),
  });
}
