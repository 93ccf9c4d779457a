import type { KubeObject } from "../../store/kube-object.ts";
import { labelMatcher } from "../../store/selectors.ts";
import { notFound, pathNotFound } from "../fault.ts";
import type { Core, Usage, UsageSource } from "../ports.ts";
import { type ApiRequest, type ApiResponse, json } from "./message.ts";

export const METRICS_GROUP = "metrics.k8s.io";
export const METRICS_VERSION = "v1beta1";
const API_VERSION = `${METRICS_GROUP}/${METRICS_VERSION}`;

/** The usage of pods and nodes, as the metrics server reports it. */
export function metrics(
  { table }: Core,
  source: UsageSource,
  rest: readonly string[],
  request: ApiRequest,
): ApiResponse {
  const [first, second, third, fourth] = rest;
  const matches = labelMatcher(request.query.get("labelSelector") ?? "");
  if (first === "nodes")
    return answer("NodeMetrics", "nodes", table.list("nodes"), (node) => nodeMetrics(source, node), second, matches);
  const isInNamespace = first === "namespaces" && third === "pods";
  if (!isInNamespace && !(first === "pods" && second === undefined)) throw pathNotFound();
  const pods = table.list("pods", isInNamespace ? second : undefined);
  return answer("PodMetrics", "pods", pods, (pod) => podMetrics(source, pod), fourth, matches);
}

function answer(
  kind: string,
  plural: string,
  objects: readonly KubeObject[],
  measure: (object: KubeObject) => object | null,
  name: string | undefined,
  matches: (object: KubeObject) => boolean,
): ApiResponse {
  if (name !== undefined) {
    const found = objects.find((object) => object.metadata.name === name);
    const measured = found ? measure(found) : null;
    if (!measured) throw notFound({ group: METRICS_GROUP, plural }, name);
    return json(200, { kind, apiVersion: API_VERSION, ...measured });
  }
  const items = objects
    .filter(matches)
    .map(measure)
    .filter((one) => one !== null);
  return json(200, { kind: `${kind}List`, apiVersion: API_VERSION, metadata: {}, items });
}

const rounded = (atMs: number) => `${new Date(atMs).toISOString().slice(0, 19)}Z`;

function named({ metadata: { name, namespace, labels, creationTimestamp } }: KubeObject) {
  return { metadata: { name, ...(namespace ? { namespace } : {}), ...(labels ? { labels } : {}), creationTimestamp } };
}

const quantities = ({ cpuNanocores, memoryBytes }: Usage) => ({
  cpu: cpuNanocores === 0 ? "0" : `${Math.round(cpuNanocores)}n`,
  memory: `${Math.round(memoryBytes / 1024)}Ki`,
});

function nodeMetrics(source: UsageSource, node: KubeObject): object | null {
  const usage = source.node(node);
  if (!usage) return null;
  return {
    ...named(node),
    timestamp: rounded(usage.atMs),
    window: `${usage.windowSeconds}s`,
    usage: quantities(usage),
  };
}

function podMetrics(source: UsageSource, pod: KubeObject): object | null {
  const usage = source.pod(pod);
  if (!usage) return null;
  const containers = usage.containers.map((container) => ({ name: container.name, usage: quantities(container) }));
  return { ...named(pod), timestamp: rounded(usage.atMs), window: `${usage.windowSeconds}s`, containers };
}
