import { type DesiredComponent, LABELS, type PodSecurity } from "@binnacle/contract";
import { ownLabels } from "../../desired/ownership.ts";
import type { KubeObject } from "../../kube/kube-client.ts";
import { type ComponentNames, componentNames } from "../names.ts";
import type { Environment } from "./environment.ts";
import type { AppSpec, Workload } from "./rendering.ts";

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
  /** The variables that further containers have for themselves, by container. */
  readonly ownEnvironments: ReadonlyMap<string, Environment>;
  readonly secrets: Readonly<Record<string, string>>;
  /** Exports that contain secrets. */
  readonly composed: Readonly<Record<string, string>>;
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

type Present<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/**
 * The fields that have a value. The API server drops empty ones when it stores an object, so an object that has some
 * would never look like what is stored.
 */
export function present<T extends object>(fields: T): Present<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Present<T>;
}

/** Undefined instead of an empty list. */
export const someOf = <T>(items: readonly T[] | undefined): readonly T[] | undefined =>
  items && items.length > 0 ? items : undefined;

/** Undefined instead of an object without fields. */
export const fieldsOf = <T extends object>(fields: T): T | undefined =>
  Object.keys(fields).length > 0 ? fields : undefined;
