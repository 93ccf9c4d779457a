import { type Informer, type InformerLog, startInformer } from "../kube/informer.adapter.ts";
import type { KubeClient, KubeObject, ResourceType } from "../kube/kube-client.ts";
import { KubeError } from "../kube/kube-error.ts";
import type { Clock } from "../kube/work-queue.ts";
import type { BuildEvent, EventSink } from "../link/ports.ts";
import { createBuildFilter, slimBuild } from "./builds.ts";

/** Somebody may install a builder at any time. */
const LOOK_EVERY_MS = 300_000;

/** Of each source the first version that the cluster knows. */
const KINDS: Readonly<Record<BuildEvent["source"], { readonly kind: string; readonly versions: readonly string[] }>> = {
  shipwright: { kind: "BuildRun", versions: ["shipwright.io/v1beta1", "shipwright.io/v1alpha1"] },
  kpack: { kind: "Build", versions: ["kpack.io/v1alpha2"] },
};
const SOURCES = Object.keys(KINDS) as BuildEvent["source"][];

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
  const informers = new Map<BuildEvent["source"], Informer<KubeObject>>();
  let isStopped = false;
  let stopTimer = () => {};

  async function typeOf(source: BuildEvent["source"]): Promise<ResourceType | null> {
    const { kind, versions } = KINDS[source];
    for (const version of versions) {
      const type = await kube.resourceTypeOf(version, kind).catch(nullWhenUnknown);
      if (type) return type;
    }
    return null;
  }

  function follow(source: BuildEvent["source"], type: ResourceType): Informer<KubeObject> {
    return startInformer({
      client: kube,
      type,
      trim: slimBuild,
      log,
      onChange(key, object) {
        if (!object) return filter.gone(source, key);
        if (!ports.isProjectNamespace(object.metadata.namespace ?? "")) return;
        const told = filter.changed(source, object);
        if (told) events.build(told);
      },
    });
  }

  async function look(): Promise<void> {
    for (const source of SOURCES.filter((one) => !informers.has(one))) {
      try {
        const type = await typeOf(source);
        if (type && !isStopped) informers.set(source, follow(source, type));
      } catch (err) {
        log.warn({ err, source }, "the build kinds of the cluster could not be read; it is retried");
      }
    }
    if (isStopped) return;
    stopTimer = clock.after(LOOK_EVERY_MS, () => {
      looking = look();
    });
  }

  let looking = look();
  return {
    synced: looking.then(async () => {
      await Promise.all([...informers.values()].map((informer) => informer.synced));
    }),
    async stop() {
      isStopped = true;
      stopTimer();
      await looking;
      await Promise.all([...informers.values()].map((informer) => informer.stop()));
    },
  };
}

function nullWhenUnknown(error: unknown): null {
  if (error instanceof KubeError && error.status === 404) return null;
  throw error;
}
