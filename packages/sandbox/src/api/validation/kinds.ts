import { type FieldProblem, invalidValue, notSupported, required } from "../fault.ts";
import type { JsonRecord } from "../fields/typed-value.ts";
import { at, recordAt, recordsAt, subdomainProblem, textAt } from "./metadata.ts";
import { isPort, podSpecProblems } from "./pod-spec.ts";
import { autoscalerProblems, cronJobProblems, jobSpecProblems, workloadProblems } from "./workloads.ts";

type Rule = (object: JsonRecord) => FieldProblem[];

const RULES: Readonly<Record<string, Rule>> = {
  pods: (pod) => podSpecProblems(recordAt(pod, "spec"), "spec"),
  "deployments.apps": workloadProblems,
  "replicasets.apps": workloadProblems,
  "statefulsets.apps": workloadProblems,
  "daemonsets.apps": workloadProblems,
  "jobs.batch": (job) => jobSpecProblems(recordAt(job, "spec"), "spec"),
  "cronjobs.batch": cronJobProblems,
  "horizontalpodautoscalers.autoscaling": autoscalerProblems,
  "leases.coordination.k8s.io": leaseProblems,
  services: serviceProblems,
  persistentvolumeclaims: claimProblems,
  configmaps: (map) => [...keyProblems(map, "data"), ...keyProblems(map, "binaryData")],
  secrets: (secret) => [...keyProblems(secret, "data"), ...secretSizeProblems(secret), ...secretTypeProblems(secret)],
  "ingresses.networking.k8s.io": ingressProblems,
  "customresourcedefinitions.apiextensions.k8s.io": definitionProblems,
};

export const kindProblems = (resource: string, object: JsonRecord): FieldProblem[] => RULES[resource]?.(object) ?? [];

const SERVICE_TYPES = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];

function serviceProblems(service: JsonRecord): FieldProblem[] {
  const spec = recordAt(service, "spec");
  const type = textAt(spec, "type");
  const ports = recordsAt(spec, "ports");
  const isPortless = type === "ExternalName" || textAt(spec, "clusterIP") === "None";
  return [
    ...(ports.length === 0 && !isPortless ? [required("spec.ports")] : []),
    ...ports.flatMap((port, index) => [
      ...(ports.length > 1 && textAt(port, "name") === "" ? [required(`spec.ports[${index}].name`)] : []),
      ...(isPort(at(port, "port"))
        ? []
        : [invalidValue(`spec.ports[${index}].port`, at(port, "port") ?? 0, "must be between 1 and 65535, inclusive")]),
    ]),
    ...(SERVICE_TYPES.includes(type) ? [] : [notSupported("spec.type", type, SERVICE_TYPES)]),
    ...(type === "ExternalName" && textAt(spec, "externalName") === "" ? [required("spec.externalName")] : []),
  ];
}

function leaseProblems(lease: JsonRecord): FieldProblem[] {
  const { leaseDurationSeconds: duration, leaseTransitions: transitions } = recordAt(lease, "spec");
  return [
    ...(typeof duration === "number" && duration <= 0
      ? [invalidValue("spec.leaseDurationSeconds", duration, "must be greater than 0")]
      : []),
    ...(typeof transitions === "number" && transitions < 0
      ? [invalidValue("spec.leaseTransitions", transitions, "must be greater than or equal to 0")]
      : []),
  ];
}

function claimProblems(claim: JsonRecord): FieldProblem[] {
  const modes = at(claim, "spec", "accessModes");
  const storage = at(claim, "spec", "resources", "requests", "storage");
  return [
    ...(Array.isArray(modes) && modes.length > 0
      ? []
      : [required("spec.accessModes", "at least 1 access mode is required")]),
    ...(storage === undefined ? [required("spec.resources[storage]")] : []),
  ];
}

function keyProblems(object: JsonRecord, field: string): FieldProblem[] {
  const why =
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
  return Object.keys(recordAt(object, field))
    .filter((key) => !/^[-._a-zA-Z0-9]+$/.test(key))
    .map((key) => invalidValue(`${field}[${key}]`, key, why));
}

const LARGEST_SECRET_BYTES = 1_048_576;

/** What counts is the content and not its form in base64. */
function secretSizeProblems(secret: JsonRecord): FieldProblem[] {
  const values = Object.values(recordAt(secret, "data")).filter((value) => typeof value === "string");
  const bytes = values.reduce((sum, value) => sum + Buffer.byteLength(value, "base64"), 0);
  const message = `Too long: may not be more than ${LARGEST_SECRET_BYTES} bytes`;
  return bytes > LARGEST_SECRET_BYTES ? [{ reason: "FieldValueTooLong", field: "data", message }] : [];
}

/** The keys that Secrets of these types must have. */
const SECRET_KEYS: Readonly<Record<string, readonly string[]>> = {
  "kubernetes.io/dockerconfigjson": [".dockerconfigjson"],
  "kubernetes.io/dockercfg": [".dockercfg"],
  "kubernetes.io/tls": ["tls.crt", "tls.key"],
  "kubernetes.io/ssh-auth": ["ssh-privatekey"],
};

function secretTypeProblems(secret: JsonRecord): FieldProblem[] {
  const data = recordAt(secret, "data");
  const missing = (SECRET_KEYS[textAt(secret, "type")] ?? []).filter((key) => data[key] === undefined);
  return missing.map((key) => required(`data[${key}]`));
}

function pathProblems(path: JsonRecord, field: string): FieldProblem[] {
  const type = textAt(path, "pathType");
  if (type === "") return [required(`${field}.pathType`, "pathType must be specified")];
  if (type === "ImplementationSpecific") return [];
  const text = textAt(path, "path");
  const within = ["//", "/./", "/../", "%2f", "%2F"].filter((sequence) => text.includes(sequence));
  const atEnd = ["/..", "/."].filter((end) => text.endsWith(end));
  return [
    ...within.map((sequence) => invalidValue(`${field}.path`, text, `must not contain '${sequence}'`)),
    ...atEnd.map((end) => invalidValue(`${field}.path`, text, `cannot end with '${end}'`)),
  ];
}

function ingressProblems(ingress: JsonRecord): FieldProblem[] {
  return recordsAt(ingress, "spec", "rules").flatMap((rule, index) => {
    const field = `spec.rules[${index}]`;
    const host = textAt(rule, "host");
    const problem = host === "" ? null : subdomainProblem(host.replace(/^\*\./, ""));
    const paths = recordsAt(rule, "http", "paths").flatMap((path, inner) =>
      pathProblems(path, `${field}.http.paths[${inner}]`),
    );
    return [...(problem ? [invalidValue(`${field}.host`, host, problem)] : []), ...paths];
  });
}

function definitionProblems(definition: JsonRecord): FieldProblem[] {
  const spec = recordAt(definition, "spec");
  const expected = `${textAt(spec, "names", "plural")}.${textAt(spec, "group")}`;
  const name = textAt(definition, "metadata", "name");
  const versions = recordsAt(spec, "versions");
  return [
    ...(name === expected ? [] : [invalidValue("metadata.name", name, 'must be spec.names.plural+"."+spec.group')]),
    ...["group", "scope"].filter((field) => textAt(spec, field) === "").map((field) => required(`spec.${field}`)),
    ...["plural", "kind"]
      .filter((field) => textAt(spec, "names", field) === "")
      .map((field) => required(`spec.names.${field}`)),
    ...(versions.length === 0 ? [required("spec.versions")] : []),
    ...versions.flatMap((version, index) =>
      at(version, "schema", "openAPIV3Schema") === undefined
        ? [required(`spec.versions[${index}].schema.openAPIV3Schema`, "schemas are required")]
        : [],
    ),
  ];
}
