import type { ComponentSpec, ValidationItem } from "@binnacle/contract";
import { codedConflict } from "../fault.ts";
import type { App } from "./app.ts";

/** Kubernetes can enlarge a volume but not shrink it, and a workload of another kind has other volumes. */

const volumesOf = (component: ComponentSpec | undefined) => component?.workload_spec?.volumes ?? [];

const sizeIn = (component: ComponentSpec | undefined, volume: string): number =>
  volumesOf(component).find(({ name }) => name === volume)?.size_gb ?? 0;

/** Returns the volumes that are smaller than before, each with its location in the component. */
export const shrunkVolumes = (before: ComponentSpec | undefined, after: ComponentSpec): ValidationItem[] =>
  volumesOf(after).flatMap(({ name, size_gb }, index) => {
    const size = sizeIn(before, name);
    if (size_gb >= size) return [];
    const loc = ["workload_spec", "volumes", index, "size_gb"];
    return [{ loc, msg: `A volume cannot shrink: ${name} has ${size} GB`, type: "value_error" as const }];
  });

/** The components whose volumes the cluster refused to let grow: these still have the size that they had before. */
export const unexpandableComponents = ({
  component_statuses,
  generation,
  observed_generation,
}: Pick<App, "component_statuses" | "generation" | "observed_generation">): ReadonlySet<string> =>
  new Set(
    component_statuses.flatMap(({ name, reason }) =>
      observed_generation === generation && reason === "VolumeNotExpandable" ? [name] : [],
    ),
  );

/** A rollback keeps the volumes that have grown since. */
export function withGrownVolumes(before: ComponentSpec | undefined, after: ComponentSpec): ComponentSpec {
  const { workload_spec } = after;
  if (!workload_spec || shrunkVolumes(before, after).length === 0) return after;
  const volumes = volumesOf(after).map((volume) => ({
    ...volume,
    size_gb: Math.max(volume.size_gb, sizeIn(before, volume.name)),
  }));
  return { ...after, workload_spec: { ...workload_spec, volumes } };
}

const kindOf = ({ workload_spec }: ComponentSpec) => workload_spec && (workload_spec.kind ?? "deployment");

/** Returns whether the component had volumes as another kind of workload. Their data would not be in the new ones. */
export const losesVolumes = (before: ComponentSpec | undefined, after: ComponentSpec): boolean =>
  before !== undefined && volumesOf(before).length > 0 && kindOf(before) !== kindOf(after);

export const recreateRequired = (component: string) =>
  codedConflict(
    "recreate_required",
    `Component ${component} has volumes, whose data is lost when its kind changes. Patch the component with "recreate": true to change it anyway.`,
    { component },
  );
