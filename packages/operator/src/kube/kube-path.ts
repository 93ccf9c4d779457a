import type { KubeObject, Namespace, ResourceType } from "./kube-client.ts";
import { KubeError } from "./kube-error.ts";

export interface Place {
  readonly namespace?: Namespace;
  readonly name?: string;
  readonly subresource?: string | undefined;
}

/** The path of an object, or of all objects of a kind. */
export function pathOf(type: ResourceType, { namespace, name, subresource }: Place = {}): string {
  if (type.namespaced && name !== undefined && !namespace) {
    throw invalid(`The ${type.kind} ${name} needs a namespace.`);
  }
  const inNamespace = type.namespaced && namespace ? ["namespaces", namespace] : [];
  const steps = [
    ...inNamespace,
    type.plural,
    ...(name === undefined ? [] : [name]),
    ...(subresource ? [subresource] : []),
  ];
  return `${groupPath(type.group, type.version)}/${steps.map(step).join("/")}`;
}

/** The core group has a place of its own. */
export const groupPath = (group: string, version: string): string =>
  group === "" ? `/api/${version}` : `/apis/${group}/${version}`;

/** The object, as one of this kind. */
export function named<T extends KubeObject>(object: T, { group, version, kind }: ResourceType): T {
  return { ...object, apiVersion: group === "" ? version : `${group}/${version}`, kind };
}

/** `apps/v1` is a group and a version, `v1` a version of the core group. */
export function splitApiVersion(apiVersion: string): { readonly group: string; readonly version: string } {
  const [first = "", second] = apiVersion.split("/");
  return second === undefined ? { group: "", version: first } : { group: first, version: second };
}

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export function queryOf(query: Query): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  const text = new URLSearchParams(Object.fromEntries(given.map(([name, value]) => [name, String(value)])));
  return text.size === 0 ? "" : `?${text.toString()}`;
}

/** A name that means something in a path would reach another object than the one it names. */
function step(name: string): string {
  if (name === "" || name === "." || name === ".." || /[/%?#]/.test(name)) {
    throw invalid(`${JSON.stringify(name)} is not a name of a Kubernetes object.`);
  }
  return encodeURIComponent(name);
}

const invalid = (message: string) => new KubeError({ status: 400, reason: "Invalid", message });
