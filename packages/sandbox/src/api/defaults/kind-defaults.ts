import { isRecord, type JsonRecord } from "../fields/typed-value.ts";
import { POD_DEFAULTS, whenAbsent, whenEmpty } from "./pod-defaults.ts";
import { WORKLOAD_DEFAULTS } from "./workload-defaults.ts";

type Defaults = Readonly<Record<string, (value: JsonRecord) => JsonRecord>>;

const RBAC = "rbac.authorization.k8s.io";

const OTHER_DEFAULTS: Defaults = {
  "core.v1.Namespace": ({ metadata }) => {
    if (!isRecord(metadata) || !metadata["name"]) return {};
    const labels = {
      ...(isRecord(metadata["labels"]) ? metadata["labels"] : {}),
      "kubernetes.io/metadata.name": metadata["name"],
    };
    return { metadata: { ...metadata, labels } };
  },
  "core.v1.NamespaceStatus": (status) => whenEmpty(status, { phase: "Active" }),
  "core.v1.NodeStatus": (status) => (status["capacity"] ? whenAbsent(status, { allocatable: status["capacity"] }) : {}),
  "core.v1.Secret": ({ type, data, stringData }) => ({
    ...(type ? {} : { type: "Opaque" }),
    ...(isRecord(stringData)
      ? { stringData: null, data: { ...(isRecord(data) ? data : {}), ...encoded(stringData) } }
      : {}),
  }),
  "core.v1.PersistentVolumeClaimSpec": (spec) => whenAbsent(spec, { volumeMode: "Filesystem" }),
  "core.v1.PersistentVolumeClaimStatus": (status) => whenEmpty(status, { phase: "Pending" }),
  "core.v1.PersistentVolumeSpec": (spec) => ({
    ...whenEmpty(spec, { persistentVolumeReclaimPolicy: "Retain" }),
    ...whenAbsent(spec, { volumeMode: "Filesystem" }),
  }),
  "core.v1.PersistentVolumeStatus": (status) => whenEmpty(status, { phase: "Pending" }),
  "core.v1.ServiceSpec": serviceSpec,
  "core.v1.ServicePort": (port) => whenEmpty(port, { protocol: "TCP", targetPort: port["port"] }),
  "core.v1.EndpointPort": (port) => whenEmpty(port, { protocol: "TCP" }),
  "discovery.v1.EndpointPort": (port) => whenAbsent(port, { protocol: "TCP", name: "" }),
  "networking.v1.NetworkPolicyPort": (port) => whenAbsent(port, { protocol: "TCP" }),
  "networking.v1.NetworkPolicySpec": ({ policyTypes, egress }) => {
    if (Array.isArray(policyTypes) && policyTypes.length > 0) return {};
    return { policyTypes: Array.isArray(egress) && egress.length > 0 ? ["Ingress", "Egress"] : ["Ingress"] };
  },
  "networking.v1.IngressClassParametersReference": (reference) => whenAbsent(reference, { scope: "Cluster" }),
  "rbac.v1.RoleRef": (reference) => whenEmpty(reference, { apiGroup: RBAC }),
  "rbac.v1.Subject": (subject) =>
    subject["kind"] === "User" || subject["kind"] === "Group" ? whenEmpty(subject, { apiGroup: RBAC }) : {},
  "storage.v1.StorageClass": (storage) =>
    whenAbsent(storage, { reclaimPolicy: "Delete", volumeBindingMode: "Immediate" }),
  "apiextensions.v1.CustomResourceDefinitionSpec": ({ names, conversion }) => ({
    ...(isRecord(conversion) ? {} : { conversion: { strategy: "None" } }),
    ...(isRecord(names) && typeof names["kind"] === "string" && names["kind"] !== ""
      ? {
          names: {
            ...names,
            ...whenEmpty(names, { singular: names["kind"].toLowerCase(), listKind: `${names["kind"]}List` }),
          },
        }
      : {}),
  }),
};

const DEFAULTS: Defaults = { ...POD_DEFAULTS, ...WORKLOAD_DEFAULTS, ...OTHER_DEFAULTS };

export function defaultsOf(type: string | undefined, value: JsonRecord): JsonRecord | undefined {
  return type === undefined ? undefined : DEFAULTS[type]?.(value);
}

const encoded = (texts: JsonRecord): JsonRecord =>
  Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [
      name,
      Buffer.from(typeof text === "string" ? text : "").toString("base64"),
    ]),
  );

function serviceSpec(spec: JsonRecord): JsonRecord {
  const type = spec["type"] || "ClusterIP";
  const isExternal = type === "NodePort" || type === "LoadBalancer";
  return {
    type,
    ...whenEmpty(spec, { sessionAffinity: "None" }),
    ...(spec["sessionAffinity"] === "ClientIP"
      ? whenAbsent(spec, { sessionAffinityConfig: { clientIP: { timeoutSeconds: 10_800 } } })
      : { sessionAffinityConfig: null }),
    ...(isExternal ? whenEmpty(spec, { externalTrafficPolicy: "Cluster" }) : {}),
    ...(type === "ExternalName" ? {} : whenAbsent(spec, { internalTrafficPolicy: "Cluster" })),
    ...(type === "LoadBalancer" ? whenAbsent(spec, { allocateLoadBalancerNodePorts: true }) : {}),
  };
}
