import { type InformerLog, startInformer } from "../kube/informer.adapter.ts";
import type { KubeClient, KubeObject, ResourceType } from "../kube/kube-client.ts";
import { startOptionalInformers } from "../kube/optional-informers.adapter.ts";
import { INGRESSES } from "../kube/resource-types.ts";
import type { Clock } from "../kube/work-queue.ts";
import { hostsOf } from "./route-hosts.ts";

/** An object that leads a host's traffic into its namespace. */
export interface Route {
  readonly key: string;
  readonly type: ResourceType;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly createdAt: string;
  readonly isDeleting: boolean;
  readonly hosts: readonly string[];
}

export interface RouteWatchPorts {
  readonly kube: Pick<KubeClient, "list" | "watch" | "resourceTypeOf">;
  readonly clock: Clock;
  readonly log: InformerLog;
  readonly onChange: () => void;
}

const gatewayKind = (kind: string, ...versions: readonly string[]) => ({
  kind,
  versions: versions.map((version) => `gateway.networking.k8s.io/${version}`),
});
const GATEWAY_KINDS = [
  gatewayKind("HTTPRoute", "v1", "v1beta1"),
  gatewayKind("GRPCRoute", "v1", "v1alpha2"),
  gatewayKind("TLSRoute", "v1", "v1alpha3", "v1alpha2"),
];

/** How long the start waits for the routes of gateways. */
const GATEWAYS_MS = 10_000;

/** Follows the routes of all namespaces, whoever made them. */
export function startRouteWatch({ kube, clock, log, onChange }: RouteWatchPorts) {
  const routes = new Map<string, Route>();

  const follow = (type: ResourceType) =>
    startInformer({
      client: kube,
      type,
      trim: hostsAlone,
      log,
      onChange(key, object) {
        const place = `${type.plural}.${type.group}/${key}`;
        const before = routes.get(place)?.hosts ?? [];
        const route = object && routeOf(place, type, object);
        if (route && route.hosts.length > 0) routes.set(place, route);
        else routes.delete(place);
        if (before.length > 0 || route?.hosts.length) onChange();
      },
    });
  const ingresses = follow(INGRESSES);
  const gateways = startOptionalInformers({
    kube,
    kinds: GATEWAY_KINDS,
    clock,
    log,
    follow: (_, type) => follow(type),
  });

  const awaited = Promise.withResolvers<void>();
  const endWait = clock.after(GATEWAYS_MS, awaited.resolve);

  return {
    list: (): readonly Route[] => [...routes.values()],
    get: (key: string): Route | undefined => routes.get(key),
    // An operator whose role is older than this version may not list these kinds, and works without them.
    synced: Promise.all([ingresses.synced, Promise.race([gateways.synced, awaited.promise])]).then(() => undefined),
    async stop(): Promise<void> {
      endWait();
      await Promise.all([ingresses.stop(), gateways.stop()]);
    },
  };
}

function hostsAlone(object: KubeObject): KubeObject {
  const {
    name,
    namespace = "",
    uid = "",
    resourceVersion = "",
    creationTimestamp = "",
    deletionTimestamp,
  } = object.metadata;
  return {
    apiVersion: object.apiVersion,
    kind: object.kind,
    metadata: {
      name,
      namespace,
      uid,
      resourceVersion,
      creationTimestamp,
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    },
    hosts: hostsOf(object),
  };
}

function routeOf(key: string, type: ResourceType, { metadata, hosts }: KubeObject): Route {
  const { name, namespace = "", uid = "", resourceVersion = "", creationTimestamp = "", deletionTimestamp } = metadata;
  const isDeleting = deletionTimestamp !== undefined;
  return {
    key,
    type,
    namespace,
    name,
    uid,
    resourceVersion,
    createdAt: creationTimestamp,
    isDeleting,
    hosts: hosts as readonly string[],
  };
}
