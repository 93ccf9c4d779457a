import type { Reason } from "@binnacle/contract";
import { type Circumstances, planComponent } from "../app/component-plan.ts";
import type { ReleaseDrift } from "../app/releases.ts";
import type { HostClaims } from "../hosts/host-claims.reconciler.ts";
import { HOST_TAKEN, takenSentence } from "../hosts/host-claims.ts";
import { hostsOf } from "../hosts/route-hosts.ts";
import { asSeen, type Planned } from "../kube/apply-set.adapter.ts";
import type { KubeClient, KubeObject } from "../kube/kube-client.ts";
import { KubeError } from "../kube/kube-error.ts";
import { pathOf } from "../kube/kube-path.ts";
import { METADATA } from "../kube/metadata-types.ts";
import { titleOf } from "../kube/object-fields.ts";
import { createRejections } from "../kube/pod-rejection.store.ts";
import { troubleOf } from "../kube/pod-trouble.ts";
import type { PodView } from "../kube/pod-view.ts";
import { askedReplicas, notBelow, type Readiness, readinessOf, ready } from "../kube/readiness.ts";
import { type Refusal, refusalOf } from "../kube/refusal.ts";
import { fingerprintOf } from "../kube/same-value.ts";
import { COUNTED, workloadCounts } from "../kube/workload-counts.ts";
import { FORBIDDEN, type IsNamespaced, outsideOf, outsideSentence } from "./failure.ts";
import type { ReleaseObject } from "./manifest.ts";
import type { ReleaseStore } from "./release.store.ts";
import { appliedForm, comparedKindOf, HELM_MANAGER, releaseStepFor } from "./release-drift.ts";
import { podsMadeBy, podsOfRelease } from "./release-pods.ts";
import {
  combined,
  isOfRelease,
  isPassing,
  isTelling,
  type ObjectState,
  type ReleaseReadiness,
  type ReleaseWorkload,
  releaseWithoutRestarted,
  workloadWithoutRestarted,
} from "./release-readiness.ts";
import type { ReleaseWatch } from "./release-watch.adapter.ts";
import type { ReleaseId, Revision } from "./revision.ts";
import type { Rights } from "./rights.ts";

export interface ReleaseObjectsPorts {
  readonly kube: Pick<KubeClient, "as" | "resourceTypeOf">;
  readonly hosts: Pick<HostClaims, "takenByOthers">;
  readonly store: Pick<ReleaseStore, "content">;
  readonly pods: Pick<PodView, "in">;
  readonly nowMs: () => number;
  /** The version of a watched object that was last seen. */
  readonly versionOf: ReleaseWatch["versionOf"];
}

type ObjectName = Pick<ReleaseObject, "apiVersion" | "kind" | "name" | "namespace">;

/** The drift of a release whose objects have not been compared. */
export const NOT_COMPARED: ReleaseDrift = { drifted: [], healed: [], blocked: [], isCertain: false };

/** How the objects of a release are kept as its manifest has them. */
export interface Upkeep extends Circumstances {
  /** Take over fields that other managers declare. */
  readonly takeOver: boolean;
}

export interface ReleaseInspection extends ReleaseDrift {
  readonly readiness: ReleaseReadiness;
  readonly workloads: readonly ReleaseWorkload[];
}

/** An object of a release, as far as it was looked at. */
interface Seen extends Planned {
  readonly object: ReleaseObject;
  /** The object has not changed since it was last compared, so it was not read again. */
  readonly isUnchanged: boolean;
}

/** An object of a release as it is; null where it is not there, or belongs to somebody else. */
export interface LiveReleaseObject {
  readonly object: ReleaseObject;
  readonly live: KubeObject | null;
}

/** Beyond this number of objects, all are compared once more. */
const MOST_SETTLED = 20_000;

/**
 * Reads the state of a release's objects and heals them. The chart names them, so that is done with the rights of the
 * release.
 */
export function createReleaseObjects({ kube, hosts, store, pods, versionOf, nowMs }: ReleaseObjectsPorts) {
  const rejections = createRejections(nowMs);
  /** By uid, the revision and content that were found to be as desired; by name, the version. */
  const settled = new Map<string, string>();

  async function inspect(
    id: ReleaseId,
    revision: Revision,
    rights: Rights,
    upkeep: Upkeep,
  ): Promise<ReleaseInspection> {
    const { objects, podMakers } = await store.content(id, revision);
    const outside = rights.isClusterWide ? [] : await outsideIn(objects, id.namespace);
    if (outside.length > 0) return withheld(FORBIDDEN, outsideSentence(outside, id.namespace, rights.remedy));
    // Its route was removed, and would be again.
    const taken = hosts.takenByOthers(
      id.namespace,
      objects.flatMap(({ manifest }) => hostsOf(manifest)),
    );
    if (taken.length > 0) return withheld(HOST_TAKEN, takenSentence("The chart", taken));
    if (settled.size > MOST_SETTLED) settled.clear();
    const read = objects.filter((object) => isTelling(object) || comparedKindOf(object) !== null);
    const all = await Promise.all(read.map((object) => observe(object, { id, revision, rights }, upkeep.takeOver)));
    const plan = planComponent(all, upkeep);
    const own = podsOfRelease({ release: id.name, makers: podMakers }, pods.in(id.namespace));
    const { states, workloads: counted, refusal } = await carryOut(all, plan.toDo, rights);
    const workloads = counted.map((workload) =>
      workloadWithoutRestarted(workload, podsMadeBy({ makers: podMakers }, workload, own), nowMs()),
    );
    const { drifted, healed, blocked } = plan;
    const isCertain = plan.isCertain && plan.waitsFor === null && refusal === null;
    const drift = { drifted, healed, blocked, isCertain, workloads };
    if (refusal) {
      const { reason, message } = refusal;
      return { ...drift, readiness: { state: "failed", reason, message, missing: [] } };
    }
    const readiness = releaseWithoutRestarted(combined(states), own, nowMs());
    if (readiness.state === "ready" || readiness.reason !== null) return { ...drift, readiness };
    const trouble = troubleOf(own, nowMs());
    return { ...drift, readiness: trouble ? { ...readiness, ...trouble } : readiness };
  }

  interface Place {
    readonly id: ReleaseId;
    readonly revision: Revision;
    readonly rights: Rights;
  }

  /** Asks the API server what an apply would change, unless the object is as it was when that was nothing. */
  async function observe(object: ReleaseObject, { id, revision, rights }: Place, takeOver: boolean): Promise<Seen> {
    const type = comparedKindOf(object);
    const namespace = object.namespace ?? id.namespace;
    const version = type ? versionOf(type, namespace, object.name) : undefined;
    const place = [object.kind, namespace, object.name].join("/");
    const seenAs = `${revision.uid} ${version}`;
    const desired = appliedForm(object, id, type !== null || (await isNamespacedObject(object)));
    const keep = { action: "keep", isCertain: true } as const;
    if (!isTelling(object) && version !== undefined && settled.get(place) === seenAs) {
      return { object, desired, live: null, isOwn: true, step: keep, isUnchanged: true };
    }
    const live = await find(object, id.namespace, rights);
    const found = { object, desired, live, isOwn: true, isUnchanged: false };
    if (isPassing(object) || (live && !type)) return { ...found, step: keep };
    const uid = live?.metadata.uid ?? "";
    const sign = live ? `${revision.uid} ${fingerprintOf(live)}` : "";
    const isSettled = live !== null && settled.get(uid) === sign;
    const isAsked = live !== null && !live.metadata.deletionTimestamp && !isSettled;
    const trial = isAsked ? await tryOut(desired, rights) : null;
    const step = releaseStepFor({ id, desired, live, trial }, takeOver);
    if (live && step.action === "keep" && step.isCertain) {
      settled.set(uid, sign);
      settled.set(place, `${revision.uid} ${live.metadata.resourceVersion}`);
    }
    return { ...found, step };
  }

  async function tryOut(desired: KubeObject, { user }: Rights): Promise<KubeObject | Refusal> {
    try {
      return await kube.as(user).apply(desired, { dryRun: true, force: true, fieldManager: HELM_MANAGER });
    } catch (error) {
      const refusal = refusalOf(error, titleOf(desired));
      if (refusal) return refusal;
      throw error;
    }
  }

  async function carryOut(all: readonly Seen[], toDo: readonly Planned[], { user }: Rights) {
    const states: ObjectState[] = [];
    const workloads: ReleaseWorkload[] = [];
    for (const seen of all) {
      const { object, desired, live: found, isUnchanged } = seen;
      try {
        const isDue = toDo.includes(seen);
        const wanted = isDue && found ? asSeen(desired, found) : desired;
        const live = isDue ? await kube.as(user).apply(wanted, { force: true, fieldManager: HELM_MANAGER }) : found;
        const readiness = await readinessFor(object, live, isUnchanged, user);
        states.push({ object, readiness });
        if (COUNTED.has(object.kind)) {
          const counts = workloadCounts(object.manifest, live);
          workloads.push({ kind: object.kind, name: object.name, readiness, counts });
        }
      } catch (error) {
        const refusal = refusalOf(error, titleOf(desired));
        if (!refusal) throw error;
        return { states, workloads, refusal };
      }
    }
    return { states, workloads, refusal: null };
  }

  async function readinessFor(object: ReleaseObject, live: KubeObject | null, isUnchanged: boolean, user: string) {
    if (!live) return isUnchanged || isPassing(object) ? ready() : null;
    return rejections.explain(kube.as(user), live, notBelow(askedReplicas(object.manifest), live, readinessOf(live)));
  }

  async function isNamespacedObject({ apiVersion, kind }: ReleaseObject): Promise<boolean> {
    return (await isNamespaced(apiVersion, kind)) ?? true;
  }

  /** A hook that Helm waits for, or has waited for in vain, because the API server does not take its pods. */
  async function rejectedHook(id: ReleaseId, revision: Revision, rights: Rights): Promise<Readiness | null> {
    const { podMakers } = await store.content(id, revision);
    const jobs = podMakers.filter(({ kind }) => kind === "Job");
    const seen = await Promise.all(
      jobs.map(async ({ kind, name }) => {
        const live = await find({ apiVersion: "batch/v1", kind, name }, id.namespace, rights);
        return live && rejections.explain(kube.as(rights.user), live, readinessOf(live));
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

  /**
   * Reads all objects of a release. Those that its rights do not reach are left out. Of kinds that have no state, such as
   * Secrets, the metadata alone is asked for, so that their content never leaves the API server.
   */
  async function read(id: ReleaseId, revision: Revision, rights: Rights): Promise<readonly LiveReleaseObject[]> {
    const { objects } = await store.content(id, revision);
    const found = await Promise.all(
      objects.map(async (object) => {
        try {
          const live = isTelling(object)
            ? await find(object, id.namespace, rights)
            : await findMetadata(object, id.namespace, rights);
          return [{ object, live: live && isOfRelease(live, id) ? live : null }];
        } catch (error) {
          if (error instanceof KubeError && error.status === 403) return [];
          throw error;
        }
      }),
    );
    return found.flat();
  }

  async function findMetadata(object: ObjectName, namespace: string, { user }: Rights): Promise<KubeObject | null> {
    const { apiVersion, kind, name } = object;
    try {
      const type = await kube.resourceTypeOf(apiVersion, kind);
      const path = pathOf(type, { name, namespace: type.namespaced ? (object.namespace ?? namespace) : null });
      const { metadata } = await kube.as(user).raw<KubeObject>("GET", path, { accept: METADATA });
      return { apiVersion, kind, metadata };
    } catch (error) {
      if (error instanceof KubeError && error.status === 404) return null;
      throw error;
    }
  }

  /** Null also where its kind is not known, or gone with its definition. */
  async function find(object: ObjectName, namespace: string, { user }: Rights): Promise<KubeObject | null> {
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

  return { inspect, read, rejectedHook, left, isNamespaced };
}

/** A release whose objects are not applied again. */
const withheld = (reason: Reason, message: string): ReleaseInspection => ({
  ...NOT_COMPARED,
  workloads: [],
  readiness: { state: "failed", reason, message, missing: [] },
});
