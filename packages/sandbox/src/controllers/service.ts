import { isDeepStrictEqual } from "node:util";
import type { Labels } from "@binnacle/contract";
import type { KubeObject } from "../store/kube-object.ts";
import { type Controller, NOTHING, type Outcome, type Place, placeOf, type View, type Write } from "./control.ts";
import { endpointSliceOf, endpointsOf } from "./endpoints.ts";
import { numberOf } from "./fingerprint.ts";
import { hasAll } from "./owners.ts";
import { isDeleting, isFinished, type Pod } from "./pod.ts";
import { deletion, statusWrites } from "./writes.ts";

export interface Service extends KubeObject {
  readonly spec: {
    readonly type?: string;
    readonly selector?: Labels;
    readonly ports?: readonly {
      readonly name?: string;
      readonly port: number;
      readonly protocol?: string;
      readonly targetPort?: number | string;
      readonly appProtocol?: string;
    }[];
    readonly publishNotReadyAddresses?: boolean;
  };
}

const SERVICES = "services";
const ENDPOINTS = "endpoints";
const SLICES = "endpointslices.discovery.k8s.io";

/** Notes behind each service which pods answer for it. */
export const services: Controller = {
  name: "service",
  concerns({ resource, object, previous, type }, view): readonly Place[] {
    if (resource === SERVICES) return [placeOf(SERVICES, object)];
    if (resource === ENDPOINTS) return type === "DELETED" ? [{ ...placeOf(SERVICES, object) }] : [];
    if (resource !== "pods") return [];
    const labels = [object.metadata.labels ?? {}, previous?.metadata.labels ?? {}];
    return (view.list(SERVICES, object.metadata.namespace) as readonly Service[])
      .filter(({ spec }) => labels.some((one) => isSelected(spec.selector, one)))
      .map((service) => placeOf(SERVICES, service));
  },
  step({ name, namespace }, view) {
    const service = view.get(SERVICES, name, namespace) as Service | null;
    if (!service) return withoutService(name, namespace, view);
    const pods = (view.list("pods", namespace) as readonly Pod[]).filter((pod) =>
      isSelected(service.spec.selector, pod.metadata.labels),
    );
    return stepService(service, pods, view);
  },
};

const isSelected = (selector: Labels | undefined, labels: Labels = {}): boolean =>
  selector !== undefined && Object.keys(selector).length > 0 && hasAll(labels, selector);

function stepService(service: Service, pods: readonly Pod[], view: Pick<View, "get">): Outcome {
  if (isDeleting(service)) return NOTHING;
  const reachable = pods
    .filter((pod) => !isFinished(pod) && pod.status?.podIP !== undefined)
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const hasSelector = Object.keys(service.spec.selector ?? {}).length > 0;
  return {
    writes: [
      ...(hasSelector
        ? [
            ...replaced(ENDPOINTS, endpointsOf(service, reachable), "subsets", view),
            ...replaced(SLICES, endpointSliceOf(service, reachable), "endpoints", view),
          ]
        : []),
      ...addressed(service),
    ],
    wakeAtMs: null,
  };
}

/** Written only when there is something new in it. */
function replaced(resource: string, wanted: KubeObject, field: string, view: Pick<View, "get">): Write[] {
  const { name, namespace } = wanted.metadata;
  const stored = view.get(resource, name, namespace);
  if (!stored) return [{ verb: "create", resource, object: wanted }];
  const isSame = [field, "ports"].every((one) => isDeepStrictEqual(stored[one] ?? [], wanted[one] ?? []));
  if (isSame) return [];
  return [{ verb: "patch", resource, name, namespace, patch: { [field]: wanted[field] ?? null, ...portsOf(wanted) } }];
}

const portsOf = ({ ports }: KubeObject) => (ports === undefined ? {} : { ports });

/** From a range that documents use: nobody answers there, and nobody else has it. */
function addressed(service: Service): Write[] {
  if (service.spec.type !== "LoadBalancer") return [];
  const ip = `192.0.2.${1 + (numberOf(service.metadata.uid ?? "") % 254)}`;
  return statusWrites(SERVICES, service, { loadBalancer: { ingress: [{ ip, ipMode: "VIP" }] } });
}

/** A slice goes with the service that owns it; endpoints have no owner. */
function withoutService(name: string, namespace: string | undefined, view: View): Outcome {
  const endpoints = view.get(ENDPOINTS, name, namespace);
  return { writes: endpoints ? [deletion(ENDPOINTS, endpoints)] : [], wakeAtMs: null };
}
