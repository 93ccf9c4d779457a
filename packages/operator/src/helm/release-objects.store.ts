import type { KubeClient, KubeObject } from "../kube/kube-client.ts";
import { KubeError } from "../kube/kube-error.ts";
import { titleOf } from "../kube/object-fields.ts";
import { PODS } from "../kube/owned-kinds.ts";
import { withRejection } from "../kube/pod-rejection.store.ts";
import { troubleOf } from "../kube/pod-trouble.ts";
import { readinessOf } from "../kube/readiness.ts";
import { type Readiness, ready } from "../kube/readiness-state.ts";
import type { ReleaseObject } from "./manifest.ts";
import type { ReleaseStore } from "./release.store.ts";
import { isPodOf, NOT_OF_WORKLOADS } from "./release-pods.ts";
import {
  combined,
  isOfRelease,
  isPassing,
  isTelling,
  type ObjectState,
  type ReleaseReadiness,
} from "./release-readiness.ts";
import type { ReleaseId, Revision } from "./revision.ts";

/** What has become of the objects of a release. */
export function createReleaseObjects(kube: Pick<KubeClient, "get" | "list" | "resourceTypeOf">, store: ReleaseStore) {
  async function readiness(id: ReleaseId, revision: Revision): Promise<ReleaseReadiness> {
    const { objects, podMakers } = await store.content(id, revision);
    const states = await Promise.all(
      objects.filter(isTelling).map(async (object): Promise<ObjectState> => {
        const live = await find(object, id.namespace);
        if (!live) return { object, readiness: isPassing(object) ? ready() : null };
        return { object, readiness: await withRejection(kube, live, readinessOf(live)) };
      }),
    );
    const seen = combined(states);
    if (seen.state === "ready" || seen.reason !== null) return seen;
    const { items } = await kube.list(PODS, { namespace: id.namespace, labelSelector: NOT_OF_WORKLOADS });
    const trouble = troubleOf(items.filter((pod) => isPodOf({ release: id.name, makers: podMakers }, pod)));
    return trouble ? { ...seen, ...trouble } : seen;
  }

  /** A hook that Helm waits for, or has waited for in vain, because the API server does not take its pods. */
  async function rejectedHook(id: ReleaseId, revision: Revision): Promise<Readiness | null> {
    const { podMakers } = await store.content(id, revision);
    const jobs = podMakers.filter(({ kind }) => kind === "Job");
    const seen = await Promise.all(
      jobs.map(async ({ kind, name }) => {
        const live = await find({ apiVersion: "batch/v1", kind, name, isKept: false }, id.namespace);
        return live && withRejection(kube, live, readinessOf(live));
      }),
    );
    return seen.find((readiness) => readiness?.reason !== undefined) ?? null;
  }

  /** What is still there, in words. What the chart wants to be kept, or is not of the release any more, does not count. */
  async function left(id: ReleaseId, revision: Revision): Promise<string[]> {
    const { objects } = await store.content(id, revision);
    const going = objects.filter(({ isKept }) => !isKept);
    const found = await Promise.all(going.map((object) => find(object, id.namespace)));
    return found.flatMap((live) => (live && isOfRelease(live, id) ? [titleOf(live)] : []));
  }

  /** Null also where its kind is not known, or gone with its definition. */
  async function find(object: ReleaseObject, namespace: string): Promise<KubeObject | null> {
    try {
      const type = await kube.resourceTypeOf(object.apiVersion, object.kind);
      return await kube.get(type, object.name, type.namespaced ? (object.namespace ?? namespace) : null);
    } catch (error) {
      if (error instanceof KubeError && error.status === 404) return null;
      throw error;
    }
  }

  return { readiness, rejectedHook, left };
}
