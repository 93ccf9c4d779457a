import type { Instance, ReleaseState, Releases, WantedRelease } from "./releases.ts";

/** Helm as an app sees it, without Helm: each release is what the test says that it is. */
export function standInReleases() {
  const installed = new Map<string, WantedRelease>();
  const removed: string[] = [];
  const states = new Map<string, ReleaseState>();
  const instances = new Map<string, Instance>();
  const listeners = new Set<(namespace: string) => void>();
  const port: Releases = {
    async ensure(wanted) {
      installed.set(wanted.name, wanted);
      return states.get(wanted.name) ?? { state: "progressing", message: "It is being installed.", exports: {} };
    },
    async remove({ name }) {
      removed.push(name);
      installed.delete(name);
      return "gone";
    },
    instances: async () => instances,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  return {
    port,
    installed,
    removed,
    instances,
    set(name: string, state: ReleaseState, namespace: string) {
      states.set(name, state);
      for (const listener of listeners) listener(namespace);
    },
  };
}
