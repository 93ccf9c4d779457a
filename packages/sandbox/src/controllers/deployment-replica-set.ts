import { isDeepStrictEqual } from "node:util";
import type { Write } from "./control.ts";
import type { Deployment } from "./deployment.ts";
import { REVISION, revisionOf, rolloutLimits } from "./deployment-rollout.ts";
import { shortHash } from "./fingerprint.ts";
import { ownedBy } from "./owners.ts";
import type { PodTemplate } from "./pod.ts";
import { REPLICA_SETS, type ReplicaSet } from "./replica-set.ts";
import { patchOf, present } from "./writes.ts";

const HASH = "pod-template-hash";
/** These annotations belong to the Deployment, not to its revisions. */
const NOT_COPIED = new Set(["kubectl.kubernetes.io/last-applied-configuration", REVISION]);

const hashOf = ({ spec }: Deployment): string => shortHash(spec.template);

/** The ReplicaSet of the template that is wanted now. */
export function replicaSetOf(deployment: Deployment, sets: readonly ReplicaSet[]): ReplicaSet | undefined {
  const { template } = deployment.spec;
  return (
    sets.find((set) => isDeepStrictEqual(withoutHash(set.spec.template), template)) ??
    sets.find(({ metadata }) => metadata.name === `${deployment.metadata.name}-${hashOf(deployment)}`)
  );
}

function withoutHash(template: PodTemplate): PodTemplate {
  const { [HASH]: _, ...labels } = template.metadata?.labels ?? {};
  return { ...template, metadata: { ...template.metadata, labels } };
}

/** Makes the ReplicaSet of the wanted template with no pods yet, or makes one of an earlier version the newest. */
export function newReplicaSet(
  deployment: Deployment,
  current: ReplicaSet | undefined,
  old: readonly ReplicaSet[],
): Write[] {
  const revision = String(Math.max(0, ...old.map(revisionOf)) + 1);
  if (!current) return [created(deployment, revision), ...noted(deployment, revision)];
  const isNewest = revisionOf(current) >= Number(revision);
  const wanted = isNewest ? String(revisionOf(current)) : revision;
  const annotations = annotationsOf(deployment, wanted);
  const { minReadySeconds = 0 } = deployment.spec;
  const isAsWanted =
    Object.entries(annotations).every(([name, value]) => current.metadata.annotations?.[name] === value) &&
    (current.spec.minReadySeconds ?? 0) === minReadySeconds;
  return [
    ...(isAsWanted ? [] : [patchOf(REPLICA_SETS, current, { metadata: { annotations }, spec: { minReadySeconds } })]),
    ...noted(deployment, wanted),
  ];
}

function noted(deployment: Deployment, revision: string): Write[] {
  if (deployment.metadata.annotations?.[REVISION] === revision) return [];
  return [patchOf("deployments.apps", deployment, { metadata: { annotations: { [REVISION]: revision } } })];
}

function annotationsOf(deployment: Deployment, revision: string): Record<string, string> {
  const { replicas = 1 } = deployment.spec;
  const own = Object.entries(deployment.metadata.annotations ?? {}).filter(([name]) => !NOT_COPIED.has(name));
  return {
    ...Object.fromEntries(own),
    [REVISION]: revision,
    "deployment.kubernetes.io/desired-replicas": String(replicas),
    "deployment.kubernetes.io/max-replicas": String(replicas + rolloutLimits(deployment).surge),
  };
}

function created(deployment: Deployment, revision: string): Write {
  const { selector, template, minReadySeconds } = deployment.spec;
  const hash = hashOf(deployment);
  const labels = { ...template.metadata?.labels, [HASH]: hash };
  return {
    verb: "create",
    resource: REPLICA_SETS,
    object: {
      apiVersion: "apps/v1",
      kind: "ReplicaSet",
      metadata: present({
        name: `${deployment.metadata.name}-${hash}`,
        namespace: deployment.metadata.namespace,
        labels,
        annotations: annotationsOf(deployment, revision),
        ownerReferences: [ownedBy(deployment)],
      }),
      spec: present({
        replicas: 0,
        minReadySeconds,
        selector: { ...selector, matchLabels: { ...selector.matchLabels, [HASH]: hash } },
        template: { ...template, metadata: { ...template.metadata, labels } },
      }),
    },
  };
}
