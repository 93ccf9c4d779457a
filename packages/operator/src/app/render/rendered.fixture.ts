import type { AppBody, DesiredComponent } from "@binnacle/contract";
import type { KubeObject } from "../../kube/kube-client.ts";
import { renderApp } from "./render-app.ts";
import {
  type AppSpec,
  type Invalid,
  isInvalid,
  type RenderedApp,
  type Surroundings,
  type Workload,
} from "./rendering.ts";

export const CLUSTER = "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d13";
export const PROJECT = "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d14";

export const NOTHING_AROUND: Surroundings = {
  clusterId: CLUSTER,
  pullSecrets: [],
  podSecurity: "baseline",
  instances: new Map(),
  releases: new Map(),
};

/** A workload that is well, with whatever else is said about it. */
export const workload = (
  name: string,
  spec: Workload = {},
  rest: Partial<DesiredComponent> = {},
): DesiredComponent => ({
  name,
  type: "workload",
  workload_spec: { image: "nginx:1.29", ...spec },
  ...rest,
});

interface Around extends Partial<Surroundings> {
  readonly secrets?: AppBody["secret"]["secrets"];
  readonly paused?: boolean;
  readonly name?: string;
}

/** A component that stands for the addon instance of its name. */
export const standing = (name: string): DesiredComponent => ({ name, type: "addon", addon_instance: name });

export const appSpec = (components: DesiredComponent[], changes: Partial<AppSpec> = {}): AppSpec => ({
  project_id: PROJECT,
  namespace: "market",
  name: "shop",
  paused: false,
  take_over: false,
  components,
  ...changes,
});

export function rendering(
  components: DesiredComponent[],
  { secrets = {}, paused = false, name = "shop", ...around }: Around = {},
) {
  const spec = appSpec(components, { paused, name });
  return renderApp({ spec, secret: { secrets, values: {} } }, { ...NOTHING_AROUND, ...around });
}

export function rendered(components: DesiredComponent[], around?: Around): RenderedApp {
  const app = rendering(components, around);
  if (isInvalid(app)) throw new Error(app.message);
  return app;
}

export function problem(components: DesiredComponent[], around?: Around): Invalid | null {
  const app = rendering(components, around);
  return isInvalid(app) ? app : null;
}

export const objectsOf = (components: DesiredComponent[], around?: Around): KubeObject[] =>
  rendered(components, around).components.flatMap(({ objects }) => objects);

export const idsOf = (objects: readonly KubeObject[]): string[] =>
  objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`);

/** The object of the kind and name, such as `Service/shop-web`, or the only one of a kind. */
export function objectAt(objects: readonly KubeObject[], id: string): KubeObject {
  const found = objects.find((object) => id === object.kind || id === `${object.kind}/${object.metadata.name}`);
  if (!found) throw new Error(`There is no ${id} among ${idsOf(objects).join(", ")}.`);
  return found;
}

interface Template {
  readonly metadata: { readonly labels: Record<string, string>; readonly annotations?: Record<string, string> };
  readonly spec: Record<string, unknown> & { readonly containers: readonly [Record<string, unknown>] };
}
interface Templated {
  readonly template?: Template;
  readonly jobTemplate?: { readonly spec: { readonly template: Template } };
}

/** The pods that an object makes, if it makes any. */
export function templateIn({ spec }: KubeObject): Template | undefined {
  const { template, jobTemplate } = (spec ?? {}) as Templated;
  return template ?? jobTemplate?.spec.template;
}

/** The pods of an app of one workload, beside what makes none. */
export function podOf(component: DesiredComponent, around?: Around, ...others: DesiredComponent[]): Template {
  const template = objectsOf([component, ...others], around)
    .map(templateIn)
    .find(Boolean);
  if (!template) throw new Error("Nothing makes pods.");
  return template;
}

export const containerOf = (component: DesiredComponent, around?: Around) =>
  podOf(component, around).spec.containers[0];

/** A variable that pods get, whichever way. */
export function variableOf(objects: readonly KubeObject[], app: string, name: string): unknown {
  const container = templateIn(objectAt(objects, app))?.spec.containers[0];
  const env = (container?.["env"] ?? []) as { name: string; valueFrom: unknown }[];
  const direct = env.find((one) => one.name === name);
  if (direct) return direct.valueFrom;
  const sources = (container?.["envFrom"] ?? []) as Record<string, { name: string }>[];
  const values = sources.map(({ secretRef, configMapRef }) => {
    const id = secretRef ? `Secret/${secretRef.name}` : `ConfigMap/${configMapRef?.name}`;
    const value = (objectAt(objects, id)["data"] as Record<string, string>)[name];
    return value !== undefined && secretRef ? Buffer.from(value, "base64").toString() : value;
  });
  return values.findLast((value) => value !== undefined);
}
