import type { Labels } from "@binnacle/contract";
import type { KubeObject, OwnerReference } from "../store/kube-object.ts";
import { secondsAfter, stampOf } from "./writes.ts";

type Quantities = Readonly<Record<string, string>>;

export interface Container {
  readonly name: string;
  readonly image?: string;
  readonly imagePullPolicy?: string;
  readonly restartPolicy?: string;
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number; readonly protocol?: string }[];
  readonly resources?: { readonly requests?: Quantities; readonly limits?: Quantities };
}

export interface Volume {
  readonly name: string;
  readonly persistentVolumeClaim?: { readonly claimName: string };
  readonly [source: string]: unknown;
}

export interface PodSpec {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly volumes?: readonly Volume[];
  readonly nodeName?: string;
  readonly nodeSelector?: Labels;
  readonly restartPolicy?: "Always" | "OnFailure" | "Never";
  readonly terminationGracePeriodSeconds?: number;
  readonly [field: string]: unknown;
}

export interface PodTemplate {
  readonly metadata?: { readonly labels?: Labels; readonly annotations?: Labels };
  readonly spec: PodSpec;
}

export interface ContainerEnd {
  readonly exitCode: number;
  readonly reason: string;
  readonly startedAt: string;
  readonly finishedAt: string;
  readonly containerID?: string;
}

export interface ContainerState {
  readonly waiting?: { readonly reason: string; readonly message?: string };
  readonly running?: { readonly startedAt: string };
  readonly terminated?: ContainerEnd;
}

export interface ContainerStatus {
  readonly name: string;
  readonly image: string;
  readonly imageID: string;
  readonly ready: boolean;
  readonly started: boolean;
  readonly restartCount: number;
  readonly state: ContainerState;
  readonly lastState: ContainerState;
  readonly containerID?: string;
}

export interface PodStatus {
  readonly phase?: "Pending" | "Running" | "Succeeded" | "Failed";
  readonly conditions?: readonly Condition[];
  readonly containerStatuses?: readonly ContainerStatus[];
  readonly initContainerStatuses?: readonly ContainerStatus[];
  readonly podIP?: string;
  readonly startTime?: string;
  readonly [field: string]: unknown;
}

export interface Pod extends KubeObject {
  readonly spec: PodSpec;
  readonly status?: PodStatus;
}

export const controllerOf = ({ metadata }: KubeObject): OwnerReference | undefined =>
  metadata.ownerReferences?.find(({ controller }) => controller === true);

export const isControlledBy = (object: KubeObject, owner: KubeObject): boolean =>
  controllerOf(object)?.uid === owner.metadata.uid;

export const isFinished = ({ status }: Pod): boolean => status?.phase === "Succeeded" || status?.phase === "Failed";
export const isDeleting = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined;

/** One that counts towards the replicas of its owner. */
export const isActive = (pod: Pod): boolean => !isFinished(pod) && !isDeleting(pod);

export const isReady = (pod: Pod): boolean => conditionOf(pod, "Ready")?.status === "True";

/** When a pod that is ready now has been so for long enough; null for one that is not ready. */
function availableAtMs(pod: Pod, minReadySeconds: number): number | null {
  return isReady(pod) ? secondsAfter(conditionOf(pod, "Ready")?.lastTransitionTime, minReadySeconds) : null;
}

export function isAvailable(pod: Pod, minReadySeconds: number, nowMs: number): boolean {
  const atMs = availableAtMs(pod, minReadySeconds);
  return atMs !== null && atMs <= nowMs;
}

/** When the next of the pods that wait only for time will be available. */
export function nextAvailableMs(pods: readonly Pod[], minReadySeconds: number, nowMs: number): number | null {
  const times = pods.map((pod) => availableAtMs(pod, minReadySeconds)).filter((time) => time !== null && time > nowMs);
  return times.length === 0 ? null : Math.min(...times.filter((time) => time !== null));
}

export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
  readonly lastUpdateTime?: string;
  readonly lastProbeTime?: string | null;
}

function conditionsOf(object: KubeObject): readonly Condition[] {
  const status = object["status"] as { readonly conditions?: readonly Condition[] } | undefined;
  return status?.conditions ?? [];
}

export const conditionOf = (object: KubeObject, type: string): Condition | undefined =>
  conditionsOf(object).find((condition) => condition.type === type);

export const isTrue = (object: KubeObject, type: string): boolean => conditionOf(object, type)?.status === "True";

/** The conditions with one more, or with a changed one: its time of transition is that of its last other status. */
export function withCondition(
  conditions: readonly Condition[],
  condition: Condition,
  nowMs: number,
): readonly Condition[] {
  const before = conditions.find(({ type }) => type === condition.type);
  const isSame = before?.status === condition.status;
  const lastTransitionTime = (isSame && before.lastTransitionTime) || stampOf(nowMs);
  const next = { ...condition, lastTransitionTime };
  return before ? conditions.map((one) => (one === before ? next : one)) : [...conditions, next];
}
