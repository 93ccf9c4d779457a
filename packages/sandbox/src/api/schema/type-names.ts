/** Where the types of Kubernetes live in its OpenAPI documents; here only the last parts of the names are used. */
const PREFIXES: Readonly<Record<string, string>> = {
  meta: "io.k8s.apimachinery.pkg.apis.meta",
  apiextensions: "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions",
  apiregistration: "io.k8s.kube-aggregator.pkg.apis.apiregistration",
};

/** `core.v1.Pod` is `io.k8s.api.core.v1.Pod`. */
export function longName(short: string): string {
  const dot = short.indexOf(".");
  const group = short.slice(0, dot);
  return `${PREFIXES[group] ?? `io.k8s.api.${group}`}${short.slice(dot)}`;
}

export function shortName(long: string): string {
  return long.split(".").slice(-3).join(".");
}
