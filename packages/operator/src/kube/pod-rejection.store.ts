import type { KubeClient, KubeObject } from "./kube-client.ts";
import { KubeError } from "./kube-error.ts";
import { rejected, rejectionIn, TELLS_BY_EVENTS } from "./pod-rejection.ts";
import type { Readiness } from "./readiness.ts";
import { recheckMs } from "./recheck.ts";
import { EVENTS } from "./resource-types.ts";

type Client = Pick<KubeClient, "list">;

/** What the events of a workload have said, of which version of it and when. */
interface Asked {
  readonly version: string;
  readonly sinceMs: number;
  readonly atMs: number;
  readonly words: string | null;
}

/** Beyond this number of workloads, the events of all are read once more. */
const MOST_KNOWN = 5_000;

/**
 * Knows what the API server has said about pods that it does not take. Events have no index by object: the API server reads all
 * of a namespace to answer, so those of a workload that stays the same are read less and less often.
 */
export function createRejections(nowMs: () => number) {
  const known = new Map<string, Asked>();

  async function wordsOn(kube: Client, { uid = "", namespace, resourceVersion: version = "" }: KubeObject["metadata"]) {
    const now = nowMs();
    const before = known.get(uid);
    const isSame = before?.version === version;
    if (isSame && now - before.atMs < recheckMs(before.atMs - before.sinceMs)) return before.words;
    const words = rejectionIn(await eventsOf(kube, uid, namespace));
    if (known.size >= MOST_KNOWN) known.clear();
    known.set(uid, { version, sinceMs: isSame && before.words === words ? before.sinceMs : now, atMs: now, words });
    return words;
  }

  return {
    /** The readiness of a workload, with the words of the API server where that does not take its pods. */
    async explain(kube: Client, object: KubeObject, readiness: Readiness): Promise<Readiness> {
      const { uid } = object.metadata;
      if (!TELLS_BY_EVENTS.has(object.kind) || uid === undefined) return readiness;
      if (readiness.state === "ready") {
        known.delete(uid);
        return readiness;
      }
      const words = await wordsOn(kube, object.metadata);
      return words === null ? readiness : rejected(object, words, readiness.readyReplicas);
    },
  };
}

/** An empty list where the operator may not read events: the rest of the report is still useful. */
async function eventsOf(kube: Client, uid: string, namespace: string | undefined) {
  try {
    return (await kube.list(EVENTS, { namespace, fieldSelector: `involvedObject.uid=${uid}` })).items;
  } catch (error) {
    if (error instanceof KubeError && error.status === 403) return [];
    throw error;
  }
}
