import { parseQuantity } from "@binnacle/contract";
import type { UsageSource } from "../api/ports.ts";
import { isActive, isReady, type Pod } from "./pod.ts";

export interface AutoscalerMetric {
  readonly type: string;
  readonly resource?: {
    readonly name: string;
    readonly target: { readonly type: string; readonly averageUtilization?: number; readonly averageValue?: string };
  };
}

/** Smaller differences are left as they are. */
const TOLERANCE = 0.1;

export interface Measurement {
  /** Null where nothing is known to decide by. */
  readonly replicas: number | null;
  readonly average: { readonly value: number; readonly utilization: number | null } | null;
}

const UNKNOWN: Measurement = { replicas: null, average: null };

/** How many replicas one metric asks for: in proportion to how far its average is from its target. */
export function measure(
  { resource }: AutoscalerMetric,
  pods: readonly Pod[],
  current: number,
  usage: UsageSource,
): Measurement {
  if (!resource) return UNKNOWN;
  const measured = pods
    .filter((pod) => isActive(pod) && isReady(pod))
    .flatMap((pod) => {
      const used = usedBy(pod, resource.name, usage);
      return used === null ? [] : [{ used, requested: requestedBy(pod, resource.name) }];
    });
  if (measured.length === 0) return UNKNOWN;
  const value = mean(measured.map(({ used }) => used));
  const requested = mean(measured.map(({ requested: amount }) => amount));
  const utilization = requested > 0 ? Math.round((value / requested) * 100) : null;
  const { averageUtilization, averageValue } = resource.target;
  const target = averageUtilization ?? parseQuantity(averageValue);
  const seen = averageUtilization === undefined ? value : utilization;
  if (!target || seen === null) return { replicas: null, average: { value, utilization } };
  const ratio = seen / target;
  const replicas = Math.abs(ratio - 1) <= TOLERANCE ? current : Math.ceil(ratio * measured.length);
  return { replicas, average: { value, utilization } };
}

const mean = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0) / numbers.length;

/** In cores or bytes. */
function usedBy(pod: Pod, resource: string, usage: UsageSource): number | null {
  const containers = usage.pod(pod)?.containers;
  if (!containers) return null;
  const amounts = containers.map(({ cpuNanocores, memoryBytes }) =>
    resource === "cpu" ? cpuNanocores / 1e9 : resource === "memory" ? memoryBytes : 0,
  );
  return amounts.reduce((sum, amount) => sum + amount, 0);
}

const requestedBy = ({ spec }: Pod, resource: string): number =>
  spec.containers.reduce((sum, { resources = {} }) => {
    return sum + (parseQuantity(resources.requests?.[resource] ?? resources.limits?.[resource]) ?? 0);
  }, 0);

/** The metric as the status shows it. */
export function currentMetric({ type, resource }: AutoscalerMetric, average: Measurement["average"]): object[] {
  if (!resource || !average) return [];
  const { value, utilization } = average;
  const averageValue = resource.name === "cpu" ? `${Math.round(value * 1000)}m` : String(Math.round(value));
  const current = utilization === null ? { averageValue } : { averageUtilization: utilization, averageValue };
  return [{ type, resource: { name: resource.name, current } }];
}
