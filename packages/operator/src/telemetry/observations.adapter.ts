import {
  canonicalJson,
  LABELS,
  OBSERVED_LIMITS,
  type ObservationRequest,
  type ObservedAnswers,
} from "@binnacle/contract";
import { chartOf, memoryIn } from "../app/app-status.ts";
import type { DesiredView } from "../desired/desired-state.ts";
import { isOurs, ownSelector, resourceIdOf } from "../desired/ownership.ts";
import type { HelmReleases } from "../helm/helm-releases.reconciler.ts";
import { isPassing } from "../helm/release-readiness.ts";
import { type ReleaseId, releaseOfInstance } from "../helm/revision.ts";
import { apiVersionOf, itemId, itemOf } from "../kube/inventory.ts";
import type { KubeClient, KubeObject, ObjectMeta, ResourceType } from "../kube/kube-client.ts";
import { KubeError } from "../kube/kube-error.ts";
import { pathOf } from "../kube/kube-path.ts";
import { METADATA_LIST } from "../kube/metadata-types.ts";
import { specOf, textIn } from "../kube/object-fields.ts";
import type { PodView } from "../kube/pod-view.ts";
import {
  CLAIMS,
  EVENTS,
  NAMESPACES,
  OWNED_KINDS,
  PERSISTENT_VOLUMES,
  REPLICA_SETS,
  STORAGE_CLASSES,
} from "../kube/resource-types.ts";
import { AnswerError, type Answerer } from "../link/ports.ts";
import { componentsIn } from "./app-components.ts";
import { isLabelValue } from "./component-pods.ts";
import {
  claimsOfNamespace,
  type LeavingClaim,
  leavingObjects,
  outlookOf,
  reclaimPolicyIn,
  type Scope,
  volumeOf,
} from "./deletion-outlook.ts";
import { eventsOf, type MissingObject, resourcesOf } from "./observed-objects.ts";
import { type OwnedObject, ownedObjects, type RootObject } from "./owned-objects.ts";

export interface ObservationPorts {
  readonly kube: Pick<KubeClient, "get" | "list" | "raw">;
  readonly clusterId: string;
  readonly view: Pick<DesiredView, "get" | "holder">;
  readonly helmReleases: Pick<HelmReleases, "objects">;
  readonly pods: Pick<PodView, "in">;
  readonly nowMs: () => number;
  /** Shorter than the hub waits. */
  readonly withinMs?: number;
}

const WITHIN_MS = 8_000;

/** Their content is nobody's business here, so only their metadata leaves the API server. */
const NAMES_ONLY = new Set(["Secret", "ConfigMap"]);

/** Kinds that objects of a release may own. Those of an app's own workloads carry its labels. */
const BELOW_RELEASES: readonly ResourceType[] = OWNED_KINDS.filter(({ kind }) =>
  ["Deployment", "StatefulSet", "Job", "PersistentVolumeClaim"].includes(kind),
);

interface Found {
  readonly owned: readonly OwnedObject[];
  readonly missing: readonly MissingObject[];
}

interface Part {
  /** Null for all. */
  readonly components: readonly string[] | null;
  /** Whether components that stand for an addon instance have the objects of the instance. */
  readonly withInstances: boolean;
}

const EVERYTHING: Part = { components: null, withInstances: true };

/** Reads the objects of apps and addon instances while somebody waits. */
export function createObservations(ports: ObservationPorts): Answerer["observe"] {
  const { kube, clusterId, view, helmReleases, pods, nowMs, withinMs = WITHIN_MS } = ports;

  async function labelled(
    type: ResourceType,
    namespace: string,
    labelSelector: string,
  ): Promise<readonly KubeObject[]> {
    if (!NAMES_ONLY.has(type.kind)) return (await kube.list(type, { namespace, labelSelector })).items;
    const { items } = await kube.raw<{ items: readonly { metadata: ObjectMeta }[] | null }>(
      "GET",
      pathOf(type, { namespace }),
      { query: { labelSelector }, accept: METADATA_LIST },
    );
    return (items ?? []).map(({ metadata }) => ({ apiVersion: type.version, kind: type.kind, metadata }));
  }

  async function appObjects(namespace: string, app: string, part: Part): Promise<Found> {
    if (!isLabelValue(app)) return { owned: [], missing: [] };
    const holder = view.holder("app", `app/${namespace}/${app}`);
    const memory = holder && memoryIn(holder);
    const components = holder ? componentsIn(holder) : [];
    const isAsked = ({ component }: { readonly component: string }) => part.components?.includes(component) ?? true;
    const lists = await Promise.all(
      OWNED_KINDS.map((type) => labelled(type, namespace, `${ownSelector(clusterId)},${LABELS.app}=${app}`)),
    );
    const own = lists.flat().map((object): RootObject => {
      return { component: object.metadata.labels?.[LABELS.component] ?? "", object, release: null };
    });
    const releases = await Promise.all(
      components
        .filter(({ name }) => isAsked({ component: name }))
        .map(async ({ name, release }) => {
          const isInstance = release?.owner === "addon";
          if (!release || (isInstance && !part.withInstances)) return { roots: [], missing: [] };
          const addon = isInstance ? view.get("addon_instance", `addon_instance/${namespace}/${release.name}`) : null;
          const chart = addon?.spec.chart ?? (memory && !isInstance ? chartOf(memory, release.name) : null);
          return releaseRoots(release, chart, name);
        }),
    );
    const hasReleases = releases.some(({ roots }) => roots.length > 0);
    const roots = [...own.filter(isAsked), ...releases.flatMap((release) => release.roots)];
    const below = hasReleases ? await candidatesIn(namespace) : await replicaSets(namespace, `${LABELS.app}=${app}`);
    return {
      owned: ownedObjects(roots, [...below, ...pods.in(namespace)]),
      missing: [
        ...missingIn(memory?.inventory ?? [], own, namespace).filter(isAsked),
        ...releases.flatMap(({ missing }) => missing),
      ],
    };
  }

  async function releaseRoots(id: ReleaseId, chart: Parameters<HelmReleases["objects"]>[1], component: string) {
    const found = await helmReleases.objects(id, chart);
    const roots = found.flatMap(({ object, live }): RootObject[] =>
      live ? [{ component, object: live, release: object.isKept ? "keep" : "own" }] : [],
    );
    const missing = found
      .filter(({ object, live }) => !live && !isPassing(object))
      .map(({ object: { apiVersion, kind, name, namespace } }): MissingObject => {
        return { component, apiVersion, kind, name, namespace: namespace ?? null };
      });
    return { roots, missing };
  }

  async function instanceObjects(namespace: string, name: string): Promise<Found> {
    const addon = view.get("addon_instance", `addon_instance/${namespace}/${name}`);
    const { roots, missing } = await releaseRoots(releaseOfInstance(namespace, name), addon?.spec.chart ?? null, "");
    const below = roots.length > 0 ? await candidatesIn(namespace) : [];
    return { owned: ownedObjects(roots, [...below, ...pods.in(namespace)]), missing };
  }

  const replicaSets = async (namespace: string, labelSelector?: string) =>
    (await kube.list(REPLICA_SETS, { namespace, ...(labelSelector ? { labelSelector } : {}) })).items;

  async function candidatesIn(namespace: string): Promise<readonly KubeObject[]> {
    const lists = await Promise.all(BELOW_RELEASES.map((type) => kube.list(type, { namespace })));
    return [...(await replicaSets(namespace)), ...lists.flatMap(({ items }) => items)];
  }

  async function deletion(request: Extract<ObservationRequest, { name: "deletion" }>) {
    const { namespace, app, components, addon_instance } = request;
    if (app === null && addon_instance === null) return namespaceDeletion(namespace);
    const found =
      app === null
        ? await instanceObjects(namespace, addon_instance ?? "")
        : await appObjects(namespace, app, { components, withInstances: false });
    const scope: Scope = app === null ? "release" : components === null ? "app" : "component";
    const { claims, objects } = leavingObjects(found.owned, scope);
    return outlookOf(objects.map(withComponent), await volumesOf(claims), claims.length > OBSERVED_LIMITS.volumes);
  }

  /** Only a namespace that was made for the project goes with it. */
  async function namespaceDeletion(name: string) {
    const project = view.get("project", `project/${name}`);
    const namespace = await kube.get(NAMESPACES, name);
    const isItsOwn =
      project && namespace && isOurs(namespace, clusterId) && resourceIdOf(namespace) === project.resource_id;
    if (!isItsOwn) return outlookOf([], [], false);
    const { items } = await kube.list(CLAIMS, { namespace: name });
    const volumes = await volumesOf(claimsOfNamespace(items));
    const objects = [{ component: null, kind: "Namespace", name, namespace: null }];
    return outlookOf(objects, volumes, items.length > OBSERVED_LIMITS.volumes);
  }

  function volumesOf(claims: readonly LeavingClaim[]) {
    const classes = new Map<string, Promise<KubeObject | null>>();
    return Promise.all(
      claims.slice(0, OBSERVED_LIMITS.volumes).map(async (leaving) => {
        const { volumeName, storageClassName } = specOf(leaving.claim);
        const volume = await readable(PERSISTENT_VOLUMES, textIn(volumeName));
        const name = volume ? "" : textIn(storageClassName);
        const storage = classes.get(name) ?? readable(STORAGE_CLASSES, name);
        classes.set(name, storage);
        const policy = reclaimPolicyIn(leaving.claim, volume, await storage);
        return withComponent(volumeOf(leaving, policy));
      }),
    );
  }

  /** Null where the operator may not read it: the answer then says that the fate is unknown. */
  async function readable(type: ResourceType, name: string): Promise<KubeObject | null> {
    if (name === "") return null;
    return kube.get(type, name).catch((error: unknown) => {
      if (error instanceof KubeError && error.status === 403) return null;
      throw error;
    });
  }

  async function answerTo(request: ObservationRequest): Promise<ObservedAnswer> {
    const observed_at = new Date(nowMs()).toISOString();
    if (request.name === "deletion") return { deletion: { ...(await deletion(request)), observed_at } };
    const { owned, missing } = await appObjects(request.namespace, request.app, EVERYTHING);
    if (request.name === "resources") return { resources: { ...resourcesOf(owned, missing, nowMs()), observed_at } };
    const { items } = owned.length > 0 ? await kube.list(EVENTS, { namespace: request.namespace }) : { items: [] };
    return { events: { ...eventsOf(owned, items), observed_at } };
  }

  /** Many people may look at one app, and each reading takes a dozen requests. */
  const underWay = new Map<string, Promise<ObservedAnswer>>();
  function shared(request: ObservationRequest): Promise<ObservedAnswer> {
    const key = canonicalJson(request);
    const reading = underWay.get(key) ?? answerTo(request).finally(() => underWay.delete(key));
    underWay.set(key, reading);
    return reading;
  }

  return async (request) => {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(slow()), withinMs);
    try {
      return await Promise.race([shared(request), late.promise]);
    } catch (error) {
      throw error instanceof KubeError ? unreadable(error) : error;
    } finally {
      clearTimeout(timer);
    }
  };
}

type ObservedAnswer = {
  [N in keyof ObservedAnswers]: { readonly [K in N]: ObservedAnswers[N] };
}[keyof ObservedAnswers];

/** An addon instance has no components. */
const withComponent = <T extends { readonly component: string | null }>(one: T): T => ({
  ...one,
  component: one.component || null,
});

/** Objects that were there once. A Job that has done its work may be cleared away. */
function missingIn(
  inventory: ReturnType<typeof memoryIn>["inventory"],
  own: readonly RootObject[],
  place: string,
): MissingObject[] {
  const there = new Set(own.map(({ object }) => itemId(itemOf(object))));
  return inventory
    .filter((item) => item.uid !== "" && item.namespace === place && item.kind !== "Job" && !there.has(itemId(item)))
    .map((item) => {
      const { kind, name, namespace, component } = item;
      return { component, apiVersion: apiVersionOf(item), kind, name, namespace };
    });
}

const slow = () => new AnswerError("unavailable", "The cluster's API server does not answer in time.");

function unreadable({ status }: KubeError): AnswerError {
  if (status === 0 || status >= 500) return new AnswerError("unavailable", "The cluster's API server does not answer.");
  if (status === 403) {
    return new AnswerError(
      "failed",
      "The operator lacks the rights to read this. Upgrade its Helm chart, which brings the rights.",
    );
  }
  return new AnswerError("failed", "The operator could not read the objects of the app.");
}
