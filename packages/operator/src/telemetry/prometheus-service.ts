import type { KubeObject } from "../kube/kube-client.ts";
import { countIn, listIn, specOf, textIn } from "../kube/object-fields.ts";

/** As the usual ways to install a Prometheus label its Service. */
export const PROMETHEUS_SELECTORS = [
  "app.kubernetes.io/name=prometheus",
  "operated-prometheus=true",
  "app in (prometheus,kube-prometheus-stack-prometheus)",
] as const;

/** The namespaces in which Prometheus is searched by name. */
export const PROMETHEUS_NAMESPACES = ["monitoring", "prometheus", "observability"] as const;

const NAMES = [
  "prometheus-k8s",
  "prometheus-server",
  "kube-prometheus-stack-prometheus",
  "prometheus-kube-prometheus-prometheus",
  "prometheus-operated",
  "prometheus",
];
const PORT_NAMES = ["web", "http-web", "http", "prometheus"];
const PORT = 9_090;

/**
 * Ways through the API server to Services that may be a Prometheus, the likeliest first. Those in namespaces of projects
 * are left out: what somebody runs there would speak for the whole cluster.
 */
export function prometheusPaths(
  services: readonly KubeObject[],
  isProjectNamespace: (namespace: string) => boolean,
): string[] {
  const ranked = services.flatMap((service) => {
    const { namespace = "", name } = service.metadata;
    const port = portOf(service);
    if (port === null || isProjectNamespace(namespace) || specOf(service)["type"] === "ExternalName") return [];
    return [{ rank: rankOf(name), path: `/api/v1/namespaces/${namespace}/services/${name}:${port}/proxy` }];
  });
  const sorted = ranked.sort((a, b) => a.rank - b.rank || (a.path < b.path ? -1 : 1));
  return [...new Set(sorted.map(({ path }) => path))];
}

export const isKnownName = ({ metadata: { name } }: KubeObject): boolean => NAMES.includes(name);

const rankOf = (name: string): number => (NAMES.includes(name) ? NAMES.indexOf(name) : NAMES.length);

function portOf(service: KubeObject): number | null {
  const ports = listIn(specOf(service)["ports"]);
  const named = PORT_NAMES.map((name) => ports.find((port) => textIn(port["name"]) === name)).find(Boolean);
  const found = ports.find((port) => port["port"] === PORT) ?? named;
  return countIn(found?.["port"]) || null;
}
