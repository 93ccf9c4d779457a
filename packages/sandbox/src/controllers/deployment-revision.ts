import type { KubeObject } from "../store/kube-object.ts";

export const REVISION = "deployment.kubernetes.io/revision";

/** The number of a version, counted up with each one that is rolled out. */
export const revisionOf = ({ metadata }: KubeObject): number => Number(metadata.annotations?.[REVISION] ?? 0) || 0;
