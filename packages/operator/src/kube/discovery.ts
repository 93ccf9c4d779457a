import type { ResourceType } from "./kube-client.ts";
import { splitApiVersion } from "./kube-path.ts";

interface ApiResource {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** The kinds that the API server lists under a group and version, without their subresources. */
export function typesIn(apiVersion: string, answer: unknown): ReadonlyMap<string, ResourceType> {
  const { resources = [] } = answer as { readonly resources?: readonly ApiResource[] };
  const place = splitApiVersion(apiVersion);
  return new Map(
    resources
      .filter(({ name }) => !name.includes("/"))
      .map(({ name, kind, namespaced }) => [kind, { ...place, plural: name, kind, namespaced }]),
  );
}
