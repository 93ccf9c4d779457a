import type { KubeClient, KubeObject } from "../kube/kube-client.ts";
import { KubeError } from "../kube/kube-error.ts";
import { titleOf } from "../kube/object-fields.ts";
import { withRejection } from "../kube/pod-rejection.store.ts";
import { troubleOf } from "../kube/pod-trouble.ts";
import { type Readiness, readinessOf, ready } from "../kube/readiness.ts";
import { INGRESSES, PODS } from "../kube/resource-types.ts";
import { FORBIDDEN, type IsNamespaced, outsideOf, outsideSentence } from "./failure.ts";
import { hostsOf } from "./ingress-hosts.ts";
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
import type { Rights } from "./rights.ts";

export interface ReleaseObjectsPorts {
  readonly kube: Pick<KubeClient, "as" | "list" | "resourceTypeOf">;
  readonly store: ReleaseStore;
}

/** Reads the state of a release's objects. The chart names them, so they are read with the rights of the release. */
export function createReleaseObjects({ kube, store }: ReleaseObjectsPorts) {
  async function readiness(id: ReleaseId, revision: Revision, rights: Rights): Promise<ReleaseReadiness> {
    const { objects, podMakers } = await store.content(id, revision);
    const outside = rights.isClusterWide ? [] : await outsideIn(objects, id.namespace);
    if (outside.length > 0) {
      const message = outsideSentence(outside, id.namespace, rights.remedy);
      return { state: "failed", reason: FORBIDDEN, message, missing: [] };
    }
    const states = await Promise.all(
      objects.filter(isTelling).map(async (object): Promise<ObjectState> => {
        const live = await find(object, id.namespace, rights);
        if (!live) return { object, readiness: isPassing(object) ? ready() : null };
        return { object, readiness: await withRejection(kube.as(rights.user), live, readinessOf(live)) };
      }),
    );
    const seen = combined(states);
    if (seen.state === "ready" || seen.reason !== null) return seen;
    const { items } = await kube
      .as(rights.user)
      .list(PODS, { namespace: id.namespace, labelSelector: NOT_OF_WORKLOADS });
    const trouble = troubleOf(items.filter((pod) => isPodOf({ release: id.name, makers: podMakers }, pod)));
    return trouble ? { ...seen, ...trouble } : seen;
  }

  /** A hook that Helm waits for, or has waited for in vain, because the API server does not take its pods. */
  async function rejectedHook(id: ReleaseId, revision: Revision, rights: Rights): Promise<Readiness | null> {
    const { podMakers } = await store.content(id, revision);
    const jobs = podMakers.filter(({ kind }) => kind === "Job");
    const seen = await Promise.all(
      jobs.map(async ({ kind, name }) => {
        const live = await find({ apiVersion: "batch/v1", kind, name, isKept: false }, id.namespace, rights);
        return live && withRejection(kube.as(rights.user), live, readinessOf(live));
      }),
    );
    return seen.find((readiness) => readiness?.reason !== undefined) ?? null;
  }

  /**
   * The objects that still exist, as text. Objects that the chart keeps, or that no longer belong to the release, do
   * not count.
   */
  async function left(id: ReleaseId, revision: Revision, rights: Rights): Promise<string[]> {
    const { objects } = await store.content(id, revision);
    const going = objects.filter(({ isKept }) => !isKept);
    const found = await Promise.all(going.map((object) => find(object, id.namespace, rights)));
    return found.flatMap((live) => (live && isOfRelease(live, id) ? [titleOf(live)] : []));
  }

  /** Null also where its kind is not known, or gone with its definition. */
  async function find(object: ReleaseObject, namespace: string, { user }: Rights): Promise<KubeObject | null> {
    try {
      const type = await kube.resourceTypeOf(object.apiVersion, object.kind);
      return await kube.as(user).get(type, object.name, type.namespaced ? (object.namespace ?? namespace) : null);
    } catch (error) {
      if (error instanceof KubeError && error.status === 404) return null;
      throw error;
    }
  }

  const isNamespaced: IsNamespaced = async (apiVersion, kind) => {
    try {
      return (await kube.resourceTypeOf(apiVersion, kind)).namespaced;
    } catch (error) {
      if (error instanceof KubeError && error.status === 404) return null;
      throw error;
    }
  };

  /** Of a release that was made when charts had more rights. */
  const outsideIn = (objects: readonly ReleaseObject[], namespace: string) =>
    outsideOf(
      objects.map((object) => ({ ...object, namespace: object.namespace ?? null })),
      namespace,
      isNamespaced,
    );

  /** The hosts of all Ingresses outside of a namespace. */
  async function hostsOutside(namespace: string): Promise<string[]> {
    const { items } = await kube.list(INGRESSES);
    return items.filter(({ metadata }) => metadata.namespace !== namespace).flatMap(({ spec }) => hostsOf(spec));
  }

  return { readiness, rejectedHook, left, isNamespaced, hostsOutside };
}
