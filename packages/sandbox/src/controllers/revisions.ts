import { isDeepStrictEqual } from "node:util";
import type { KubeObject } from "../store/kube-object.ts";
import type { Write } from "./control.ts";
import { shortHash } from "./fingerprint.ts";
import { ownedBy } from "./owners.ts";
import { isDeleting, type PodTemplate } from "./pod.ts";
import { deletion, patchOf, present } from "./writes.ts";

export const CONTROLLER_REVISIONS = "controllerrevisions.apps";
export const REVISION_LABEL = "controller-revision-hash";
const HASH_LABEL = "controller.kubernetes.io/hash";
const REVISIONS_KEPT = 10;

/** A template that a set once had. */
export interface ControllerRevision extends KubeObject {
  readonly revision: number;
  readonly data: { readonly spec: { readonly template: PodTemplate } };
}

interface RevisedSet extends KubeObject {
  readonly spec: { readonly template: PodTemplate; readonly revisionHistoryLimit?: number };
  readonly status?: { readonly currentRevision?: string };
}

export const revisionOfPod = ({ metadata }: KubeObject): string => metadata.labels?.[REVISION_LABEL] ?? "";
export const templateOf = ({ data }: ControllerRevision): PodTemplate => data.spec.template;

/** Short enough for a label, however long the name of the set is. */
export const hashOf = ({ metadata }: ControllerRevision): string => metadata.labels?.[HASH_LABEL] ?? "";

const nameOf = (set: RevisedSet): string => `${set.metadata.name}-${shortHash(set.spec.template)}`;

/** The revision of the template that is wanted now; undefined before it is stored as the newest. */
export function updateRevisionOf(
  set: RevisedSet,
  revisions: readonly ControllerRevision[],
): ControllerRevision | undefined {
  const found = revisionOf(set, revisions);
  return found && revisions.every(({ revision }) => revision <= found.revision) ? found : undefined;
}

const revisionOf = (set: RevisedSet, revisions: readonly ControllerRevision[]): ControllerRevision | undefined =>
  revisions.find((one) => isDeepStrictEqual(templateOf(one), set.spec.template)) ??
  revisions.find(({ metadata }) => metadata.name === nameOf(set));

export const currentRevisionOf = (
  set: RevisedSet,
  revisions: readonly ControllerRevision[],
): ControllerRevision | undefined => revisions.find(({ metadata }) => metadata.name === set.status?.currentRevision);

/** Stores the wanted template as the newest revision, and drops what nobody uses any more. */
export function revisionWrites(
  set: RevisedSet,
  revisions: readonly ControllerRevision[],
  used: ReadonlySet<ControllerRevision> = new Set(),
): Write[] {
  const newest = Math.max(0, ...revisions.map(({ revision }) => revision));
  const found = revisionOf(set, revisions);
  if (!found) return [created(set, newest + 1)];
  if (found.revision < newest) return [patchOf(CONTROLLER_REVISIONS, found, { revision: newest + 1 })];
  const unused = revisions.filter((one) => !used.has(one) && !isDeleting(one)).sort((a, b) => a.revision - b.revision);
  const surplus = Math.max(unused.length - (set.spec.revisionHistoryLimit ?? REVISIONS_KEPT), 0);
  return unused.slice(0, surplus).map((one) => deletion(CONTROLLER_REVISIONS, one, "Background"));
}

function created(set: RevisedSet, revision: number): Write {
  return {
    verb: "create",
    resource: CONTROLLER_REVISIONS,
    object: {
      apiVersion: "apps/v1",
      kind: "ControllerRevision",
      metadata: present({
        name: nameOf(set),
        namespace: set.metadata.namespace,
        labels: { ...set.spec.template.metadata?.labels, [HASH_LABEL]: shortHash(set.spec.template) },
        ownerReferences: [ownedBy(set)],
      }),
      revision,
      data: { spec: { template: set.spec.template } },
    },
  };
}
