import type { KubeObject } from "../store/kube-object.ts";
import { freeSuffix } from "./fingerprint.ts";
import { ownedBy } from "./owners.ts";
import { isDeleting, isReady, type Pod } from "./pod.ts";
import type { Service } from "./service.ts";
import { present } from "./writes.ts";

const SERVICE_LABEL = "kubernetes.io/service-name";

type ServicePort = NonNullable<Service["spec"]["ports"]>[number];

/** A port by name is the one that the first pod has under it. */
function targetOf({ targetPort, port }: ServicePort, pods: readonly Pod[]): number | null {
  if (targetPort === undefined) return port;
  if (typeof targetPort === "number") return targetPort;
  const named = pods
    .flatMap(({ spec }) => spec.containers)
    .flatMap(({ ports = [] }) => ports)
    .find(({ name }) => name === targetPort);
  return named?.containerPort ?? null;
}

const portsOf = ({ spec }: Service, pods: readonly Pod[]): object[] =>
  (spec.ports ?? []).flatMap((one) => {
    const port = targetOf(one, pods);
    const { name, protocol = "TCP", appProtocol } = one;
    return port === null ? [] : [present({ name, port, protocol, appProtocol })];
  });

const isServing = ({ spec }: Service, pod: Pod): boolean => isReady(pod) || spec.publishNotReadyAddresses === true;

const reference = ({ metadata }: Pod) =>
  present({ kind: "Pod", name: metadata.name, namespace: metadata.namespace, uid: metadata.uid });

export function endpointsOf(service: Service, pods: readonly Pod[]): KubeObject {
  const { name, namespace, labels } = service.metadata;
  const address = (pod: Pod) => ({ ip: pod.status?.podIP, nodeName: pod.spec.nodeName, targetRef: reference(pod) });
  const staying = pods.filter((pod) => !isDeleting(pod));
  const addresses = staying.filter((pod) => isServing(service, pod)).map(address);
  const notReadyAddresses = staying.filter((pod) => !isServing(service, pod)).map(address);
  const subset = present({
    addresses: addresses.length > 0 ? addresses : undefined,
    notReadyAddresses: notReadyAddresses.length > 0 ? notReadyAddresses : undefined,
    ports: portsOf(service, pods),
  });
  return {
    apiVersion: "v1",
    kind: "Endpoints",
    metadata: present({ name, namespace, labels }),
    ...(staying.length > 0 ? { subsets: [subset] } : {}),
  };
}

export function endpointSliceOf(service: Service, pods: readonly Pod[]): KubeObject {
  const { name, namespace, labels, uid = "" } = service.metadata;
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: present({
      name: `${name}-${freeSuffix(uid, () => false)}`,
      generateName: `${name}-`,
      namespace,
      labels: {
        ...labels,
        [SERVICE_LABEL]: name,
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
      },
      ownerReferences: [ownedBy(service)],
    }),
    addressType: "IPv4",
    endpoints: pods.map((pod) => ({
      addresses: [pod.status?.podIP],
      conditions: {
        ready: isServing(service, pod) && !isDeleting(pod),
        serving: isServing(service, pod),
        terminating: isDeleting(pod),
      },
      nodeName: pod.spec.nodeName,
      targetRef: reference(pod),
    })),
    ports: portsOf(service, pods),
  };
}
