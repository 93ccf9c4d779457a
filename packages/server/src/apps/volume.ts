import { type ComponentSpec, DEFAULT_ACCESS_MODE, type ValidationItem } from "@binnacle/contract";
import { codedConflict } from "../fault.ts";
import type { App } from "./app.ts";

/**
 * Kubernetes can enlarge a volume but not shrink it or give it another storage class or access mode, and a workload of another
 * kind has other volumes.
 */

const volumesOf = (component: ComponentSpec | undefined) => component?.workload_spec?.volumes ?? [];

const volumeIn = (component: ComponentSpec | undefined, volume: string) =>
  volumesOf(component).find(({ name }) => name === volume);

/** Returns the volumes that are changed as no volume can be, each with its location in the component. */
export const impossibleVolumes = (before: ComponentSpec | undefined, after: ComponentSpec): ValidationItem[] =>
  volumesOf(after).flatMap((volume, index) => {
    const { name } = volume;
    const old = volumeIn(before, name);
    if (!old) return [];
    const item = (field: "size_gb" | "storage_class" | "access_mode", msg: string): ValidationItem => ({
      loc: ["workload_spec", "volumes", index, field],
      msg,
      type: "value_error",
    });
    const another = "give the volume another name to make a new, empty one";
    const storage =
      old.storage_class === undefined ? "the default storage class" : `the storage class ${old.storage_class}`;
    return [
      ...(volume.size_gb < old.size_gb
        ? [item("size_gb", `A volume cannot shrink: ${name} has ${old.size_gb} GB`)]
        : []),
      ...(volume.storage_class !== old.storage_class
        ? [item("storage_class", `A volume keeps its storage class: ${name} has ${storage}; ${another}`)]
        : []),
      ...(modeOf(volume) !== modeOf(old)
        ? [item("access_mode", `A volume keeps its access mode: ${name} has ${modeOf(old)}; ${another}`)]
        : []),
    ];
  });

const modeOf = ({ access_mode = DEFAULT_ACCESS_MODE }: ReturnType<typeof volumesOf>[number]) => access_mode;

const REFUSED: ReadonlySet<string | null | undefined> = new Set(["VolumeNotExpandable", "ImmutableVolume"]);

/** The components whose volumes the cluster refused to change: these are still as they were before. */
export const unchangedVolumes = ({
  component_statuses,
  generation,
  observed_generation,
}: Pick<App, "component_statuses" | "generation" | "observed_generation">): ReadonlySet<string> =>
  new Set(
    component_statuses.flatMap(({ name, reason }) =>
      observed_generation === generation && REFUSED.has(reason) ? [name] : [],
    ),
  );

/** A rollback keeps the volumes that are there, with the size to which they have grown since. */
export function withVolumesAsTheyAre(before: ComponentSpec | undefined, after: ComponentSpec): ComponentSpec {
  const { workload_spec } = after;
  if (!workload_spec || impossibleVolumes(before, after).length === 0) return after;
  const volumes = volumesOf(after).map((volume) => {
    const old = volumeIn(before, volume.name);
    if (!old) return volume;
    const { storage_class: _class, access_mode: _mode, ...rest } = volume;
    return { ...old, ...rest, size_gb: Math.max(volume.size_gb, old.size_gb) };
  });
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
