import type { Labels } from "@binnacle/contract";
import type { KubeObject } from "../store/kube-object.ts";
import type { Write } from "./control.ts";
import { ownedBy } from "./owners.ts";
import type { Volume } from "./pod.ts";
import { type ControllerRevision, REVISION_LABEL, templateOf } from "./revisions.ts";
import type { StatefulSet } from "./stateful-set.ts";
import { present } from "./writes.ts";

export interface ClaimTemplate {
  readonly metadata: { readonly name: string; readonly labels?: Labels; readonly annotations?: Labels };
  readonly spec: Readonly<Record<string, unknown>>;
}

/** -1 for a pod whose name has no number. */
export const ordinalOf = ({ metadata }: KubeObject): number => Number(/-(\d+)$/.exec(metadata.name)?.[1] ?? -1);

const claimName = (set: StatefulSet, template: ClaimTemplate, ordinal: number): string =>
  `${template.metadata.name}-${set.metadata.name}-${ordinal}`;

/** The pod of this number, with a name, a host name and claims of its own. */
export function statefulPod(set: StatefulSet, ordinal: number, revision: ControllerRevision) {
  const { metadata = {}, spec } = templateOf(revision);
  const claims = set.spec.volumeClaimTemplates ?? [];
  const name = `${set.metadata.name}-${ordinal}`;
  const own: readonly Volume[] = claims.map((template) => ({
    name: template.metadata.name,
    persistentVolumeClaim: { claimName: claimName(set, template, ordinal) },
  }));
  const others = (spec.volumes ?? []).filter((volume) => !own.some((claim) => claim.name === volume.name));
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: present({
      name,
      generateName: `${set.metadata.name}-`,
      namespace: set.metadata.namespace,
      labels: {
        ...metadata.labels,
        "apps.kubernetes.io/pod-index": String(ordinal),
        [REVISION_LABEL]: revision.metadata.name,
        "statefulset.kubernetes.io/pod-name": name,
      },
      annotations: metadata.annotations,
      ownerReferences: [ownedBy(set)],
    }),
    spec: present({
      ...spec,
      hostname: name,
      subdomain: set.spec.serviceName,
      volumes: own.length + others.length > 0 ? [...own, ...others] : undefined,
    }),
  };
}

/** The claims of a pod outlive it, so that only those are made that are not there. */
export function claimWrites(set: StatefulSet, ordinal: number, hasClaim: (name: string) => boolean): Write[] {
  const goWithSet = set.spec.persistentVolumeClaimRetentionPolicy?.whenDeleted === "Delete";
  return (set.spec.volumeClaimTemplates ?? [])
    .map((template) => ({ template, name: claimName(set, template, ordinal) }))
    .filter(({ name }) => !hasClaim(name))
    .map(({ template, name }) => ({
      verb: "create",
      resource: "persistentvolumeclaims",
      object: {
        apiVersion: "v1",
        kind: "PersistentVolumeClaim",
        metadata: present({
          name,
          namespace: set.metadata.namespace,
          labels: { ...template.metadata.labels, ...set.spec.selector.matchLabels },
          annotations: template.metadata.annotations,
          ownerReferences: goWithSet ? [{ ...ownedBy(set), controller: false }] : undefined,
        }),
        spec: template.spec,
      },
    }));
}
