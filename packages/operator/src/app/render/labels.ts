import { LABELS } from "@binnacle/contract";
import { ownLabels } from "../../desired/ownership.ts";
import { componentNames } from "../names.ts";
import type { AppSpec } from "./rendering.ts";

type Labels = Readonly<Record<string, string>>;

/** By these a workload finds its pods. A selector cannot change, so it holds nothing that could. */
export const selectorLabels = (app: string, component: string): Labels => ({
  [LABELS.app]: app,
  [LABELS.component]: component,
});

export const componentLabels = (
  { name: app, project_id }: Pick<AppSpec, "name" | "project_id">,
  component: string,
  clusterId: string,
): Labels => ({
  "app.kubernetes.io/name": component,
  "app.kubernetes.io/instance": componentNames(app, component).base,
  "app.kubernetes.io/component": component,
  "app.kubernetes.io/part-of": app,
  ...ownLabels(clusterId),
  [LABELS.project]: project_id,
  ...selectorLabels(app, component),
});
