import { canonicalJson } from "@binnacle/contract";
import type { Instance } from "../app/releases.ts";
import type { DesiredView } from "../desired/desired-state.ts";
import { exportsSeen } from "../helm/exports.ts";
import type { HelmReleases, ReleaseStatus } from "../helm/helm-releases.reconciler.ts";
import { together } from "../kube/workload-counts.ts";
import { type Addon, exportsSecretOf, releaseOf } from "./addon.ts";

/** The addon instances of the cluster, for the apps that use them. */
export interface Instances {
  in(namespace: string): Promise<ReadonlyMap<string, Instance>>;
  onChange(listener: (namespace: string) => void): () => void;
  /** Stores what reconciling has observed. */
  observed(addon: Addon, seen: ReleaseStatus): void;
  forget(key: string): void;
}

export function createInstances(
  view: Pick<DesiredView, "list">,
  helmReleases: Pick<HelmReleases, "observe">,
): Instances {
  const instances = new Map<string, Instance>();
  const listeners = new Set<(namespace: string) => void>();

  function set(key: string, instance: Instance | null): void {
    const isSame = canonicalJson(instances.get(key) ?? null) === canonicalJson(instance);
    if (instance) instances.set(key, instance);
    else instances.delete(key);
    const [, namespace = ""] = key.split("/");
    if (!isSame) for (const listener of listeners) listener(namespace);
  }

  return {
    /** An instance that has not been reconciled yet is observed now, or the apps that use it would seem to wait for it. */
    async in(namespace) {
      const addons = view
        .list("addon_instance")
        .filter(({ spec, isDeleting }) => spec.namespace === namespace && !isDeleting);
      const found = await Promise.all(
        addons.map(async (addon) => {
          const known = instances.get(addon.key) ?? instanceOf(addon, await helmReleases.observe(releaseOf(addon)));
          return [addon.spec.name, known] as const;
        }),
      );
      return new Map(found);
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    observed: (addon, seen) => set(addon.key, instanceOf(addon, seen)),
    forget: (key) => set(key, null),
  };
}

function instanceOf({ spec }: Addon, { state, reason, message, exports, workloads }: ReleaseStatus): Instance {
  return {
    state,
    reason,
    message,
    counts: together(workloads.map(({ counts }) => counts)),
    keys: Object.keys(spec.export_schema).sort(),
    exports: exportsSeen(exports, exportsSecretOf(spec.name)),
  };
}
