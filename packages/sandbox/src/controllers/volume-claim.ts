import type { KubeObject } from "../store/kube-object.ts";
import { type Controller, NOTHING, type Outcome, placeOf, type View, type Write } from "./control.ts";
import { isDeleting, isFinished, type Pod } from "./pod.ts";
import { deletion, patchOf, present, statusWrites, warning } from "./writes.ts";

export interface VolumeClaim extends KubeObject {
  readonly spec: {
    readonly storageClassName?: string;
    readonly volumeName?: string;
    readonly volumeMode?: string;
    readonly accessModes?: readonly string[];
    readonly resources?: { readonly requests?: Readonly<Record<string, string>> };
  };
  readonly status?: { readonly phase?: string; readonly capacity?: Readonly<Record<string, string>> };
}

interface StorageClass extends KubeObject {
  readonly provisioner: string;
  readonly reclaimPolicy?: string;
}

const CLAIMS = "persistentvolumeclaims";
const VOLUMES = "persistentvolumes";
const CLASSES = "storageclasses.storage.k8s.io";
const IN_USE = "kubernetes.io/pvc-protection";
const DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class";
const SOURCE = "persistentvolume-controller";

/** Claims get a volume at once, which is no more than an object. */
export const volumeClaims: Controller = {
  name: "volume-claim",
  concerns({ resource, type, object }, view) {
    if (resource === CLAIMS) return [placeOf(CLAIMS, object)];
    if (resource === CLASSES) return view.list(CLAIMS).map((claim) => placeOf(CLAIMS, claim));
    // A claim that is to go waits for the pods that use it.
    const hasEnded = resource === "pods" && (type === "DELETED" || isFinished(object as Pod));
    if (!hasEnded) return [];
    const { namespace } = object.metadata;
    return claimNames(object as Pod).map((name) => ({ resource: CLAIMS, name, namespace }));
  },
  step({ name, namespace }, view) {
    const claim = view.get(CLAIMS, name, namespace) as VolumeClaim | null;
    if (!claim) return reclaimed(name, namespace, view);
    if (isDeleting(claim)) return released(claim, view);
    return stepClaim(claim, classOf(claim, view), view.get(VOLUMES, volumeNameOf(claim)));
  },
};

const claimNames = ({ spec }: Pod): string[] =>
  (spec.volumes ?? []).flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? []);

function classOf({ spec }: VolumeClaim, view: View): StorageClass | null {
  const classes = view.list(CLASSES) as readonly StorageClass[];
  const { storageClassName } = spec;
  const found =
    storageClassName === undefined
      ? classes.find(({ metadata }) => metadata.annotations?.[DEFAULT_CLASS] === "true")
      : classes.find(({ metadata }) => metadata.name === storageClassName);
  return found ?? null;
}

const volumeNameOf = ({ metadata, spec }: VolumeClaim): string => spec.volumeName ?? `pvc-${metadata.uid}`;

export function stepClaim(claim: VolumeClaim, storage: StorageClass | null, volume: KubeObject | null): Outcome {
  const { storageClassName = "" } = claim.spec;
  if (!storage && !volume) {
    const message = `storageclass.storage.k8s.io "${storageClassName}" not found`;
    const warnings = storageClassName === "" ? [] : [warning(SOURCE, claim, "ProvisioningFailed", message)];
    return { writes: [...warnings, ...statusWrites(CLAIMS, claim, { phase: "Pending" })], wakeAtMs: null };
  }
  const capacity = { storage: claim.spec.resources?.requests?.["storage"] ?? "1Gi" };
  const accessModes = claim.spec.accessModes ?? ["ReadWriteOnce"];
  return {
    writes: [
      ...(volume ? grown(volume, capacity) : newVolume(claim, storage, capacity)),
      ...bound(claim),
      ...statusWrites(CLAIMS, claim, { phase: "Bound", accessModes, capacity }),
    ],
    wakeAtMs: null,
  };
}

function newVolume(claim: VolumeClaim, storage: StorageClass | null, capacity: object): Write[] {
  const { name, namespace, uid } = claim.metadata;
  const object = {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: {
      name: volumeNameOf(claim),
      annotations: { "pv.kubernetes.io/provisioned-by": storage?.provisioner ?? "" },
    },
    spec: present({
      accessModes: claim.spec.accessModes ?? ["ReadWriteOnce"],
      capacity,
      claimRef: present({ apiVersion: "v1", kind: "PersistentVolumeClaim", name, namespace, uid }),
      persistentVolumeReclaimPolicy: storage?.reclaimPolicy ?? "Delete",
      storageClassName: storage?.metadata.name,
      volumeMode: claim.spec.volumeMode,
      hostPath: { path: "/simulated" },
    }),
  };
  return [
    { verb: "create", resource: VOLUMES, object },
    { verb: "status", resource: VOLUMES, object: { ...object, status: { phase: "Bound" } } },
  ];
}

function grown(volume: KubeObject, capacity: { readonly storage: string }): Write[] {
  const spec = volume["spec"] as { readonly capacity?: { readonly storage?: string } } | undefined;
  return spec?.capacity?.storage === capacity.storage ? [] : [patchOf(VOLUMES, volume, { spec: { capacity } })];
}

function bound(claim: VolumeClaim): Write[] {
  const { finalizers = [] } = claim.metadata;
  if (claim.spec.volumeName !== undefined && finalizers.includes(IN_USE)) return [];
  return [
    patchOf(CLAIMS, claim, {
      metadata: {
        finalizers: [...new Set([...finalizers, IN_USE])],
        annotations: { "pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes" },
      },
      spec: { volumeName: volumeNameOf(claim) },
    }),
  ];
}

function released(claim: VolumeClaim, view: View): Outcome {
  const { name, namespace, finalizers = [] } = claim.metadata;
  const pods = view.list("pods", namespace) as readonly Pod[];
  const isUsed = pods.some((pod) => !isFinished(pod) && claimNames(pod).includes(name));
  if (isUsed || !finalizers.includes(IN_USE)) return NOTHING;
  const others = finalizers.filter((finalizer) => finalizer !== IN_USE);
  return { writes: [patchOf(CLAIMS, claim, { metadata: { finalizers: others } })], wakeAtMs: null };
}

/** The volume of a claim that is gone goes too, unless it is to be kept. */
function reclaimed(name: string, namespace: string | undefined, view: View): Outcome {
  interface Volume extends KubeObject {
    readonly spec: {
      readonly persistentVolumeReclaimPolicy?: string;
      readonly claimRef?: { readonly name: string; readonly namespace: string };
    };
  }
  const volumes = (view.list(VOLUMES) as readonly Volume[]).filter(
    ({ spec }) => spec.claimRef?.name === name && spec.claimRef.namespace === namespace,
  );
  return {
    writes: volumes.flatMap((volume) =>
      volume.spec.persistentVolumeReclaimPolicy === "Retain"
        ? statusWrites(VOLUMES, volume, { phase: "Released" })
        : [deletion(VOLUMES, volume)],
    ),
    wakeAtMs: null,
  };
}
