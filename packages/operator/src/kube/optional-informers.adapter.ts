import type { Informer, InformerLog } from "./informer.adapter.ts";
import type { KubeClient, KubeObject, ResourceType } from "./kube-client.ts";
import { KubeError } from "./kube-error.ts";
import type { Clock } from "./work-queue.ts";

/** A kind that not every cluster has. The first version that the cluster knows is followed. */
export interface OptionalKind {
  readonly kind: string;
  readonly versions: readonly string[];
}

export interface OptionalInformersOptions<K extends OptionalKind> {
  readonly kube: Pick<KubeClient, "resourceTypeOf">;
  readonly kinds: readonly K[];
  readonly follow: (kind: K, type: ResourceType) => Informer<KubeObject>;
  readonly clock: Clock;
  readonly log: InformerLog;
}

/** Somebody may install a kind at any time. */
const CHECK_EVERY_MS = 300_000;

/** Follows the objects of kinds as soon as the cluster has them. */
export function startOptionalInformers<K extends OptionalKind>(options: OptionalInformersOptions<K>) {
  const { kube, kinds, follow, clock, log } = options;
  const informers = new Map<K, Informer<KubeObject>>();
  let isStopped = false;
  let stopTimer = () => {};

  async function typeOf({ kind, versions }: K): Promise<ResourceType | null> {
    for (const version of versions) {
      const type = await kube.resourceTypeOf(version, kind).catch(nullWhenUnknown);
      if (type) return type;
    }
    return null;
  }

  async function checkServed(): Promise<void> {
    for (const kind of kinds.filter((one) => !informers.has(one))) {
      try {
        const type = await typeOf(kind);
        if (type && !isStopped) informers.set(kind, follow(kind, type));
      } catch (err) {
        log.warn({ err, kind: kind.kind }, "whether the cluster has a kind could not be read; it is retried");
      }
    }
    if (isStopped) return;
    stopTimer = clock.after(CHECK_EVERY_MS, () => {
      checking = checkServed();
    });
  }

  let checking = checkServed();
  return {
    /** Resolves once it is known which of the kinds there are, and which objects of them. */
    synced: checking.then(async () => {
      await Promise.all([...informers.values()].map((informer) => informer.synced));
    }),
    async stop(): Promise<void> {
      isStopped = true;
      stopTimer();
      await checking;
      await Promise.all([...informers.values()].map((informer) => informer.stop()));
    },
  };
}

function nullWhenUnknown(error: unknown): null {
  if (error instanceof KubeError && error.status === 404) return null;
  throw error;
}
