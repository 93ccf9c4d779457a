import { type Fields, fieldsIn, listIn, textIn } from "../kube/object-fields.ts";

/** The hosts that an Ingress of a chart asks for; none where the object is something else. */
export function ingressHostsOf({ apiVersion, kind, spec }: Fields): string[] {
  if (kind !== "Ingress" || !textIn(apiVersion).startsWith("networking.k8s.io/")) return [];
  return hostsOf(spec);
}

export const hostsOf = (spec: unknown): string[] =>
  listIn(fieldsIn(spec)["rules"]).flatMap(({ host }) => textIn(host).toLowerCase() || []);

/** A wildcard answers for every name below it, because ingress controllers differ in how many labels it stands for. */
export function overlaps(one: string, other: string): boolean {
  const covers = (wide: string, narrow: string) => wide.startsWith("*.") && narrow.endsWith(wide.slice(1));
  return one === other || covers(one, other) || covers(other, one);
}

/** Those of the wanted hosts that another namespace uses already. */
export const takenHosts = (wanted: readonly string[], elsewhere: readonly string[]): string[] => [
  ...new Set(wanted.filter((host) => elsewhere.some((other) => overlaps(host, other)))),
];
