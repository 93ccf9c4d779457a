import { LABELS } from "@binnacle/contract";
import type { Instances } from "../addon/instances.ts";
import type { ReleaseState, Releases, WantedRelease } from "../app/releases.ts";
import { together } from "../kube/workload-counts.ts";
import { exportsSeen } from "./exports.ts";
import type { HelmReleases, ReleaseStatus, WantedHelm } from "./helm-releases.reconciler.ts";
import { appOfRelease, releaseOfComponent } from "./revision.ts";

const exportsSecretOf = (release: string) => `${release}-exports`;

/** Helm, as apps use it. */
export function createReleases(helmReleases: HelmReleases, instances: Pick<Instances, "in" | "onChange">): Releases {
  return {
    ensure: async (wanted, options) => stateOf(wanted, await helmReleases.ensure(releaseOf(wanted), options)),
    hold: async (wanted) => stateOf(wanted, await helmReleases.hold(releaseOf(wanted))),
    async remove({ namespace, name, app, chart }) {
      const component = name.slice(app.length + 1);
      const labels = { [LABELS.app]: app, [LABELS.component]: component };
      const place = { namespace, name: exportsSecretOf(name), labels };
      const id = { ...releaseOfComponent(namespace, app, component), name };
      const { isGone } = await helmReleases.remove(id, place, chart);
      return isGone ? "gone" : "removing";
    },
    instances: (namespace) => instances.in(namespace),
    onChange(listener) {
      const endings = [
        helmReleases.onChange((id) => {
          const app = appOfRelease(id);
          if (app !== null) listener(id.namespace, app);
        }),
        instances.onChange((namespace) => listener(namespace, null)),
      ];
      return () => {
        for (const end of endings) end();
      };
    },
  };
}

function stateOf({ name }: WantedRelease, status: ReleaseStatus): ReleaseState {
  const { state, reason, message, drifted, healed, blocked, isCertain, pods } = status;
  const exports = exportsSeen(status.exports, exportsSecretOf(name));
  const counts = together(status.workloads.map((workload) => workload.counts));
  return { state, reason, message, drifted, healed, blocked, isCertain, pods, counts, exports };
}

function releaseOf(wanted: WantedRelease): WantedHelm {
  const { projectId, namespace, app, component, name, chart, exportSchema, values, hookTimeoutSeconds } = wanted;
  const labels = { [LABELS.project]: projectId, [LABELS.app]: app, [LABELS.component]: component };
  return {
    ...releaseOfComponent(namespace, app, component),
    chart,
    values,
    hookTimeoutSeconds,
    exportSchema,
    exportsPlace: { namespace, name: exportsSecretOf(name), labels },
  };
}
