import type { KubeObject } from "../store/kube-object.ts";
import type { GroupResource } from "../store/store.ts";
import { isRecord, type JsonRecord } from "./fields/typed-value.ts";
import { KINDS, type Kind } from "./kinds.ts";
import { customSchema } from "./schema/custom-schema.ts";
import { kubernetesSchema } from "./schema/kubernetes-schema.ts";
import type { StructSchema } from "./schema/schema.ts";

/** A kind in one version, with all that the server must know to serve it. */
export interface Resource extends Omit<Kind, "type"> {
  /** Under which its objects are stored, whatever the version. */
  readonly id: GroupResource;
  readonly apiVersion: string;
  readonly schema: StructSchema;
  /** Null for the kinds of Kubernetes itself. */
  readonly custom: CustomKind | null;
}

export interface CustomKind {
  readonly openApi: JsonRecord;
  readonly columns: readonly JsonRecord[];
  readonly selectableFields: readonly string[];
  readonly scale: { readonly specReplicasPath: string; readonly statusReplicasPath: string } | null;
}

const groupResource = (group: string, plural: string): GroupResource => (group === "" ? plural : `${plural}.${group}`);

const apiVersionOf = (group: string, version: string) => (group === "" ? version : `${group}/${version}`);

/** The kinds of Kubernetes itself; all sandboxes of a process share them. */
export const BUILT_IN: readonly Resource[] = KINDS.map(({ type, ...kind }) => ({
  ...kind,
  id: groupResource(kind.group, kind.plural),
  apiVersion: apiVersionOf(kind.group, kind.version),
  get schema() {
    return kubernetesSchema(type);
  },
  custom: null,
}));

interface DefinitionSpec {
  readonly group: string;
  readonly scope: string;
  readonly names: {
    readonly kind: string;
    readonly plural: string;
    readonly singular?: string;
    readonly shortNames?: readonly string[];
    readonly categories?: readonly string[];
  };
  readonly versions: readonly {
    readonly name: string;
    readonly served: boolean;
    readonly schema?: { readonly openAPIV3Schema?: unknown };
    readonly subresources?: { readonly status?: unknown; readonly scale?: CustomKind["scale"] };
    readonly additionalPrinterColumns?: readonly JsonRecord[];
    readonly selectableFields?: readonly { readonly jsonPath: string }[];
  }[];
}

/** The kinds that a custom resource definition makes known, one for each version that is served. */
function customResources(spec: unknown): Resource[] {
  const { group, scope, names, versions } = spec as DefinitionSpec;
  return versions
    .filter(({ served }) => served)
    .map(({ name, schema, subresources = {}, additionalPrinterColumns = [], selectableFields = [] }) => ({
      group,
      version: name,
      plural: names.plural,
      singular: names.singular ?? names.kind.toLowerCase(),
      kind: names.kind,
      namespaced: scope === "Namespaced",
      shortNames: names.shortNames ?? [],
      categories: names.categories ?? [],
      subresources: [...(subresources.status ? ["status"] : []), ...(subresources.scale ? ["scale"] : [])],
      id: groupResource(group, names.plural),
      apiVersion: apiVersionOf(group, name),
      schema: customSchema(schema?.openAPIV3Schema),
      custom: {
        openApi: isRecord(schema?.openAPIV3Schema) ? schema.openAPIV3Schema : {},
        columns: additionalPrinterColumns,
        selectableFields: selectableFields.map(({ jsonPath }) => jsonPath.replace(/^\./, "")),
        scale: subresources.scale ?? null,
      },
    }));
}

const BY_ID: ReadonlyMap<GroupResource, Resource> = new Map(BUILT_IN.map((resource) => [resource.id, resource]));
const BY_PATH: ReadonlyMap<string, Resource> = new Map(BUILT_IN.map((resource) => [pathKey(resource), resource]));

function pathKey({ group, version, plural }: Pick<Resource, "group" | "version" | "plural">): string {
  return `${group}/${version}/${plural}`;
}

/** The kinds that one cluster serves: those of Kubernetes, and those of its custom resource definitions. */
export class ServedResources {
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
