import type { KubeObject } from "../../kube/kube-client.ts";
import { objectOf, type WorkloadContext } from "./component-context.ts";
import { someOf } from "./present.ts";
import type { Workload } from "./rendering.ts";

type Volume = NonNullable<Workload["volumes"]>[number];

const claimSpec = ({ size_gb }: Volume) => ({
  accessModes: ["ReadWriteOnce"],
  resources: { requests: { storage: `${size_gb}Gi` } },
});

/** Each replica of a StatefulSet has volumes of its own, whatever their number: the templates cannot be added later. */
const hasOwnVolumes = ({ kind }: Workload): boolean => kind === "statefulset";

export function claimObjects(context: WorkloadContext): KubeObject[] {
  if (hasOwnVolumes(context.spec)) return [];
  return (context.spec.volumes ?? []).map((volume) =>
    objectOf(context, "v1", "PersistentVolumeClaim", context.names.claim(volume.name), { spec: claimSpec(volume) }),
  );
}

export const claimTemplates = ({ spec, labels }: WorkloadContext) =>
  someOf(
    (spec.volumes ?? []).map((volume) => ({
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: volume.name, labels },
      spec: claimSpec(volume),
    })),
  );

export const volumeMounts = ({ volumes = [] }: Workload) =>
  someOf(volumes.map(({ name, mount_path }) => ({ name, mountPath: mount_path })));

/** Those of a StatefulSet come from its templates. */
export const podVolumes = ({ spec, names }: WorkloadContext) =>
  hasOwnVolumes(spec)
    ? undefined
    : someOf(
        (spec.volumes ?? []).map(({ name }) => ({ name, persistentVolumeClaim: { claimName: names.claim(name) } })),
      );
