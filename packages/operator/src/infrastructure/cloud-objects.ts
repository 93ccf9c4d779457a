import type { KubeObject } from "../kube/kube-client.ts";
import { fieldsIn, specOf, statusOf, textIn } from "../kube/object-fields.ts";

/** The finalizer with which a cloud controller keeps a Service until its load balancer is gone. */
const CLEANUP = "service.kubernetes.io/load-balancer-cleanup";

/** Drivers whose volumes are disks in the cloud and outlive the machines. */
const CLOUD_DRIVERS: readonly string[] = ["ebs.csi.aws.com"];

export const isBalanced = (service: KubeObject): boolean => specOf(service)["type"] === "LoadBalancer";

/** A Service has a load balancer, or had one that is not gone yet. */
export const holdsLoadBalancer = (service: KubeObject): boolean =>
  isBalanced(service) || (service.metadata.finalizers ?? []).includes(CLEANUP);

/** Whoever owns a Service may make it again when it is deleted, but leaves its type alone. */
export const isOwned = ({ metadata: { labels = {}, ownerReferences = [] } }: KubeObject): boolean =>
  labels["app.kubernetes.io/managed-by"] === "Helm" || ownerReferences.length > 0;

/** Makes a Service one of the cluster alone. The API server refuses fields of load balancers on others. */
export const WITHOUT_LOAD_BALANCER = {
  spec: {
    type: "ClusterIP",
    allocateLoadBalancerNodePorts: null,
    externalTrafficPolicy: null,
    healthCheckNodePort: null,
    loadBalancerClass: null,
    loadBalancerIP: null,
    loadBalancerSourceRanges: null,
  },
};

/** A disk in the cloud that is deleted with its claim. One that is retained was meant to stay. */
export function isCloudVolume(volume: KubeObject): boolean {
  const spec = specOf(volume);
  const driver = textIn(fieldsIn(spec["csi"])["driver"]);
  const isCloud = CLOUD_DRIVERS.includes(driver) || "awsElasticBlockStore" in spec;
  return isCloud && spec["persistentVolumeReclaimPolicy"] === "Delete" && statusOf(volume)["phase"] !== "Available";
}

/** The id of the disk in the cloud; null where the volume is on no such disk. */
export function diskOf(volume: KubeObject): string | null {
  const spec = specOf(volume);
  const csi = fieldsIn(spec["csi"]);
  if (CLOUD_DRIVERS.includes(textIn(csi["driver"]))) return textIn(csi["volumeHandle"]) || null;
  // The older kind also has the form `aws://<zone>/<id>`.
  return textIn(fieldsIn(spec["awsElasticBlockStore"])["volumeID"]).split("/").at(-1) || null;
}

interface ClaimName {
  readonly namespace: string;
  readonly name: string;
}

/** Null where no claim has ever had it. */
export function claimOf(volume: KubeObject): ClaimName | null {
  const { namespace, name } = fieldsIn(specOf(volume)["claimRef"]);
  return textIn(name) === "" ? null : { namespace: textIn(namespace), name: textIn(name) };
}

/** Whether the pod keeps the claim from being deleted. */
export function uses(pod: KubeObject, claim: ClaimName): boolean {
  if (pod.metadata.namespace !== claim.namespace) return false;
  const volumes = specOf(pod)["volumes"];
  return (
    Array.isArray(volumes) &&
    volumes.some((volume) => fieldsIn(fieldsIn(volume)["persistentVolumeClaim"])["claimName"] === claim.name)
  );
}
