import type { KubeObject } from "../store/kube-object.ts";
import { isRecord, isSame, type JsonRecord } from "./fields/typed-value.ts";
import { type Core, timestamp } from "./ports.ts";
import type { Resource } from "./resource.ts";
import { addressed, readdressed } from "./service-addresses.ts";
import { at, recordAt, recordsAt, textAt } from "./validation/metadata.ts";

/** Kinds whose spec has a generation. */
const COUNTED = new Set([
  "pods",
  "deployments.apps",
  "replicasets.apps",
  "statefulsets.apps",
  "daemonsets.apps",
  "jobs.batch",
  "cronjobs.batch",
  "horizontalpodautoscalers.autoscaling",
  "ingresses.networking.k8s.io",
  "ingressclasses.networking.k8s.io",
  "networkpolicies.networking.k8s.io",
  "poddisruptionbudgets.policy",
  "customresourcedefinitions.apiextensions.k8s.io",
]);

const isCounted = ({ id, custom }: Resource): boolean => custom !== null || COUNTED.has(id);

/** Sets the fields that the server fills in on creation. They have no manager. */
export function preparedForCreate(core: Core, resource: Resource, object: KubeObject): KubeObject {
  const filled = fillers[resource.id]?.(core, object) ?? object;
  return isCounted(resource) ? { ...filled, metadata: { ...filled.metadata, generation: 1 } } : filled;
}

/** Sets the fields that the server keeps or counts on an update. */
export function preparedForUpdate(core: Core, resource: Resource, live: KubeObject, next: KubeObject): KubeObject {
  const kept = resource.id === "services" ? readdressed(core, live, next) : next;
  if (!isCounted(resource)) return kept;
  const generation = (live.metadata.generation ?? 0) + (isSame(wanted(resource, live), wanted(resource, kept)) ? 0 : 1);
  return { ...kept, metadata: { ...kept.metadata, generation } };
}

/** The desired part of an object, without its status. */
function wanted({ custom, subresources }: Resource, object: KubeObject): unknown {
  if (!custom) return object["spec"];
  const { metadata: _, status, ...rest } = object;
  return subresources.includes("status") ? rest : { ...rest, status };
}

const fillers: Readonly<Record<string, (core: Core, object: KubeObject) => KubeObject>> = {
  services: addressed,
  namespaces: (_, namespace) => ({ ...namespace, spec: { finalizers: ["kubernetes"] } }),
  pods: (_, pod) => filledPod(pod),
  "jobs.batch": (_, job) => labelledJob(job),
  persistentvolumeclaims: (core, claim) => withProtection(withStorageClass(core, claim)),
  "customresourcedefinitions.apiextensions.k8s.io": (core, definition) => established(core, definition),
};

function filledPod(pod: KubeObject): KubeObject {
  const spec = recordAt(pod, "spec");
  const account = textAt(spec, "serviceAccountName") || "default";
  return {
    ...pod,
    spec: {
      ...spec,
      serviceAccountName: account,
      serviceAccount: account,
      ...(at(spec, "priority") === undefined ? { priority: 0, preemptionPolicy: "PreemptLowerPriority" } : {}),
    },
    status: { phase: "Pending", qosClass: serviceClass(recordsAt(spec, "containers")) },
  };
}

function serviceClass(containers: readonly JsonRecord[]): string {
  const resources = containers.map((container) => recordAt(container, "resources"));
  if (
    resources.every((one) => Object.keys({ ...recordAt(one, "limits"), ...recordAt(one, "requests") }).length === 0)
  ) {
    return "BestEffort";
  }
  const isGuaranteed = resources.every(
    (one) =>
      ["cpu", "memory"].every((name) => at(one, "limits", name) !== undefined) &&
      isSame(at(one, "limits"), at(one, "requests")),
  );
  return isGuaranteed ? "Guaranteed" : "Burstable";
}

/** Pods of a job are found by labels that no other job has. */
function labelledJob(job: KubeObject): KubeObject {
  const spec = recordAt(job, "spec");
  if (at(spec, "manualSelector") === true) return job;
  const { uid = "", name } = job.metadata;
  const labels = {
    "batch.kubernetes.io/controller-uid": uid,
    "batch.kubernetes.io/job-name": name,
    "controller-uid": uid,
    "job-name": name,
  };
  const template = recordAt(spec, "template");
  const metadata = {
    ...recordAt(template, "metadata"),
    labels: { ...recordAt(template, "metadata", "labels"), ...labels },
  };
  return {
    ...job,
    // The labels of the pods become those of a job that has none of its own.
    metadata: { ...job.metadata, labels: job.metadata.labels ?? labels },
    spec: {
      ...spec,
      selector: { matchLabels: { "batch.kubernetes.io/controller-uid": uid } },
      template: { ...template, metadata },
    },
  };
}

const DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class";

function withStorageClass({ table }: Core, claim: KubeObject): KubeObject {
  const spec = recordAt(claim, "spec");
  const chosen = table
    .list("storageclasses.storage.k8s.io")
    .find((one) => one.metadata.annotations?.[DEFAULT_CLASS] === "true");
  if (at(spec, "storageClassName") !== undefined || !chosen) return claim;
  return { ...claim, spec: { ...spec, storageClassName: chosen.metadata.name } };
}

/** A claim stays as long as a pod uses it. */
function withProtection(claim: KubeObject): KubeObject {
  const finalizers = new Set([...(claim.metadata.finalizers ?? []), "kubernetes.io/pvc-protection"]);
  return { ...claim, metadata: { ...claim.metadata, finalizers: [...finalizers] } };
}

function established(core: Core, definition: KubeObject): KubeObject {
  const { names, versions } = recordAt(definition, "spec");
  const stored = Array.isArray(versions) ? versions.filter(isRecord).filter(({ storage }) => storage === true) : [];
  const condition = (type: string, reason: string, message: string) => ({
    type,
    status: "True",
    lastTransitionTime: timestamp(core),
    reason,
    message,
  });
  return {
    ...definition,
    status: {
      acceptedNames: names,
      conditions: [
        condition("NamesAccepted", "NoConflicts", "no conflicts found"),
        condition("Established", "InitialNamesAccepted", "the initial names have been accepted"),
      ],
      storedVersions: stored.map(({ name }) => name),
    },
  };
}
