import { NOTHING, type Outcome, placeOf, type Write } from "../controllers/control.ts";
import { type Container, isDeleting, isFinished, type Pod } from "../controllers/pod.ts";
import { msOf, normal, stampOf, warning } from "../controllers/writes.ts";
import { fateOf, isMissingImage, readyAfterMs } from "./container-run.ts";
import { initStatus, running, waiting } from "./container-status.ts";
import { stepEnd } from "./pod-end.ts";
import { KUBELET, nodeIp, podWrites } from "./pod-status.ts";
import type { SimulationSettings } from "./settings.ts";

const PULL_MS = 1_000;

/** The next writes of the kubelet for a pod, and when it has to run again. */
export function stepPod(pod: Pod, settings: SimulationSettings, nowMs: number): Outcome {
  if (isDeleting(pod)) return stepLeaving(pod, settings, nowMs);
  if (isFinished(pod) || pod.spec.nodeName === undefined) return NOTHING;
  const startMs = msOf(pod.status?.startTime);
  if (startMs === null) return accepted(pod, nowMs);
  if (pod.status?.phase === "Running") return stepEnd(pod, settings, nowMs);
  const dueMs = startMs + Math.max(settings.startMs, readyAfterMs(pod));
  if (nowMs < dueMs) return { writes: [], wakeAtMs: dueMs };
  return pod.spec.containers.some((container) => lacksImage(pod, container))
    ? withoutImage(pod, dueMs + PULL_MS, nowMs)
    : started(pod, nowMs);
}

function stepLeaving(pod: Pod, { stopMs }: SimulationSettings, nowMs: number): Outcome {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, uid = "" } = pod.metadata;
  // The last word has been said; what holds it now is a finalizer.
  if (deletionGracePeriodSeconds === 0) return NOTHING;
  const graceMs = deletionGracePeriodSeconds * 1_000;
  const askedMs = (msOf(deletionTimestamp) ?? 0) - graceMs;
  const hasContainers = pod.status?.phase === "Running";
  const dueMs = hasContainers ? askedMs + Math.min(stopMs, graceMs) : nowMs;
  if (nowMs >= dueMs) {
    return { writes: [{ verb: "delete", ...placeOf("pods", pod), uid, gracePeriodSeconds: 0 }], wakeAtMs: null };
  }
  return {
    writes: pod.spec.containers.map(({ name }) => normal(KUBELET, pod, "Killing", `Stopping container ${name}`)),
    wakeAtMs: dueMs,
  };
}

function accepted(pod: Pod, nowMs: number): Outcome {
  const { containers, nodeName = "" } = pod.spec;
  const statuses = containers.map((container) => waiting(pod, container, "ContainerCreating"));
  const hostIP = nodeIp(nodeName);
  return {
    writes: podWrites(pod, "Pending", statuses, nowMs, {
      startTime: stampOf(nowMs),
      hostIP,
      hostIPs: [{ ip: hostIP }],
    }),
    wakeAtMs: null,
  };
}

function started(pod: Pod, nowMs: number): Outcome {
  const { containers, initContainers = [] } = pod.spec;
  const fate = fateOf(pod);
  const isReady = fate !== "unready" && fate !== "crash" && fate !== "oom";
  const inits = initContainers.map((container) => initStatus(pod, container, nowMs));
  return {
    writes: [
      ...podWrites(
        pod,
        "Running",
        containers.map((container) => running(pod, container, isReady, nowMs)),
        nowMs,
        inits.length > 0 ? { initContainerStatuses: inits } : {},
      ),
      ...containers.flatMap((container) => startEvents(pod, container)),
      ...(fate === "unready"
        ? [warning(KUBELET, pod, "Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 503")]
        : []),
    ],
    wakeAtMs: null,
  };
}

function startEvents(pod: Pod, { name, image = "" }: Container): Write[] {
  return [
    normal(KUBELET, pod, "Pulled", `Container image "${image}" is simulated: nothing was pulled`),
    normal(KUBELET, pod, "Created", `Created container: ${name}`),
    normal(KUBELET, pod, "Started", `Started container ${name}`),
  ];
}

const lacksImage = (pod: Pod, { image }: Container): boolean => fateOf(pod) === "image" || isMissingImage(image);

function withoutImage(pod: Pod, backoffMs: number, nowMs: number): Outcome {
  const isTriedOnce = nowMs >= backoffMs;
  const reason = isTriedOnce ? "ImagePullBackOff" : "ErrImagePull";
  const messageFor = (image = "") =>
    isTriedOnce
      ? `Back-off pulling image "${image}": ErrImagePull: ${notFound(image)}`
      : `failed to pull and unpack image "${image}": ${notFound(image)}`;
  const statuses = pod.spec.containers.map((container) => {
    if (!lacksImage(pod, container)) {
      const status = pod.status?.containerStatuses?.find(({ name }) => name === container.name);
      return status?.state.running ? status : running(pod, container, true, nowMs);
    }
    return waiting(pod, container, reason, messageFor(container.image));
  });
  const writes = podWrites(pod, "Pending", statuses, nowMs);
  const lacking = pod.spec.containers.filter((container) => lacksImage(pod, container));
  // Events belong to what has changed; a look that changes nothing tells nothing.
  const events = writes.length === 0 ? [] : lacking.flatMap(({ image = "" }) => pullEvents(pod, image, isTriedOnce));
  return { writes: [...writes, ...events], wakeAtMs: isTriedOnce ? null : backoffMs };
}

const pullEvents = (pod: Pod, image: string, isTriedOnce: boolean): Write[] =>
  isTriedOnce
    ? [
        normal(KUBELET, pod, "BackOff", `Back-off pulling image "${image}"`),
        warning(KUBELET, pod, "Failed", "Error: ImagePullBackOff"),
      ]
    : [
        normal(KUBELET, pod, "Pulling", `Pulling image "${image}"`),
        warning(KUBELET, pod, "Failed", `Failed to pull image "${image}": ${notFound(image)}`),
        warning(KUBELET, pod, "Failed", "Error: ErrImagePull"),
      ];

const notFound = (image: string): string => `simulated: ${image}: not found`;
