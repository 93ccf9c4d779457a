import type { Resource, ServedResources } from "../resource.ts";
import { METRICS_GROUP, METRICS_VERSION } from "./metrics.ts";

const VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
const WITHOUT_COLLECTION = VERBS.filter((verb) => verb !== "deletecollection");

interface Served {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly subresources: readonly string[];
  readonly verbs: readonly string[];
}

const only = (
  verbs: readonly string[],
  group: string,
  version: string,
  kind: string,
  plural: string,
  namespaced = false,
): Served => ({
  group,
  version,
  plural,
  singular: plural.replace(/s$/, ""),
  kind,
  namespaced,
  shortNames: [],
  categories: [],
  subresources: [],
  verbs,
});

/** Kinds of which there are no objects, only answers. */
const ANSWERS: readonly Served[] = [
  only(["create"], "authentication.k8s.io", "v1", "SelfSubjectReview", "selfsubjectreviews"),
  only(["create"], "authentication.k8s.io", "v1", "TokenReview", "tokenreviews"),
  only(["create"], "authorization.k8s.io", "v1", "LocalSubjectAccessReview", "localsubjectaccessreviews", true),
  only(["create"], "authorization.k8s.io", "v1", "SelfSubjectAccessReview", "selfsubjectaccessreviews"),
  only(["create"], "authorization.k8s.io", "v1", "SelfSubjectRulesReview", "selfsubjectrulesreviews"),
  only(["create"], "authorization.k8s.io", "v1", "SubjectAccessReview", "subjectaccessreviews"),
  only(["get", "list"], METRICS_GROUP, METRICS_VERSION, "NodeMetrics", "nodes"),
  only(["get", "list"], METRICS_GROUP, METRICS_VERSION, "PodMetrics", "pods", true),
];

/** How a subresource is used, and the kind of what it takes and gives where that is another one. */
const SUBRESOURCES: Readonly<
  Record<
    string,
    { readonly verbs: readonly string[]; readonly group?: string; readonly version?: string; readonly kind?: string }
  >
> = {
  status: { verbs: ["get", "patch", "update"] },
  scale: { verbs: ["get", "patch", "update"], group: "autoscaling", version: "v1", kind: "Scale" },
  finalize: { verbs: ["update"] },
  log: { verbs: ["get"] },
  exec: { verbs: ["create", "get"], kind: "PodExecOptions" },
  binding: { verbs: ["create"], kind: "Binding" },
  eviction: { verbs: ["create"], group: "policy", version: "v1", kind: "Eviction" },
  token: { verbs: ["create"], group: "authentication.k8s.io", version: "v1", kind: "TokenRequest" },
};

const servedOf = (resource: Resource): Served => ({
  ...resource,
  verbs: resource.id === "namespaces" ? WITHOUT_COLLECTION : VERBS,
});

const allServed = (served: ServedResources): readonly Served[] => [...served.all().map(servedOf), ...ANSWERS];

const apiVersionOf = (group: string, version: string) => (group === "" ? version : `${group}/${version}`);

/** `/api` and `/apis`. */
export const coreVersions = () => ({ kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs: [] });

export function groupList(served: ServedResources) {
  return { kind: "APIGroupList", apiVersion: "v1", groups: groupsIn(served) };
}

export function groupDocument(served: ServedResources, group: string) {
  const found = groupsIn(served).find(({ name }) => name === group);
  return found ? { kind: "APIGroup", apiVersion: "v1", ...found } : null;
}

function groupsIn(served: ServedResources) {
  const groups = Map.groupBy(
    allServed(served).filter(({ group }) => group !== ""),
    ({ group }) => group,
  );
  return [...groups].map(([name, served]) => {
    const versions = [...new Set(served.map(({ version }) => version))].map((version) => ({
      groupVersion: `${name}/${version}`,
      version,
    }));
    return { name, versions, preferredVersion: versions[0] };
  });
}

/** Asked with every request, so it makes no document. */
export function isServed(served: ServedResources, group: string, version: string): boolean {
  const isOfIt = (one: { readonly group: string; readonly version: string }) =>
    one.group === group && one.version === version;
  return served.all().some(isOfIt) || ANSWERS.some(isOfIt);
}

/** `/api/v1` and the like. */
export function resourceList(served: ServedResources, group: string, version: string) {
  const listed = allServed(served).filter((one) => one.group === group && one.version === version);
  const resources = listed.flatMap((one) => [
    listedResource(one),
    ...one.subresources.map((name) => listedSubresource(one, name)),
  ]);
  return { kind: "APIResourceList", apiVersion: "v1", groupVersion: apiVersionOf(group, version), resources };
}

function listedResource({ plural, singular, namespaced, kind, verbs, shortNames, categories }: Served) {
  return {
    name: plural,
    singularName: singular,
    namespaced,
    kind,
    verbs,
    ...(shortNames.length > 0 ? { shortNames } : {}),
    ...(categories.length > 0 ? { categories } : {}),
  };
}

function listedSubresource({ plural, namespaced, kind }: Served, name: string) {
  return { name: `${plural}/${name}`, singularName: "", namespaced, kind, ...SUBRESOURCES[name] };
}

/** All at once, as newer clients ask for it. */
export function aggregated(served: ServedResources, isCore: boolean) {
  const listed = allServed(served).filter(({ group }) => (group === "") === isCore);
  const items = [...Map.groupBy(listed, ({ group }) => group)].map(([group, kinds]) => ({
    metadata: group === "" ? {} : { name: group },
    versions: [...Map.groupBy(kinds, ({ version }) => version)].map(([version, ofVersion]) => ({
      version,
      resources: ofVersion.map((one) => aggregatedResource(one)),
      freshness: "Current",
    })),
  }));
  return { kind: "APIGroupDiscoveryList", apiVersion: "apidiscovery.k8s.io/v2", metadata: {}, items };
}

function aggregatedResource(one: Served) {
  const { group, version, plural, singular, kind, namespaced, verbs, shortNames, categories, subresources } = one;
  return {
    resource: plural,
    responseKind: { group, version, kind },
    scope: namespaced ? "Namespaced" : "Cluster",
    singularResource: singular,
    verbs,
    ...(shortNames.length > 0 ? { shortNames } : {}),
    ...(categories.length > 0 ? { categories } : {}),
    ...(subresources.length > 0
      ? {
          subresources: subresources.map((name) => {
            const { verbs: ways, ...other } = { verbs: ["get"], ...SUBRESOURCES[name] };
            return { subresource: name, responseKind: { group, version, kind, ...other }, verbs: ways };
          }),
        }
      : {}),
  };
}
