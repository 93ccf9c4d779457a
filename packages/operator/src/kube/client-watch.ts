import type { KubeObject, WatchEvent } from "./kube-client.ts";
import { KubeError, kubeErrorOf } from "./kube-error.ts";

/** One line of a watch. */
export function watchEventOf<T extends KubeObject>(line: string, request: string): WatchEvent<T> {
  const { type, object } = parsed(line, request);
  if (type === "ADDED" || type === "MODIFIED" || type === "DELETED") return { type, object: object as T };
  if (type === "BOOKMARK") return { type, resourceVersion: (object as T).metadata.resourceVersion ?? "" };
  if (type === "ERROR") return { type, error: kubeErrorOf(500, object, request) };
  throw malformed(request);
}

function parsed(line: string, request: string): { readonly type: string; readonly object: unknown } {
  try {
    const event = JSON.parse(line);
    if (typeof event.object === "object" && event.object !== null) return event;
  } catch {}
  throw malformed(request);
}

const malformed = (request: string) =>
  new KubeError({ status: 0, reason: "Malformed", message: `${request} sent something that is no watch event.` });
