import { NO_COUNTS } from "../kube/workload-counts.ts";
import type { EnsureOptions, Instance, ReleaseDrift, ReleaseState, Releases, WantedRelease } from "./releases.ts";

const UNTOUCHED: ReleaseDrift = { drifted: [], healed: [], blocked: [], isCertain: true };
type SomeState = Pick<ReleaseState, "state" | "message" | "exports"> & Partial<ReleaseState>;

/** Helm as an app sees it, without Helm: each release is what the test says that it is. */
export function standInReleases() {
  const installed = new Map<string, WantedRelease>();
  const removed: string[] = [];
  const asked: Pick<EnsureOptions, "isSyncing" | "takeOver">[] = [];
  const states = new Map<string, SomeState>();
  const instances = new Map<string, Instance>();
  const listeners = new Set<(namespace: string, app: string | null) => void>();
  const stateOf = ({ name }: WantedRelease): ReleaseState => {
    const installing = { state: "progressing", message: "It is being installed.", exports: {} } as const;
    return { ...UNTOUCHED, counts: NO_COUNTS, pods: [], ...(states.get(name) ?? installing) };
  };
  const port: Releases = {
    async ensure(wanted, options) {
      installed.set(wanted.name, wanted);
      asked.push({ isSyncing: options.isSyncing, takeOver: options.takeOver });
      return stateOf(wanted);
    },
    hold: async (wanted) => stateOf(wanted),
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
    /** How each call was to treat what somebody has changed. */
    asked,
    instances,
    set(name: string, state: SomeState, namespace: string) {
      states.set(name, state);
      for (const listener of listeners) listener(namespace, null);
    },
  };
}
