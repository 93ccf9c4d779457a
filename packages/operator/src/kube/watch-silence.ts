import type { KubeClient, KubeObject, WatchEvent } from "./kube-client.ts";

/** The most silent watch of a kind. */
export interface WatchSilence {
  readonly kind: string;
  readonly silentMs: number;
}

/**
 * Listens to all watches of a client. While the API server cannot be reached, or keeps from telling anything, what the operator knows grows
 * old: bookmarks come about every minute otherwise.
 */
export function withWatchSilence(client: KubeClient, now: () => number) {
  /** By kind and selectors. One that is begun again goes on where it was. */
  const heard = new Map<string, { readonly kind: string; atMs: number }>();

  async function* listenedTo<T extends KubeObject>(
    key: string,
    events: AsyncIterable<WatchEvent<T>>,
    signal: AbortSignal,
  ): AsyncGenerator<WatchEvent<T>> {
    try {
      for await (const event of events) {
        const known = heard.get(key);
        if (known) known.atMs = now();
        yield event;
      }
    } finally {
      // Nobody listens any more. An informer that only lists again comes back at once.
      if (signal.aborted) heard.delete(key);
    }
  }

  const kube: KubeClient = {
    ...client,
    watch(type, options) {
      const { namespace = "", labelSelector = "", fieldSelector = "" } = options;
      const key = [type.group, type.kind, namespace, labelSelector, fieldSelector].join(" ");
      if (!heard.has(key)) heard.set(key, { kind: type.kind, atMs: now() });
      return listenedTo(key, client.watch(type, options), options.signal);
    },
  };

  function silences(): WatchSilence[] {
    const longest = new Map<string, number>();
    for (const { kind, atMs } of heard.values()) longest.set(kind, Math.max(longest.get(kind) ?? 0, now() - atMs));
    return [...longest]
      .map(([kind, silentMs]) => ({ kind, silentMs }))
      .sort((one, other) => (one.kind < other.kind ? -1 : 1));
  }

  return { kube, silences };
}
