import { randomInt } from "node:crypto";
import type { Transport } from "./client-transport.adapter.ts";
import type { KubeObject, LogOptions, ResourceType, WatchEvent, WatchOptions } from "./kube-client.ts";
import { KubeError, kubeErrorOf } from "./kube-error.ts";
import { named, pathOf } from "./kube-path.ts";
import { METADATA } from "./metadata-types.ts";

/** Bookmarks come about every minute; without two of them the connection is taken for lost. */
const WATCH_INACTIVITY_MS = 150_000;

/** The server ends watches after a while; spread, so that they do not all begin again together. */
const WATCH_SECONDS: readonly [number, number] = [300, 600];

const LONGEST_LOG_LINE = 256 * 1024;

const PODS: ResourceType = { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true };

export async function* watch<T extends KubeObject>(
  { stream }: Pick<Transport, "stream">,
  type: ResourceType,
  { namespace, signal, inactivityMs = WATCH_INACTIVITY_MS, isMetadataOnly = false, ...query }: WatchOptions,
): AsyncGenerator<WatchEvent<T>> {
  const path = pathOf(type, { namespace });
  const ending = new AbortController();
  let isReading = true;
  const silent = () => {
    // A reader who takes long over an event is not silence of the server.
    if (!isReading) return timer.refresh();
    const message = `The watch of ${path} was silent for ${inactivityMs / 1000} s.`;
    ending.abort(new KubeError({ status: 0, reason: "Inactive", message }));
  };
  const timer: NodeJS.Timeout = setTimeout(silent, inactivityMs);
  try {
    const chunks = await stream({
      method: "GET",
      path,
      accept: isMetadataOnly ? METADATA : undefined,
      query: { ...query, watch: true, allowWatchBookmarks: true, timeoutSeconds: randomInt(...WATCH_SECONDS) },
      signal: AbortSignal.any([signal, ending.signal]),
    });
    for await (const line of linesOf(chunks)) {
      isReading = false;
      if (line !== "") yield watchEventOf<T>(line, `The watch of ${path}`, isMetadataOnly ? type : null);
      isReading = true;
      timer.refresh();
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
    ending.abort();
  }
}

export async function* podLogs(
  { stream }: Pick<Transport, "stream">,
  namespace: string,
  pod: string,
  { signal, onLost, ...query }: LogOptions = {},
): AsyncGenerator<string> {
  const ending = new AbortController();
  const lines = async function* () {
    const chunks = await stream({
      method: "GET",
      path: pathOf(PODS, { namespace, name: pod, subresource: "log" }),
      query: { ...query },
      accept: "*/*",
      signal: signal ? AbortSignal.any([signal, ending.signal]) : ending.signal,
    });
    try {
      yield* linesOf(chunks, LONGEST_LOG_LINE);
    } catch (error) {
      if (!signal?.aborted && error instanceof KubeError) onLost?.(error);
    }
  };
  try {
    yield* lines();
  } catch (error) {
    if (!signal?.aborted) throw error;
  } finally {
    ending.abort();
  }
}

/** One line of a watch. Metadata alone says nothing about the kind of its object, which is given then. */
function watchEventOf<T extends KubeObject>(line: string, request: string, of: ResourceType | null): WatchEvent<T> {
  const { type, object } = parsed(line, request);
  if (type === "ADDED" || type === "MODIFIED" || type === "DELETED") {
    return { type, object: of ? named(object as T, of) : (object as T) };
  }
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
  new KubeError({ status: 0, reason: "Malformed", message: `${request} sent something that is not a watch event.` });

/**
 * Cuts bytes into lines. A line longer than `maxLength` comes in pieces, so that nobody fills our memory by never
 * ending one. What stands after the last line break comes last.
 */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>, maxLength = Number.POSITIVE_INFINITY) {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of chunks) {
    const pieces = decoder.decode(chunk, { stream: true }).split("\n");
    const last = pieces.pop() ?? "";
    for (const piece of pieces) {
      yield* cut(rest + piece, maxLength);
      rest = "";
    }
    rest += last;
    while (rest.length > maxLength) {
      yield rest.slice(0, maxLength);
      rest = rest.slice(maxLength);
    }
  }
  rest += decoder.decode();
  if (rest !== "") yield* cut(rest, maxLength);
}

function* cut(line: string, maxLength: number) {
  if (line === "") yield line;
  for (let at = 0; at < line.length; at += maxLength) yield line.slice(at, at + maxLength);
}
