import { isDeepStrictEqual } from "node:util";
import type { KubeObject } from "../store/kube-object.ts";
import type { GroupResource } from "../store/store.ts";
import { type Propagation, placeOf, type Write } from "./control.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The fields that have a value: those that have none are not written at all. */
export function present<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}

/** Counts of nothing are left out, as Kubernetes does. */
export const counted = (counts: Readonly<Record<string, number>>): Record<string, number> =>
  Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0));

/** An unchanged status is not written. */
export function statusWrites(resource: GroupResource, object: KubeObject, status: Fields, manager?: string): Write[] {
  if (isDeepStrictEqual(object["status"] ?? {}, status)) return [];
  return [{ verb: "status", resource, object: { ...object, status }, ...(manager === undefined ? {} : { manager }) }];
}

export const deletion = (resource: GroupResource, object: KubeObject, propagation?: Propagation): Write => ({
  verb: "delete",
  ...placeOf(resource, object),
  uid: object.metadata.uid ?? "",
  ...(propagation === undefined ? {} : { propagation }),
});

export const patchOf = (resource: GroupResource, object: KubeObject, patch: Fields, manager?: string): Write => ({
  verb: "patch",
  ...placeOf(resource, object),
  patch,
  ...(manager === undefined ? {} : { manager }),
});

const eventOf = (type: "Normal" | "Warning") => (source: string, about: KubeObject, reason: string, message: string) =>
  ({ verb: "event", event: { about, type, reason, message, source } }) satisfies Write;

export const normal = eventOf("Normal");
export const warning = eventOf("Warning");

const SECOND_MS = 1_000;

/** A time as Kubernetes writes it, to the second. */
export const stampOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

/** Null where there is no time. */
export function msOf(stamp: unknown): number | null {
  const ms = typeof stamp === "string" ? Date.parse(stamp) : Number.NaN;
  return Number.isNaN(ms) ? null : ms;
}

export const secondsAfter = (stamp: unknown, seconds: number): number | null => {
  const ms = msOf(stamp);
  return ms === null ? null : ms + seconds * SECOND_MS;
};

const DURATION = /(\d+(?:\.\d+)?)(ms|s|m|h)/g;
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: SECOND_MS, m: 60 * SECOND_MS, h: 3_600 * SECOND_MS };

/** `5s`, `1m30s`, `200ms`; null for anything else. */
export function durationMs(text: string | undefined): number | null {
  if (text === undefined || !/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(text)) return null;
  return [...text.matchAll(DURATION)].reduce(
    (sum, [, count, unit = ""]) => sum + Number(count) * (UNIT_MS[unit] ?? 0),
    0,
  );
}
