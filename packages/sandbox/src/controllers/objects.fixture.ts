import type { ObjectDraft } from "../store/kube-object.ts";
import type { PodSpec } from "./pod.ts";

const LABELS = { app: "web" };

interface TemplateOptions {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec?: Partial<PodSpec>;
  readonly image?: string;
}

export const template = ({ annotations = {}, spec = {}, image = "web:1" }: TemplateOptions = {}) => ({
  metadata: { labels: LABELS, annotations },
  spec: { containers: [{ name: "main", image }], ...spec },
});

const workload =
  (apiVersion: string, kind: string) =>
  (name: string, spec: object = {}): ObjectDraft => ({
    apiVersion,
    kind,
    metadata: { name, namespace: "default" },
    spec: { selector: { matchLabels: LABELS }, template: template(), ...spec },
  });

export const deployment = workload("apps/v1", "Deployment");
export const replicaSet = workload("apps/v1", "ReplicaSet");
export const statefulSet = workload("apps/v1", "StatefulSet");
export const daemonSet = workload("apps/v1", "DaemonSet");

export const job = (name: string, spec: object = {}, options: TemplateOptions = {}): ObjectDraft => ({
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { name, namespace: "default" },
  spec: { template: template({ ...options, spec: { restartPolicy: "Never", ...options.spec } }), ...spec },
});

export const cronJob = (name: string, spec: object): ObjectDraft => ({
  apiVersion: "batch/v1",
  kind: "CronJob",
  metadata: { name, namespace: "default" },
  spec: { jobTemplate: { spec: job("run")["spec"] }, ...spec },
});

export const barePod = (name: string, options: TemplateOptions = {}): ObjectDraft => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "default", labels: LABELS, annotations: options.annotations ?? {} },
  spec: template(options).spec,
});

export const namespace = (name: string): ObjectDraft => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } });

export const configMap = (name: string, metadata: Partial<ObjectDraft["metadata"]> = {}): ObjectDraft => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "default", ...metadata },
});
