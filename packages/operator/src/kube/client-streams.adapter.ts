import { randomInt } from "node:crypto";
import type { Transport } from "./client-transport.adapter.ts";
import { watchEventOf } from "./client-watch.ts";
import type { KubeObject, LogOptions, ResourceType, WatchEvent, WatchOptions } from "./kube-client.ts";
import { KubeError } from "./kube-error.ts";
import { pathOf } from "./kube-path.ts";
import { linesOf } from "./lines.ts";

/** Bookmarks come about every minute; without two of them the connection is not believed. */
const WATCH_INACTIVITY_MS = 150_000;

/** The server ends watches after a while; spread, so that they do not all begin again together. */
const WATCH_SECONDS: readonly [number, number] = [300, 600];

const LONGEST_LOG_LINE = 256 * 1024;

const PODS: ResourceType = { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true };

export async function* watch<T extends KubeObject>(
  { stream }: Pick<Transport, "stream">,
  type: ResourceType,
  { namespace, signal, inactivityMs = WATCH_INACTIVITY_MS, ...query }: WatchOptions,
): AsyncGenerator<WatchEvent<T>> {
  const path = pathOf(type, { namespace });
  const ending = new AbortController();
  let isReading = true;
  const silent = () => {
    // A reader who takes long over an event is no silence of the server.
    if (!isReading) return timer.refresh();
    const message = `The watch of ${path} was silent for ${inactivityMs / 1000} s.`;
    ending.abort(new KubeError({ status: 0, reason: "Inactive", message }));
  };
  const timer: NodeJS.Timeout = setTimeout(silent, inactivityMs);
  try {
    const chunks = await stream({
      method: "GET",
      path,
      query: { ...query, watch: true, allowWatchBookmarks: true, timeoutSeconds: randomInt(...WATCH_SECONDS) },
      signal: AbortSignal.any([signal, ending.signal]),
    });
    for await (const line of linesOf(chunks)) {
      isReading = false;
      if (line !== "") yield watchEventOf<T>(line, `The watch of ${path}`);
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
