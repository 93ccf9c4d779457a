import type { App, ComponentChange } from "./generated/types.ts";

/**
 * The change of an app that attaches an addon instance with the component that stands for it: `attachAddon` alone adds no
 * component, and without one of the instance's name the app is invalid. Without `component` every workload gets its exports.
 */
export function attachmentChange(
  { components }: Pick<App, "components">,
  instance: string,
  component: string | null = null,
): ComponentChange[] {
  const targets = components.filter(({ name, workload_spec }) =>
    component === null ? workload_spec !== undefined && name !== instance : name === component,
  );
  const open = targets.filter(
    ({ export_refs = [] }) =>
      !export_refs.some((ref) => ref.component === instance && ref.key === undefined && ref.env === undefined),
  );
  return [
    { op: "add", name: instance, type: "addon", addon_spec: { instance } },
    ...open.map(
      ({ name, export_refs = [] }): ComponentChange => ({
        op: "patch",
        name,
        export_refs: [...export_refs, { component: instance }],
      }),
    ),
  ];
}

/** Whether the app has a component that stands for what is attached under the name. */
export const standsFor = ({ components }: Pick<App, "components">, instance: string): boolean =>
  components.some(({ name }) => name === instance);
