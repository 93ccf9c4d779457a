import type { KubeAccess } from "./kube-access.ts";
import { KubeError } from "./kube-error.ts";

/**
 * The way to the cluster for work that only the holder of a Lease may do. Nothing is sent once another process could have it: also
 * not by a process that was frozen and goes on where it was.
 */
export const accessWhile = (access: KubeAccess, isHeld: () => boolean): KubeAccess => ({
  ...access,
  async identity(options) {
    const identity = await access.identity(options);
    if (isHeld()) return identity;
    const message = "Nothing is sent to the API server, because another operator of this cluster may work by now.";
    throw new KubeError({ status: 0, reason: "LeaseUncertain", message });
  },
});
