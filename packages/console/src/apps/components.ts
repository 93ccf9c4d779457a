import type { App, AppComponent, ComponentStatus } from "@binnacle/client";

/** Names of the workloads whose number of replicas can be set. A daemonset follows the nodes, and jobs run once. */
export const scalableComponents = (components: readonly AppComponent[]): readonly string[] =>
  components
    .filter(({ workload_spec: spec }) => spec && ["deployment", "statefulset"].includes(spec.kind ?? "deployment"))
    .map(({ name }) => name);

export const replicasOf = ({ workload_spec: spec }: Pick<AppComponent, "workload_spec">): number =>
  spec?.autoscale?.min ?? spec?.replicas ?? 1;

/** What a component runs, in a few words. */
export function componentKind({ type, workload_spec, addon_spec }: AppComponent): string {
  if (type === "addon" || addon_spec) return "addon";
  if (type === "chart") return "chart";
  return workload_spec?.kind ?? "deployment";
}

/** The last part of an image says most; the registry before it seldom differs. */
export const shortImage = (image: string): string => image.slice(image.lastIndexOf("/") + 1);

/** What a component runs or installs: its image, or its chart. */
export function sourceOf(component: AppComponent): string {
  const { workload_spec, chart_spec, addon_spec } = component;
  if (workload_spec) return workload_spec.image ?? "no image";
  if (chart_spec) return [chart_spec.name, chart_spec.version].filter(Boolean).join(" ");
  return addon_spec?.instance ?? addon_spec?.chart_version ?? "";
}

export interface ComponentRow {
  readonly component: AppComponent;
  /** Null until the cluster has reported on it. */
  readonly status: ComponentStatus | null;
}

/** The components of an app, each with what was last reported about it. */
export const componentRows = ({
  components,
  components_status,
}: Pick<App, "components" | "components_status">): readonly ComponentRow[] =>
  components.map((component) => ({
    component,
    status: components_status.find(({ name }) => name === component.name) ?? null,
  }));

/** The addresses at which people reach the app. A host is checked by the API; anything else is not a link. */
export function publicAddresses(components: readonly AppComponent[]): readonly string[] {
  return components.flatMap(({ workload_spec }) => {
    const ingress = workload_spec?.ingress;
    if (!ingress || ingress.host.includes("*")) return [];
    const url = `${ingress.tls ? "https" : "http"}://${ingress.host}${ingress.path ?? "/"}`;
    return URL.canParse(url) ? [url] : [];
  });
}

/** Instances that were attached as a whole: an export_ref that names neither a key nor a variable, and no component of the app. */
export function attachedInstances(components: readonly AppComponent[]): ReadonlyMap<string, readonly string[]> {
  const attached = new Map<string, string[]>();
  for (const { name, export_refs = [] } of components) {
    for (const ref of export_refs) {
      if (ref.key !== undefined || ref.env !== undefined) continue;
      attached.set(ref.component, [...(attached.get(ref.component) ?? []), name]);
    }
  }
  return attached;
}
