import { type Informer, type InformerLog, startInformer } from "../kube/informer.adapter.ts";
import type { KubeClient, KubeObject, ResourceType } from "../kube/kube-client.ts";
import { nameplate } from "../kube/object-fields.ts";
import { COMPARED_KINDS } from "./release-drift.ts";
import { RELEASE_NAME, RELEASE_NAMESPACE } from "./release-readiness.ts";

export interface WatchPorts {
  readonly kube: Pick<KubeClient, "list" | "watch">;
  readonly log: InformerLog;
  readonly onChange: (place: { readonly namespace: string; readonly name: string }) => void;
}

export interface ReleaseWatch {
  /** The version of an object that was last seen; undefined where there is none, or its kind is not watched. */
  versionOf(type: ResourceType, namespace: string, name: string): string | undefined;
  stop(): Promise<void>;
}

/** Reports which release's objects have changed. Releases of others are among them; the listener filters them out. */
export function startReleaseWatch({ kube, log, onChange }: WatchPorts): ReleaseWatch {
  const informers = COMPARED_KINDS.map((type) => {
    const informer: Informer<KubeObject> = startInformer({
      client: kube,
      type,
      labelSelector: "app.kubernetes.io/managed-by=Helm",
      trim: (object) => nameplate(object, { annotations: [RELEASE_NAME, RELEASE_NAMESPACE] }),
      isMetadataOnly: true,
      // It only says what to look at.
      mayBeStale: true,
      log,
      onChange(key, object) {
        const { annotations = {} } = (object ?? informer.get(key))?.metadata ?? {};
        const { [RELEASE_NAME]: name, [RELEASE_NAMESPACE]: namespace } = annotations;
        if (name && namespace) onChange({ namespace, name });
      },
    });
    return { type, informer };
  });
  return {
    versionOf(type, namespace, name) {
      const found = informers.find((one) => one.type === type)?.informer.get(`${namespace}/${name}`);
      return found?.metadata.resourceVersion;
    },
    async stop() {
      await Promise.all(informers.map(({ informer }) => informer.stop()));
    },
  };
}
