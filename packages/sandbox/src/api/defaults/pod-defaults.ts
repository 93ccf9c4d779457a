import { isRecord, type JsonRecord } from "../fields/typed-value.ts";

type Defaults = Readonly<Record<string, (value: JsonRecord) => JsonRecord>>;

const PROBE = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };
const FILE_MODE = { defaultMode: 0o644 };

export const POD_DEFAULTS: Defaults = {
  "core.v1.PodSpec": (spec) => {
    const account = spec["serviceAccountName"] || spec["serviceAccount"];
    return {
      ...whenEmpty(spec, { dnsPolicy: "ClusterFirst", restartPolicy: "Always", schedulerName: "default-scheduler" }),
      ...whenAbsent(spec, { securityContext: {}, terminationGracePeriodSeconds: 30 }),
      ...(account ? { serviceAccountName: account, serviceAccount: account } : {}),
      ...(spec["hostNetwork"] === true ? { containers: listOf(spec["containers"]).map(withHostPorts) } : {}),
    };
  },
  "core.v1.Pod": ({ spec: given }) => {
    const spec = isRecord(given) ? given : {};
    const filled = { ...spec, ...whenAbsent(spec, { enableServiceLinks: true }) };
    const lists = ["containers", "initContainers"].filter((name) => Array.isArray(spec[name]));
    return {
      spec: { ...filled, ...Object.fromEntries(lists.map((name) => [name, listOf(spec[name]).map(withRequests)])) },
    };
  },
  "core.v1.PodStatus": ({ podIP, podIPs }) => (podIP && !podIPs ? { podIPs: [{ ip: podIP }] } : {}),
  "core.v1.Container": (container) =>
    whenEmpty(container, {
      imagePullPolicy: pullPolicy(container["image"]),
      terminationMessagePath: "/dev/termination-log",
      terminationMessagePolicy: "File",
    }),
  "core.v1.ContainerPort": (port) => whenEmpty(port, { protocol: "TCP" }),
  "core.v1.Probe": (probe) => whenEmpty(probe, PROBE),
  "core.v1.HTTPGetAction": (action) => whenEmpty(action, { path: "/", scheme: "HTTP" }),
  "core.v1.GRPCAction": (action) => whenAbsent(action, { service: "" }),
  "core.v1.Volume": (volume) => {
    const hasSource = Object.entries(volume).some(([name, value]) => name !== "name" && value !== null);
    return hasSource ? {} : { emptyDir: {} };
  },
  "core.v1.ImageVolumeSource": (source) => whenEmpty(source, { pullPolicy: pullPolicy(source["reference"]) }),
  "core.v1.SecretVolumeSource": (source) => whenAbsent(source, FILE_MODE),
  "core.v1.ConfigMapVolumeSource": (source) => whenAbsent(source, FILE_MODE),
  "core.v1.DownwardAPIVolumeSource": (source) => whenAbsent(source, FILE_MODE),
  "core.v1.ProjectedVolumeSource": (source) => whenAbsent(source, FILE_MODE),
  "core.v1.ServiceAccountTokenProjection": (source) => whenAbsent(source, { expirationSeconds: 3600 }),
  "core.v1.ObjectFieldSelector": (selector) => whenEmpty(selector, { apiVersion: "v1" }),
  "core.v1.HostPathVolumeSource": (source) => whenAbsent(source, { type: "" }),
  "core.v1.ISCSIVolumeSource": (source) => whenEmpty(source, { iscsiInterface: "default" }),
};

const listOf = (value: unknown): readonly JsonRecord[] => (Array.isArray(value) ? value.filter(isRecord) : []);

/** A limit is also the request, unless a request is set. */
function withRequests(container: JsonRecord): JsonRecord {
  const { resources } = container;
  if (!isRecord(resources) || !isRecord(resources["limits"])) return container;
  const requests = { ...resources["limits"], ...(isRecord(resources["requests"]) ? resources["requests"] : {}) };
  return { ...container, resources: { ...resources, requests } };
}

function withHostPorts(container: JsonRecord): JsonRecord {
  if (!Array.isArray(container["ports"])) return container;
  const ports = listOf(container["ports"]).map((port) => ({
    ...port,
    hostPort: port["hostPort"] || port["containerPort"],
  }));
  return { ...container, ports };
}

/** An image without a tag, or with the tag `latest`, may be another one tomorrow. */
function pullPolicy(image: unknown): string {
  const name = typeof image === "string" ? image : "";
  if (name.includes("@")) return "IfNotPresent";
  const tag = /:([^/:]+)$/.exec(name)?.[1] ?? "latest";
  return tag === "latest" ? "Always" : "IfNotPresent";
}

/** The fields that the value does not have. */
export function whenAbsent(value: JsonRecord, defaults: JsonRecord): JsonRecord {
  return Object.fromEntries(
    Object.entries(defaults).filter(([name]) => value[name] === undefined || value[name] === null),
  );
}

/** The fields that the value does not have, or has as an empty text or a zero. */
export function whenEmpty(value: JsonRecord, defaults: JsonRecord): JsonRecord {
  return Object.fromEntries(Object.entries(defaults).filter(([name]) => !value[name]));
}
