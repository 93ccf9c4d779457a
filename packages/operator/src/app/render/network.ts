import { ingressPort, servedPorts } from "@binnacle/contract";
import type { KubeObject } from "../../kube/kube-client.ts";
import { objectOf, present, someOf, type WorkloadContext } from "./component-context.ts";

const servicePorts = (context: WorkloadContext) =>
  someOf(
    servedPorts(context.component).map(({ name, port, protocol = "TCP" }) => ({
      name,
      port,
      protocol,
      targetPort: port,
    })),
  );

/**
 * A StatefulSet has a second Service, without an address, that gives each replica a name, also before it is ready: peers
 * find each other while they start. It is apart from the first because an address can neither be taken away nor given.
 */
export function serviceObjects(context: WorkloadContext): KubeObject[] {
  const { names, selector, spec } = context;
  const ports = servicePorts(context);
  return [
    ...(ports
      ? [objectOf(context, "v1", "Service", names.base, { spec: { type: "ClusterIP", selector, ports } })]
      : []),
    ...(spec.kind === "statefulset"
      ? [
          objectOf(context, "v1", "Service", names.headless, {
            spec: present({ type: "ClusterIP", clusterIP: "None", publishNotReadyAddresses: true, selector, ports }),
          }),
        ]
      : []),
  ];
}

/** Controllers such as cert-manager watch for this annotation, request the certificate and write it into the Secret. */
const CERTIFICATE_ANNOTATION = { "kubernetes.io/tls-acme": "true" };

export function ingressObjects(context: WorkloadContext): KubeObject[] {
  const { spec, names, labels, namespace } = context;
  const { ingress } = spec;
  const port = ingressPort(spec);
  if (!ingress || port === undefined) return [];
  const { host, path = "/", tls = false, class: ingressClassName } = ingress;
  const backend = { service: { name: names.base, port: { number: port } } };
  return [
    {
      apiVersion: "networking.k8s.io/v1",
      kind: "Ingress",
      metadata: present({ name: names.base, namespace, labels, annotations: tls ? CERTIFICATE_ANNOTATION : undefined }),
      spec: present({
        ingressClassName,
        tls: tls ? [{ hosts: [host], secretName: names.tls }] : undefined,
        rules: [{ host, http: { paths: [{ path, pathType: "Prefix", backend }] } }],
      }),
    },
  ];
}
