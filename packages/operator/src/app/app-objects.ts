import { LABELS } from "@binnacle/contract";
import type { StoredResource } from "../desired/desired-store.ts";
import { isOurs } from "../desired/ownership.ts";
import type { KubeObject } from "../kube/kube-client.ts";

/** Whether an object was made for this app, by this operator. Two apps may want objects of the same name. */
export const madeFor =
  ({ spec }: Pick<StoredResource<"app">, "spec">, clusterId: string) =>
  (object: KubeObject): boolean =>
    isOurs(object, clusterId) &&
    object.metadata.namespace === spec.namespace &&
    object.metadata.labels?.[LABELS.app] === spec.name;
