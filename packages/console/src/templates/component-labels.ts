/** The parts of a template's component that say what it is. Numbers may be placeholders. */
interface Component {
  readonly name: string;
  readonly type?: string | undefined;
  readonly workload_spec?: { readonly kind?: string | undefined; readonly image?: string | undefined } | undefined;
  readonly addon_spec?:
    | { readonly instance?: string | undefined; readonly chart_version?: string | undefined }
    | undefined;
  readonly chart_spec?:
    | { readonly repo: string; readonly name: string; readonly version?: string | undefined }
    | undefined;
}

/** A component of a template in a few words: its kind, and the image or chart that it runs. */
export function componentText(component: Component): { readonly kind: string; readonly detail: string | null } {
  const { workload_spec: workload, addon_spec: addon, chart_spec: chart } = component;
  if (chart) return { kind: "chart", detail: `${chart.repo}/${chart.name}${chart.version ? `:${chart.version}` : ""}` };
  if (addon) return { kind: "addon", detail: addon.instance ?? addon.chart_version ?? null };
  return { kind: workload?.kind ?? "deployment", detail: workload?.image ?? null };
}
