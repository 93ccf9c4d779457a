import { durationMs } from "../controllers/stamp.ts";
import type { KubeObject } from "../store/kube-object.ts";

/** What is to become of a pod, as annotations of its template say. */
const FATES = ["image", "crash", "oom", "unready", "fail", "unschedulable"] as const;
export type Fate = (typeof FATES)[number];

/** The second names are those of the cluster that kwok simulates, so that one test suite runs on both. */
const NAMES = {
  fate: ["sandbox.binnacle.dev/fate", "test.binnacle.dev/fate"],
  readyAfter: ["sandbox.binnacle.dev/ready-after", "test.binnacle.dev/ready-after"],
  cpu: ["sandbox.binnacle.dev/usage-cpu", "kwok.x-k8s.io/usage-cpu"],
  memory: ["sandbox.binnacle.dev/usage-memory", "kwok.x-k8s.io/usage-memory"],
} as const;

export function annotationOf({ metadata }: KubeObject, of: keyof typeof NAMES): string | undefined {
  return NAMES[of].map((name) => metadata.annotations?.[name]).find((value) => value !== undefined);
}

/** Null for a pod that simply runs, and for one whose annotation nobody understands. */
export function fateOf(pod: KubeObject): Fate | null {
  const said = annotationOf(pod, "fate");
  return FATES.find((fate) => fate === said) ?? null;
}

export const readyAfterMs = (pod: KubeObject): number => durationMs(annotationOf(pod, "readyAfter")) ?? 0;

const NO_SUCH_IMAGE = /does-not-exist|doesnotexist|no-such-image|nonexistent/;

/** Nothing is ever pulled, so that the name has to say when there is no such image. */
export const isMissingImage = (image: string | undefined): boolean => NO_SUCH_IMAGE.test(image ?? "");
