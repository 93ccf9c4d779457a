import type { KubeObject } from "../../store/kube-object.ts";
import { type FieldProblem, forbiddenField, invalidValue, required } from "../fault-of.ts";
import { isSame } from "../fields/json-value.ts";
import {
  labelProblem,
  labelValueProblem,
  pathSegmentProblem,
  qualifiedNameProblem,
  subdomainProblem,
} from "./names.ts";

/** Most names are subdomains; these are not. */
const NAME_RULES: Readonly<Record<string, (name: string) => string | null>> = {
  namespaces: labelProblem,
  services: labelProblem,
  "clusterroles.rbac.authorization.k8s.io": pathSegmentProblem,
  "clusterrolebindings.rbac.authorization.k8s.io": pathSegmentProblem,
  "roles.rbac.authorization.k8s.io": pathSegmentProblem,
  "rolebindings.rbac.authorization.k8s.io": pathSegmentProblem,
};

export function metadataProblems(resource: string, { metadata }: KubeObject): FieldProblem[] {
  const { name, labels = {}, annotations = {}, finalizers = [], ownerReferences = [] } = metadata;
  const problems: FieldProblem[] = [];
  if (!name) problems.push(required("metadata.name", "name or generateName is required"));
  else {
    const problem = (NAME_RULES[resource] ?? subdomainProblem)(name);
    if (problem) problems.push(invalidValue("metadata.name", name, problem));
  }
  for (const [key, value] of Object.entries(labels)) problems.push(...labelProblems("metadata.labels", key, value));
  for (const key of Object.keys(annotations)) {
    const problem = qualifiedNameProblem(key.toLowerCase());
    if (problem) problems.push(invalidValue("metadata.annotations", key, problem));
  }
  for (const finalizer of finalizers) {
    const problem = qualifiedNameProblem(finalizer);
    if (problem) problems.push(invalidValue("metadata.finalizers", finalizer, problem));
  }
  const references = ownerReferences.flatMap(({ apiVersion, kind, name: owner, uid }, at) => {
    const field = `metadata.ownerReferences[${at}]`;
    return [
      ...(apiVersion ? [] : [invalidValue(`${field}.apiVersion`, "", "version must not be empty")]),
      ...(kind ? [] : [invalidValue(`${field}.kind`, "", "kind must not be empty")]),
      ...(owner ? [] : [invalidValue(`${field}.name`, "", "name must not be empty")]),
      ...(uid ? [] : [invalidValue(`${field}.uid`, "", "uid must not be empty")]),
    ];
  });
  return [...problems, ...references];
}

function labelProblems(field: string, key: string, value: string): FieldProblem[] {
  const [keyProblem, valueProblem] = [qualifiedNameProblem(key), labelValueProblem(value)];
  return [
    ...(keyProblem ? [invalidValue(field, key, keyProblem)] : []),
    ...(valueProblem ? [invalidValue(field, value, valueProblem)] : []),
  ];
}

/** What an update may not change of the metadata. */
export function metadataChangeProblems(live: KubeObject, next: KubeObject): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const [before, after] = [live.metadata, next.metadata];
  if (after.uid !== undefined && after.uid !== before.uid) {
    problems.push(invalidValue("metadata.uid", after.uid, "field is immutable"));
  }
  if (after.name !== before.name) problems.push(invalidValue("metadata.name", after.name, "field is immutable"));
  const added = (after.finalizers ?? []).filter((one) => !before.finalizers?.includes(one));
  if (before.deletionTimestamp && added.length > 0) {
    const list = added.map((one) => JSON.stringify(one)).join(", ");
    const why = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`;
    problems.push(forbiddenField("metadata.finalizers", why));
  }
  return problems;
}

export function isUnchanged(live: KubeObject, next: KubeObject): boolean {
  const { resourceVersion: _old, ...before } = live.metadata;
  const { resourceVersion: _new, ...after } = next.metadata;
  return isSame({ ...live, metadata: before }, { ...next, metadata: after });
}
