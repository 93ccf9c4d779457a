import { pathNotFound } from "../fault.ts";
import type { Resource, ServedResources } from "../resource.ts";

/** The target of a path below a group and version. */
export interface Route {
  readonly resource: Resource;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string;
}

export interface GroupPath {
  readonly group: string;
  readonly version: string;
  readonly rest: readonly string[];
}

/** `/api/v1/pods` and `/apis/apps/v1/deployments`, as the group, the version and the rest. */
export function groupPath(path: string): GroupPath | null {
  const [root, ...steps] = path
    .split("/")
    .filter((step) => step !== "")
    .map(decodeURIComponent);
  if (root === "api") {
    const [version, ...rest] = steps;
    return version === undefined ? null : { group: "", version, rest };
  }
  const [group, version, ...rest] = steps;
  return root !== "apis" || group === undefined || version === undefined ? null : { group, version, rest };
}

export function routeOf(served: ServedResources, { group, version, rest }: GroupPath): Route {
  const [first, second, third, ...others] = rest;
  const isInNamespace = first === "namespaces" && third !== undefined && !isOfNamespaces(group, third);
  const [plural, name, ...sub] = isInNamespace ? [third, ...others] : rest;
  const resource = served.byPath(group, version, plural ?? "");
  if (!resource || (isInNamespace && !resource.namespaced)) throw pathNotFound();
  const subresource = sub.join("/");
  if (subresource !== "" && !resource.subresources.includes(sub[0] ?? "")) throw pathNotFound();
  if (resource.namespaced && !isInNamespace && name !== undefined) throw pathNotFound();
  return { resource, namespace: isInNamespace ? second : undefined, name, subresource };
}

const isOfNamespaces = (group: string, step: string): boolean =>
  group === "" && (step === "status" || step === "finalize");
