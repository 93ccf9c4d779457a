import type { HostClaims } from "./host-claims.reconciler.ts";

/** Of a cluster on which every host is free: other tests use the same ones beside. */
export const FREE_HOSTS: HostClaims = {
  takenByOthers: () => [],
  served: () => [],
  notice: () => null,
  onChange: () => () => undefined,
};
