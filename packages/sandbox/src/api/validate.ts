import type { KubeObject } from "../store/kube-object.ts";
import { ApiFault, forbidden, invalid, notFound } from "./fault.ts";
import type { Core } from "./ports.ts";
import type { Resource } from "./resource.ts";
import { changeProblems } from "./validation/changes.ts";
import { schemaProblems } from "./validation/custom.ts";
import { kindProblems } from "./validation/kinds.ts";
import { metadataChangeProblems, metadataProblems } from "./validation/metadata.ts";

/** Refuses an object that is not as its kind must be. */
export function validateNew(resource: Resource, object: KubeObject): void {
  refuse(resource, object, [
    ...metadataProblems(resource.id, object),
    ...(resource.custom ? schemaProblems(resource.custom.openApi, object, "") : kindProblems(resource.id, object)),
  ]);
}

export function validateChange(resource: Resource, live: KubeObject, next: KubeObject): void {
  refuse(resource, next, [
    ...metadataChangeProblems(live, next),
    ...metadataProblems(resource.id, next),
    ...changeProblems(resource.id, live, next),
    ...(resource.custom ? schemaProblems(resource.custom.openApi, next, "") : kindProblems(resource.id, next)),
  ]);
}

function refuse(resource: Resource, object: KubeObject, problems: Parameters<typeof invalid>[2]): void {
  if (problems.length > 0) throw invalid(resource, object.metadata.name ?? "", problems);
}

/** Nothing new comes into a namespace that is not there, or is going. */
export function checkNamespace({ table }: Core, resource: Resource, object: KubeObject): void {
  const { namespace, name } = object.metadata;
  if (!resource.namespaced || namespace === undefined) return;
  const found = table.get("namespaces", namespace);
  if (!found) throw notFound({ group: "", plural: "namespaces" }, namespace);
  if (!found.metadata.deletionTimestamp) return;
  const message = `namespace ${namespace} is being terminated`;
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  throw forbidden(resource, name, why, [{ reason: "NamespaceTerminating", message, field: "metadata.namespace" }]);
}

export function checkDefinition({ table }: Core, { custom, id }: Resource): void {
  const definition = custom ? table.get("customresourcedefinitions.apiextensions.k8s.io", id) : null;
  if (!definition?.metadata.deletionTimestamp) return;
  throw new ApiFault(405, "MethodNotAllowed", "create not allowed while custom resource definition is terminating");
}
