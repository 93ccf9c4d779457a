import type { KubeObject } from "../../store/kube-object.ts";
import { type FieldProblem, forbiddenField, invalidValue, required } from "../fault.ts";
import { isRecord, isSame, type JsonRecord } from "../fields/typed-value.ts";

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

/** Changes that an update must not make to the metadata. */
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

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const QUALIFIED = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;

const tooLong = (most: number) => `must be no more than ${most} characters`;

/** Returns the problem of the text; null when it is valid. */
export function subdomainProblem(text: string): string | null {
  if (text.length > 253) return tooLong(253);
  if (SUBDOMAIN.test(text)) return null;
  return "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
}

export function labelProblem(text: string): string | null {
  if (text.length > 63) return tooLong(63);
  if (LABEL.test(text)) return null;
  return "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
}

/** Names of roles and the like may hold all but what means something in a path. */
function pathSegmentProblem(text: string): string | null {
  if (text === "." || text === "..") return `may not be '${text}'`;
  if (text.includes("/")) return "may not contain '/'";
  return text.includes("%") ? "may not contain '%'" : null;
}

function qualifiedNameProblem(text: string): string | null {
  const parts = text.split("/");
  const name = parts.at(-1) ?? "";
  if (parts.length > 2) {
    return "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
  }
  if (parts.length === 2) {
    if (parts[0] === "") return "prefix part must be non-empty";
    const problem = subdomainProblem(parts[0] ?? "");
    if (problem) return `prefix part ${problem}`;
  }
  if (name === "") return "name part must be non-empty";
  if (name.length > 63) return `name part ${tooLong(63)}`;
  if (QUALIFIED.test(name)) return null;
  return "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
}

function labelValueProblem(text: string): string | null {
  if (text.length > 63) return tooLong(63);
  if (LABEL_VALUE.test(text)) return null;
  return "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
}

/** The value at the path; undefined where the path leads nowhere. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, step) => (isRecord(inner) ? inner[step] : undefined), value);
}

export const recordAt = (value: unknown, ...path: readonly string[]): JsonRecord => {
  const found = at(value, ...path);
  return isRecord(found) ? found : {};
};

export const recordsAt = (value: unknown, ...path: readonly string[]): readonly JsonRecord[] => {
  const found = at(value, ...path);
  return Array.isArray(found) ? found.filter(isRecord) : [];
};

export const textAt = (value: unknown, ...path: readonly string[]): string => {
  const found = at(value, ...path);
  return typeof found === "string" ? found : "";
};

export const numberAt = (value: unknown, ...path: readonly string[]): number => {
  const found = at(value, ...path);
  return typeof found === "number" ? found : 0;
};
