import type { ReleasePods } from "../helm/release-pods.ts";
import { type ReleaseId, releaseOfComponent, releaseOfInstance } from "../helm/revision.ts";
import type { KubeObject } from "../kube/kube-client.ts";
import { type Fields, fieldsIn, listIn, specOf, textIn } from "../kube/object-fields.ts";

/** A component of an app, and what it runs as. */
export interface AppComponent {
  readonly name: string;
  /** The Helm release that it is, or that of the addon instance that it stands for; null for a workload. */
  readonly release: ReleaseId | null;
  /** Pods of a DaemonSet are named otherwise than those of other workloads. */
  readonly isDaemonSet?: boolean;
}

export function componentsIn(app: KubeObject): AppComponent[] {
  const { name, namespace = "" } = app.metadata;
  return listIn(specOf(app)["components"]).map((component) => ({
    name: textIn(component["name"]),
    release: releaseFor(component, namespace, name),
    ...(fieldsIn(component["workload_spec"])["kind"] === "daemonset" ? { isDaemonSet: true } : {}),
  }));
}

function releaseFor({ name, release, addon_instance }: Fields, namespace: string, app: string): ReleaseId | null {
  const instance = textIn(addon_instance);
  if (instance !== "") return releaseOfInstance(namespace, instance);
  return release ? releaseOfComponent(namespace, app, textIn(name)) : null;
}

/** A component that runs as a release, with how its pods are known. */
export interface ReleaseComponent {
  readonly namespace: string;
  readonly app: string;
  readonly component: string;
  readonly pods: ReleasePods;
}

/** Releases that are not known yet have no pods that anybody would miss. */
export function releaseComponents(
  apps: Iterable<KubeObject>,
  podsOf: (id: ReleaseId) => ReleasePods | null,
): ReleaseComponent[] {
  return [...apps].flatMap((app) =>
    componentsIn(app).flatMap(({ name, release }) => {
      const pods = release && podsOf(release);
      return pods ? [{ namespace: release.namespace, app: app.metadata.name, component: name, pods }] : [];
    }),
  );
}
