import type { KubeObject } from "./kube-client.ts";
import { isRecord } from "./managed-fields.ts";

/** Reads fields of objects of any kind, of which none can be counted on. */

export type Fields = Readonly<Record<string, unknown>>;

export const fieldsIn = (value: unknown): Fields => (isRecord(value) ? value : {});
export const listIn = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.filter(isRecord) : []);
export const countIn = (value: unknown): number => (typeof value === "number" ? value : 0);
export const textIn = (value: unknown): string => (typeof value === "string" ? value : "");

export const specOf = (object: KubeObject): Fields => fieldsIn(object["spec"]);
export const statusOf = (object: KubeObject): Fields => fieldsIn(object["status"]);
export const titleOf = ({ kind, metadata }: KubeObject): string => `${kind} ${metadata.name}`;

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
