import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseAllDocuments } from "yaml";
import { helmIn } from "../../packages/operator/src/chart/helm.fixture.ts";
import type { KubeObject } from "../../packages/operator/src/kube/kube-client.ts";

export const CHART = fileURLToPath(new URL("../../deploy/charts/binnacle", import.meta.url));

/** The files with values for ways to install the control plane. */
export const SCENARIOS = readdirSync(`${CHART}/ci`);
export const valuesOf = (scenario: string): string[] => ["--values", `${CHART}/ci/${scenario}`];

interface PodSpec {
  readonly serviceAccountName: string;
  readonly containers: readonly {
    readonly image: string;
    readonly args?: readonly string[];
    readonly env: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: object }[];
  }[];
  readonly volumes: readonly { readonly name: string }[];
}
interface PodTemplate {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly spec: PodSpec;
}

/** A rendered object, as far as tests look into one. */
export interface ChartObject extends KubeObject {
  readonly spec?: {
    readonly template?: PodTemplate;
    readonly replicas?: number;
    readonly schedule?: string;
    readonly jobTemplate?: { readonly spec: { readonly template: PodTemplate } };
  };
}

/** The object of this kind and name; there has to be one. */
export function named(objects: readonly ChartObject[], kind: string, name: string): ChartObject {
  const found = objects.find((object) => object.kind === kind && object.metadata.name === name);
  if (!found) throw new Error(`There is no ${kind} ${name}.`);
  return found;
}

/** The objects that Helm makes of a scenario, in the folder that Helm keeps its files in. */
export async function rendered(home: string, scenario: string, set: readonly string[] = []): Promise<ChartObject[]> {
  const flags = set.flatMap((value) => ["--set", value]);
  const text = await helmIn(home)("template", "binnacle", CHART, ...valuesOf(scenario), ...flags);
  return parseAllDocuments(text).flatMap((document) => (document.toJSON() as ChartObject | null) ?? []);
}

export const podOf = ({ spec }: ChartObject): PodTemplate | undefined =>
  spec?.jobTemplate?.spec.template ?? spec?.template;
