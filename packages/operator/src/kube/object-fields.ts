import type { KubeObject } from "./kube-client.ts";
import { isRecord } from "./managed-fields.ts";

/** Reads fields of objects of any kind, of which none can be counted on. */

export type Fields = Readonly<Record<string, unknown>>;

export const fieldsIn = (value: unknown): Fields => (isRecord(value) ? value : {});
export const listIn = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.filter(isRecord) : []);
export const countIn = (value: unknown): number => (typeof value === "number" ? value : 0);
export const textIn = (value: unknown): string => (typeof value === "string" ? value : "");
export const textsIn = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(textIn) : []);

export const specOf = (object: KubeObject): Fields => fieldsIn(object["spec"]);
export const statusOf = (object: KubeObject): Fields => fieldsIn(object["status"]);
export const titleOf = ({ kind, metadata }: KubeObject): string => `${kind} ${metadata.name}`;

interface KeptMetadata {
  readonly labels?: readonly string[];
  readonly annotations?: readonly string[];
}

/** The name and the version of an object, with these of its labels and annotations. A cluster has many thousands of objects. */
export function nameplate(
  { apiVersion, kind, metadata }: KubeObject,
  { labels = [], annotations = [] }: KeptMetadata,
): KubeObject {
  const { name, namespace = "", uid = "", resourceVersion = "" } = metadata;
  const kept = {
    ...(labels.length > 0 ? { labels: chosen(metadata.labels, labels) } : {}),
    ...(annotations.length > 0 ? { annotations: chosen(metadata.annotations, annotations) } : {}),
  };
  return { apiVersion, kind, metadata: { name, namespace, uid, resourceVersion, ...kept } };
}

const chosen = (all: Readonly<Record<string, string>> = {}, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.flatMap((name) => (all[name] === undefined ? [] : [[name, all[name]]])));

export interface Condition {
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

export function conditionOf(object: KubeObject, type: string): Condition | null {
  const found = listIn(statusOf(object)["conditions"]).find((condition) => condition["type"] === type);
  if (!found) return null;
  return { status: textIn(found["status"]), reason: textIn(found["reason"]), message: textIn(found["message"]) };
}
