import type { KubeClient } from "../kube/kube-client.ts";
import { type Answerer, ExecRefusal } from "../link/ports.ts";
import type { AppComponent } from "./app-components.ts";
import { isLabelValue } from "./component-pods.ts";
import { execTarget } from "./exec-target.ts";
import { createPodLister, noSuchComponent, type PodListerPorts } from "./pod-lister.adapter.ts";

export interface ExecPorts extends PodListerPorts {
  readonly kube: Pick<KubeClient, "list" | "exec">;
  /** Null where the cluster holds no such app. */
  readonly componentsOf: (namespace: string, app: string) => readonly AppComponent[] | null;
}

/** Runs commands in containers of components. Nothing of what they read or write is kept or logged. */
export function createExec(ports: ExecPorts): Answerer["exec"] {
  const { kube, componentsOf } = ports;
  const { selectionOf, podsOf } = createPodLister(ports);

  return async ({ namespace, app, component, pod, container, command, tty, size }) => {
    const known = componentsOf(namespace, app)?.find(({ name }) => name === component);
    if (!known || ![app, component].every(isLabelValue)) throw noSuchComponent(app, component);
    const pods = await podsOf(namespace, selectionOf(app, known));
    const chosen = execTarget(pods, { component, pod, container });
    if (chosen instanceof ExecRefusal) throw chosen;
    return {
      ...chosen,
      start: (output) => kube.exec(namespace, chosen.pod, { container: chosen.container, command, tty, size }, output),
    };
  };
}
