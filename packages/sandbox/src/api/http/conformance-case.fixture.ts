/** One request, and the status that a real API server of Kubernetes 1.37 answers it with. Requests go one after another. */
export interface Case {
  readonly title: string;
  readonly method: string;
  /** Below the namespace of the test, unless it begins with a slash: `deployments.apps/name?query`. */
  readonly path: string;
  readonly body?: unknown;
  readonly type?: string;
  readonly accept?: string;
  readonly status: number;
}

const MERGE = "application/merge-patch+json";
export const JSON_PATCH = "application/json-patch+json";
export const STRATEGIC = "application/strategic-merge-patch+json";
export const APPLY = "application/apply-patch+yaml";

export const named = (kind: string, name: string, more: object = {}, apiVersion = "v1") => ({
  apiVersion,
  kind,
  metadata: { name },
  ...more,
});
export const config = (name: string, more: object = {}) => named("ConfigMap", name, more);

export const container = { name: "c", image: "nginx:1" };
export const template = (spec: object = {}) => ({
  metadata: { labels: { a: "b" } },
  spec: { containers: [container], ...spec },
});
export const workload = (kind: string, name: string, spec: object = {}) =>
  named(
    kind,
    name,
    { spec: { replicas: 0, selector: { matchLabels: { a: "b" } }, template: template(), ...spec } },
    "apps/v1",
  );
export const job = (name: string, spec: object = {}) =>
  named(
    "Job",
    name,
    { spec: { suspend: true, template: { spec: { restartPolicy: "Never", containers: [container] } }, ...spec } },
    "batch/v1",
  );
export const service = (name: string, spec: object) => named("Service", name, { spec });
export const lease = (spec: object) => named("Lease", "x", { spec }, "coordination.k8s.io/v1");
export const dry = "?dryRun=All";

export const get = (title: string, path: string, status: number): Case => ({ title, method: "GET", path, status });
export const getAs = (title: string, as: string, path: string, status: number): Case => ({
  ...get(title, path, status),
  accept: `application/json;as=${as};g=meta.k8s.io;v=v1`,
});
export const post = (title: string, path: string, status: number, body: unknown): Case => ({
  title,
  method: "POST",
  path,
  status,
  body,
});
export const put = (title: string, path: string, status: number, body: unknown): Case => ({
  title,
  method: "PUT",
  path,
  status,
  body,
});
export const drop = (title: string, path: string, status: number, body?: unknown): Case => ({
  title,
  method: "DELETE",
  path,
  status,
  body,
});
export const patch = (title: string, path: string, status: number, body: unknown, type = MERGE): Case => ({
  title,
  method: "PATCH",
  path,
  status,
  body,
  type,
});
