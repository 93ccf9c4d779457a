import type { DesiredComponent } from "@binnacle/contract";
import type { StoredResource } from "../../desired/desired-state.ts";
import type { KubeObject } from "../../kube/kube-client.ts";
import { componentNames } from "../names.ts";
import { componentLabels, selectorLabels, type WorkloadContext } from "./component-context.ts";
import { configurationObjects, environmentOf, secretsObject } from "./environment.ts";
import { ingressObjects, serviceObjects } from "./network.ts";
import { claimObjects } from "./pod-template.ts";
import { problemOf, renderedProblem } from "./problems.ts";
import { publisherOf } from "./publishers.ts";
import type { RenderedComponent, Rendering, Surroundings } from "./rendering.ts";
import { needsOf, startOrder } from "./start-order.ts";
import { accountObjects, autoscalerObjects, workloadObject } from "./workload.ts";

type App = Pick<StoredResource<"app">, "spec" | "secret">;

/** The objects that the app becomes, or the first reason why it cannot become any. The same input gives the same. */
export function renderApp(app: App, around: Surroundings): Rendering {
  const { components } = app.spec;
  const problem = problemOf(app.spec, around);
  if (problem) return problem;
  const needs = needsOf(components);
  const drawn = startOrder(components).waves.flatMap((names, wave) =>
    components
      .filter(({ name }) => names.includes(name))
      .map((component) => ({ ...draw(component, app, around), wave, needs: needs.get(component.name) ?? [] })),
  );
  return renderedProblem(drawn) ?? { components: drawn.map(withoutWaiting) };
}

const withoutWaiting = (component: RenderedComponent): RenderedComponent =>
  component.waitingFor.length > 0 ? { ...component, objects: [] } : component;

type Drawn = Pick<RenderedComponent, "name" | "type" | "objects" | "waitingFor">;

function draw(component: DesiredComponent, { spec: app, secret }: App, around: Surroundings): Drawn {
  const { name, type, workload_spec: spec } = component;
  const secrets = Object.hasOwn(secret.secrets, name) ? (secret.secrets[name] ?? {}) : {};
  const shared = {
    app: app.name,
    namespace: app.namespace,
    component,
    names: componentNames(app.name, name),
    labels: componentLabels(app, name, around.clusterId),
    selector: selectorLabels(app.name, name),
    secrets,
    pullSecrets: [...new Set(around.pullSecrets)].sort(),
    podSecurity: around.podSecurity,
    isPaused: app.paused,
  };
  if (type === "chart") return { name, type, objects: secretsObject(shared), waitingFor: [] };
  if (type === "addon" || !spec) return { name, type, objects: [], waitingFor: [] };
  const environment = environmentOf(component, new Set(Object.keys(secrets)), (from) => publisherOf(from, app, around));
  return { name, type, objects: workloadObjects({ ...shared, spec, environment }), waitingFor: environment.missing };
}

function workloadObjects(context: WorkloadContext): KubeObject[] {
  const workload = workloadObject(context);
  return [
    ...accountObjects(context),
    ...configurationObjects(context),
    ...claimObjects(context),
    ...serviceObjects(context),
    workload,
    ...autoscalerObjects(context, workload),
    ...ingressObjects(context),
  ];
}
