import type { DesiredComponent } from "@binnacle/contract";
import type { KubeObject } from "../../kube/kube-client.ts";
import { componentNames } from "../names.ts";
import { componentLabels, selectorLabels, type WorkloadContext } from "./component-context.ts";
import { configurationObjects, environmentOf, secretObjects } from "./environment.ts";
import { fileObjects } from "./files.ts";
import { ingressObjects, serviceObjects } from "./network.ts";
import { claimObjects } from "./pod-template.ts";
import { problemOf, tooLarge } from "./problems.ts";
import { type App, composedExports, type Publishers, publishersOf, secretsOf } from "./publishers.ts";
import type { RenderedComponent, Rendering, Surroundings } from "./rendering.ts";
import { needsOf, startOrder } from "./start-order.ts";
import { accountObjects, autoscalerObjects, disruptionObjects, workloadObject } from "./workload.ts";

/** The objects that the app becomes, or the first reason why it cannot become any. The same input gives the same. */
export function renderApp(app: App, around: Surroundings): Rendering {
  const { components } = app.spec;
  const publishers = publishersOf(app, around);
  const problem = problemOf(app, around, publishers);
  if (problem) return problem;
  const needs = needsOf(components);
  const drawn = startOrder(components).flatMap((names, wave) =>
    components
      .filter(({ name }) => names.includes(name))
      .map((component) => ({
        ...draw(component, app, around, publishers),
        wave,
        needs: needs.get(component.name) ?? [],
      })),
  );
  return tooLarge(drawn) ?? { components: drawn.map(withoutWaiting) };
}

const withoutWaiting = (component: RenderedComponent): RenderedComponent =>
  component.waitingFor.length > 0 ? { ...component, objects: [] } : component;

type Drawn = Pick<RenderedComponent, "name" | "type" | "objects" | "waitingFor">;

function draw(component: DesiredComponent, whole: App, around: Surroundings, publishers: Publishers): Drawn {
  const { spec: app } = whole;
  const { name, type, workload_spec: spec } = component;
  const secrets = secretsOf(whole, name);
  const shared = {
    app: app.name,
    namespace: app.namespace,
    component,
    names: componentNames(app.name, name),
    labels: componentLabels(app, name, around.clusterId),
    selector: selectorLabels(app.name, name),
    secrets,
    composed: composedExports(whole, component).secret,
    pullSecrets: [...new Set(around.pullSecrets)].sort(),
    podSecurity: around.podSecurity,
    isPaused: app.paused,
  };
  if (type === "chart") return { name, type, objects: secretObjects(shared), waitingFor: [] };
  if (type === "addon" || !spec) return { name, type, objects: [], waitingFor: [] };
  const environment = environmentOf(component, new Set(Object.keys(secrets)), publishers);
  const ownEnvironments = new Map(
    [...(spec.init_containers ?? []), ...(spec.sidecars ?? [])].map(({ name: container, env = [] }) => [
      container,
      environmentOf({ workload_spec: { env } }, new Set(), publishers),
    ]),
  );
  const missing = [environment, ...ownEnvironments.values()].flatMap((one) => one.missing);
  const objects = workloadObjects({ ...shared, spec, environment, ownEnvironments });
  return { name, type, objects, waitingFor: [...new Set(missing)].sort() };
}

function workloadObjects(context: WorkloadContext): KubeObject[] {
  const workload = workloadObject(context);
  return [
    ...accountObjects(context),
    ...configurationObjects(context),
    ...fileObjects(context),
    ...claimObjects(context),
    ...serviceObjects(context),
    workload,
    ...autoscalerObjects(context, workload),
    ...disruptionObjects(context),
    ...ingressObjects(context),
  ];
}
