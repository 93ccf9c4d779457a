import type { KubeObject } from "./kube-object.ts";

export type Matcher = (object: KubeObject) => boolean;

/** A selector that cannot be understood. */
export class BadSelector extends Error {
  override readonly name = "BadSelector";
}

type Labels = Readonly<Record<string, string>>;
type LabelTest = (labels: Labels) => boolean;

const SET_BASED = /^(\S+)\s+(in|notin)\s*\(([^)]*)\)$/;
const COMPARED = /^([^\s=!<>]+)\s*(==|=|!=|<|>)\s*(\S*)$/;

/** `app=web,tier in (a, b),!old`: what of the labels must be so. */
export function labelMatcher(selector: string): Matcher {
  const tests = requirementsIn(selector).map(labelTest);
  return ({ metadata: { labels = {} } }) => tests.every((test) => test(labels));
}

function labelTest(text: string): LabelTest {
  const [, setKey, operator, list] = SET_BASED.exec(text) ?? [];
  if (setKey !== undefined && list !== undefined) {
    const values = list.split(",").map((value) => value.trim());
    if (operator === "in") return (labels) => setKey in labels && values.includes(labels[setKey] ?? "");
    return (labels) => !(setKey in labels && values.includes(labels[setKey] ?? ""));
  }
  const [, key, comparison, value = ""] = COMPARED.exec(text) ?? [];
  if (key !== undefined) {
    if (comparison === "!=") return (labels) => labels[key] !== value;
    if (comparison === "<") return (labels) => Number(labels[key]) < Number(value);
    if (comparison === ">") return (labels) => Number(labels[key]) > Number(value);
    return (labels) => labels[key] === value;
  }
  const [, not, name] = /^(!?)\s*([^\s=!<>(),]+)$/.exec(text) ?? [];
  if (name === undefined) {
    const found = /\s+(\S+)/.exec(text)?.[1] ?? text;
    throw new BadSelector(`unable to parse requirement: found '${found}', expected: in, notin, =, ==, !=, gt, lt`);
  }
  return (labels) => name in labels === (not === "");
}

/** Splits at the commas that are not within parentheses. */
function requirementsIn(selector: string): string[] {
  return selector
    .split(/,(?![^(]*\))/)
    .map((text) => text.trim())
    .filter((text) => text !== "");
}

/** Fields by which objects of a kind can be chosen, besides their name and namespace. */
const SELECTABLE: Readonly<Record<string, readonly string[]>> = {
  pods: [
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.serviceAccountName",
    "spec.hostNetwork",
    "status.phase",
    "status.podIP",
    "status.podIPs",
    "status.nominatedNodeName",
  ],
  events: [
    "involvedObject.kind",
    "involvedObject.namespace",
    "involvedObject.name",
    "involvedObject.uid",
    "involvedObject.apiVersion",
    "involvedObject.resourceVersion",
    "involvedObject.fieldPath",
    "reason",
    "reportingComponent",
    "source",
    "type",
  ],
  secrets: ["type"],
  namespaces: ["status.phase"],
  nodes: ["spec.unschedulable"],
  services: ["spec.clusterIP", "spec.type"],
  "jobs.batch": ["status.successful"],
  "replicasets.apps": ["status.replicas"],
};

export function fieldMatcher(
  selector: string,
  resource: string,
  isNamespaced: boolean,
  custom: readonly string[] = [],
): Matcher {
  const known = ["metadata.name", ...(isNamespaced ? ["metadata.namespace"] : []), ...(SELECTABLE[resource] ?? custom)];
  const tests = requirementsIn(selector).map((text): Matcher => {
    const [, field, comparison, value = ""] = COMPARED.exec(text) ?? [];
    if (field === undefined) throw new BadSelector(`invalid selector: '${selector}'; can't understand '${text}'`);
    if (!known.includes(field)) {
      const names = known.map((name) => JSON.stringify(name)).join(", ");
      throw new BadSelector(`${JSON.stringify(field)} is not a known field selector: only ${names}`);
    }
    return (object) => (textAt(object, field) === value) === (comparison !== "!=");
  });
  return (object) => tests.every((test) => test(object));
}

/** Fields that are false when they are not there. */
const SWITCHES = ["spec.unschedulable", "spec.hostNetwork"];

function textAt(object: KubeObject, field: string): string {
  let value: unknown = object;
  for (const step of field.split(".")) value = (value as Record<string, unknown> | undefined)?.[step];
  if (field === "source") value = (value as { component?: string } | undefined)?.component;
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean"
    ? String(value)
    : SWITCHES.includes(field)
      ? "false"
      : "";
}
