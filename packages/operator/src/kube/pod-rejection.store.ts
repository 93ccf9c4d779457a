import type { KubeClient, KubeObject } from "./kube-client.ts";
import { KubeError } from "./kube-error.ts";
import { rejected, rejectionIn, TELLS_BY_EVENTS } from "./pod-rejection.ts";
import type { Readiness } from "./readiness.ts";
import { EVENTS } from "./resource-types.ts";

/** With what the API server has said about the pods of a workload, where it does not take them. */
export async function withRejection(
  kube: Pick<KubeClient, "list">,
  object: KubeObject,
  readiness: Readiness,
): Promise<Readiness> {
  const { uid, namespace } = object.metadata;
  if (readiness.state === "ready" || !TELLS_BY_EVENTS.has(object.kind) || uid === undefined) return readiness;
  const words = rejectionIn(await eventsOf(kube, uid, namespace));
  return words === null ? readiness : rejected(object, words, readiness.readyReplicas);
}

/** None where the operator may not read them: that is no reason to say nothing at all. */
async function eventsOf(kube: Pick<KubeClient, "list">, uid: string, namespace: string | undefined) {
  try {
    return (await kube.list(EVENTS, { namespace, fieldSelector: `involvedObject.uid=${uid}` })).items;
  } catch (error) {
    if (error instanceof KubeError && error.status === 403) return [];
    throw error;
  }
}
