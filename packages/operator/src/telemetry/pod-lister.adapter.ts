import type { ReleasePodsSource } from "../helm/release-pods.ts";
import type { KubeClient, KubeObject } from "../kube/kube-client.ts";
import { KubeError } from "../kube/kube-error.ts";
import { PODS } from "../kube/resource-types.ts";
import { AnswerError } from "../link/ports.ts";
import type { AppComponent } from "./app-components.ts";
import { componentSelector } from "./component-pods.ts";
import { type PodSelection, podsLabelled, podsOfRelease } from "./pod-selection.ts";

/** The hub gives up on an operator that does not begin to answer for longer. */
const PODS_WITHIN_MS = 8_000;

export interface PodListerPorts {
  readonly kube: Pick<KubeClient, "list">;
  readonly clusterId: string;
  readonly releasePods: Pick<ReleasePodsSource, "read">;
}

/** Finds the pods of a component by labels and records of our own, and never by a name that somebody gives. */
export function createPodLister({ kube, clusterId, releasePods }: PodListerPorts) {
  return {
    selectionOf(app: string, { name, release }: AppComponent): PodSelection {
      return release
        ? podsOfRelease(() => releasePods.read(release))
        : podsLabelled(componentSelector(clusterId, app, name));
    },

    async podsOf(
      namespace: string,
      selection: PodSelection,
      signal = new AbortController().signal,
    ): Promise<readonly KubeObject[]> {
      const within = AbortSignal.any([signal, AbortSignal.timeout(PODS_WITHIN_MS)]);
      const { labelSelector } = selection;
      const listed = kube.list(PODS, { namespace, labelSelector, signal: within });
      const chosen = listed.then(({ items }) => selection.among(items));
      return Promise.race([chosen, unanswered(within)]).catch((error: unknown) => {
        throw unreadable(error);
      });
    },
  };
}

export const noSuchComponent = (app: string, component: string) =>
  new AnswerError("not_found", `The cluster holds no component ${component} of an app ${app}.`);

/** Fails once the signal is given. */
const unanswered = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const fail = () => reject(new KubeError({ status: 0, reason: "Cancelled", message: "It takes too long." }));
    if (signal.aborted) fail();
    signal.addEventListener("abort", fail, { once: true });
  });

function unreadable(error: unknown): AnswerError {
  const isAway = error instanceof KubeError && (error.status === 0 || error.status >= 500);
  return isAway
    ? new AnswerError("unavailable", "The cluster's API server does not answer.")
    : new AnswerError("failed", "The operator could not list the pods of the component.");
}
