import type { KubeObject } from "./kube-client.ts";
import { titleOf } from "./object-fields.ts";

export interface Readiness {
  readonly state: "ready" | "progressing" | "failed" | "unknown";
  /** One word for programs, where there is one. */
  readonly reason?: string;
  /** For people; null where there is nothing to say. */
  readonly message: string | null;
  readonly readyReplicas: number;
}

export const ready = (readyReplicas = 0): Readiness => ({ state: "ready", message: null, readyReplicas });

export const unknown = (): Readiness => ({ state: "unknown", message: null, readyReplicas: 0 });

export const progressing = (message: string, readyReplicas = 0): Readiness => ({
  state: "progressing",
  message,
  readyReplicas,
});

export const failed = (message: string, readyReplicas = 0): Readiness => ({ state: "failed", message, readyReplicas });

export const unseen = (object: KubeObject, readyReplicas: number): Readiness =>
  progressing(`Kubernetes has not looked at ${titleOf(object)} yet.`, readyReplicas);

/** Of so many wanted, some have come so far. */
export function partly(object: KubeObject, [have, wanted]: readonly [number, number], what: string, isReady: number) {
  return progressing(`${titleOf(object)} has ${have} of ${wanted} replicas ${what}.`, isReady);
}
