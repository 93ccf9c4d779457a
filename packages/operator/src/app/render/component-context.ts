import type { DesiredComponent, PodSecurity } from "@binnacle/contract";
import type { KubeObject } from "../../kube/kube-client.ts";
import type { ComponentNames } from "../names.ts";
import type { Environment } from "./environment.ts";
import type { Workload } from "./rendering.ts";

/** A workload with everything that its objects are made of. */
export interface WorkloadContext {
  readonly app: string;
  readonly namespace: string;
  readonly component: DesiredComponent;
  readonly spec: Workload;
  readonly names: ComponentNames;
  readonly labels: Readonly<Record<string, string>>;
  readonly selector: Readonly<Record<string, string>>;
  readonly environment: Environment;
  readonly secrets: Readonly<Record<string, string>>;
  readonly pullSecrets: readonly string[];
  readonly podSecurity: PodSecurity;
  readonly isPaused: boolean;
}

export function objectOf(
  { namespace, labels }: Pick<WorkloadContext, "namespace" | "labels">,
  apiVersion: string,
  kind: string,
  name: string,
  content: Readonly<Record<string, unknown>>,
): KubeObject {
  return { apiVersion, kind, metadata: { name, namespace, labels }, ...content };
}
