import { parseQuantity } from "@binnacle/contract";
import type { PodUsage, Usage } from "../api/ports.ts";
import { fractionOf } from "../controllers/fingerprint.ts";
import type { Container, Pod } from "../controllers/pod.ts";
import { msOf } from "../controllers/writes.ts";
import { annotationOf } from "./container-run.ts";

const WINDOW_SECONDS = 15;
const IDLE_CORES = 0.02;
const IDLE_BYTES = 48 * 2 ** 20;
const WARM_UP_MS = 60_000;

/** The simulated usage of a pod, the same for the same pod and time; null while it does not run. */
export function podUsageAt(pod: Pod, nowMs: number): PodUsage | null {
  if (pod.status?.phase !== "Running") return null;
  return {
    // Measured at whole steps, as a real cluster does not measure anew for each question.
    atMs: Math.floor(nowMs / 1_000) * 1_000,
    windowSeconds: WINDOW_SECONDS,
    containers: pod.spec.containers.flatMap((container) => {
      const status = pod.status?.containerStatuses?.find(({ name }) => name === container.name);
      const startedMs = msOf(status?.state.running?.startedAt);
      return startedMs === null ? [] : [{ name: container.name, ...usageAt(pod, container, startedMs, nowMs) }];
    }),
  };
}

function usageAt(pod: Pod, container: Container, startedMs: number, nowMs: number): Usage {
  const { requests = {}, limits = {} } = container.resources ?? {};
  const seed = `${pod.metadata.uid}/${container.name}`;
  const cores = parseQuantity(requests["cpu"]) ?? IDLE_CORES;
  const bytes = parseQuantity(requests["memory"]) ?? IDLE_BYTES;
  const warmth = Math.min(Math.max((nowMs - startedMs) / WARM_UP_MS, 0), 1);
  const cpu = cores * (0.28 + 0.14 * wave(`${seed}/cpu`, nowMs));
  const memory = bytes * (0.25 + 0.3 * warmth + 0.08 * wave(`${seed}/memory`, nowMs / 4));
  return {
    cpuNanocores: Math.round(fixed(pod, "cpu") ?? Math.min(cpu, parseQuantity(limits["cpu"]) ?? cpu) * 1e9),
    memoryBytes: Math.round(fixed(pod, "memory") ?? Math.min(memory, parseQuantity(limits["memory"]) ?? memory)),
  };
}

/** The usage that annotations set, in nanocores or bytes. */
function fixed(pod: Pod, resource: "cpu" | "memory"): number | null {
  const amount = parseQuantity(annotationOf(pod, resource));
  return amount === null ? null : Math.max(amount * (resource === "cpu" ? 1e9 : 1), 0);
}

const TURN = 2 * Math.PI;
/** In minutes; they do not fall together, so that the curve does not seem to repeat. */
const PERIODS = [2, 7, 31] as const;
const WEIGHTS = [0.5, 0.3, 0.2] as const;

/** From -1 to 1, without jumps. */
function wave(seed: string, ms: number): number {
  return PERIODS.reduce((sum, minutes, index) => {
    const phase = fractionOf(`${seed}/${minutes}`);
    return sum + (WEIGHTS[index] ?? 0) * Math.sin(TURN * (ms / (minutes * 60_000) + phase));
  }, 0);
}

const SYSTEM: Usage = { cpuNanocores: 120_000_000, memoryBytes: 400 * 2 ** 20 };

/** The usage of a node: its pods and itself. */
export const nodeUsage = (pods: readonly PodUsage[]): Usage =>
  pods
    .flatMap(({ containers }) => containers)
    .reduce<Usage>(
      (sum, { cpuNanocores, memoryBytes }) => ({
        cpuNanocores: sum.cpuNanocores + cpuNanocores,
        memoryBytes: sum.memoryBytes + memoryBytes,
      }),
      SYSTEM,
    );
