import type { KubeObject } from "../store/kube-object.ts";
import type { GroupResource } from "../store/store.ts";
import { BUILT_IN, customResources, type Resource } from "./resource.ts";

const BY_ID: ReadonlyMap<GroupResource, Resource> = new Map(BUILT_IN.map((resource) => [resource.id, resource]));
const BY_PATH: ReadonlyMap<string, Resource> = new Map(BUILT_IN.map((resource) => [pathKey(resource), resource]));

function pathKey({ group, version, plural }: Pick<Resource, "group" | "version" | "plural">): string {
  return `${group}/${version}/${plural}`;
}

/** The kinds that one cluster serves: those of Kubernetes, and those of its custom resource definitions. */
export class Registry {
  readonly #custom = new Map<string, readonly Resource[]>();
  /** Grows with each change, so that documents made from it are known to be old. */
  revision = 0;

  define(definition: KubeObject): void {
    this.#custom.set(definition.metadata.name, customResources(definition["spec"]));
    this.revision += 1;
  }

  forget(name: string): void {
    if (this.#custom.delete(name)) this.revision += 1;
  }

  /** Stored kinds by their name; the first version that is served stands for all. */
  byId(id: GroupResource): Resource | undefined {
    return BY_ID.get(id) ?? this.#custom.get(id)?.[0];
  }

  byPath(group: string, version: string, plural: string): Resource | undefined {
    const key = pathKey({ group, version, plural });
    return BY_PATH.get(key) ?? this.#custom.get(`${plural}.${group}`)?.find((resource) => resource.version === version);
  }

  /** Every kind in every version. */
  all(): readonly Resource[] {
    return [...BUILT_IN, ...this.custom()];
  }

  custom(): readonly Resource[] {
    return [...this.#custom.values()].flat();
  }
}
