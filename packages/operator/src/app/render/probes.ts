import { present } from "./present.ts";
import type { Workload } from "./rendering.ts";

type Probes = NonNullable<Workload["probes"]>;
type Probe = NonNullable<Probes["liveness"]>;

const DEFAULT_PERIOD_SECONDS = 10;
const DEFAULT_FAILURES = 3;

function probe({ path, port, command, ...timing }: Probe) {
  return present({
    httpGet: path !== undefined && port !== undefined ? { path, port } : undefined,
    tcpSocket: path === undefined && port !== undefined ? { port } : undefined,
    exec: command && { command },
    initialDelaySeconds: timing.initial_delay_seconds || undefined,
    periodSeconds: timing.period_seconds,
    timeoutSeconds: timing.timeout_seconds,
    failureThreshold: timing.failure_threshold,
  });
}

export const probeFields = ({ liveness, readiness, startup }: Probes = {}) =>
  present({
    livenessProbe: liveness && probe(liveness),
    readinessProbe: readiness && probe(readiness),
    startupProbe: startup && probe(startup),
  });

/** How long a pod may take to start before its startup probe gives it up. */
export function startupSeconds({ startup }: Probes = {}): number {
  if (!startup) return 0;
  const { initial_delay_seconds = 0, period_seconds, failure_threshold } = startup;
  return initial_delay_seconds + (period_seconds ?? DEFAULT_PERIOD_SECONDS) * (failure_threshold ?? DEFAULT_FAILURES);
}
