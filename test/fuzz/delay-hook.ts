/**
 * Loaded before the server by `--import`: measures, inside the process, for how long its event loop does not turn, and tells
 * it over the channel to the process that started the server. The server itself knows nothing of it.
 */
import { createHistogram, monitorEventLoopDelay } from "node:perf_hooks";

/** The measurements that a server reports about itself. */
export interface Vitals {
  /** The delay of the event loop, whatever its cause. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly maxMs: number;
  /** The computing time of its thread between two turns of the loop, which no other process on the machine can cause. */
  readonly ownP999Ms: number;
  readonly ownMaxMs: number;
  /** After a collection of garbage. */
  readonly heapBytes: number;
}

const RESOLUTION_MS = 10;
const NANOSECONDS_PER_MS = 1e6;
const MICROSECONDS_PER_MS = 1e3;
const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
const ownWork = createHistogram();

const cpuMicroseconds = () => {
  const { user, system } = process.threadCpuUsage();
  return user + system;
};
let before = cpuMicroseconds();
const watch = setInterval(() => {
  const now = cpuMicroseconds();
  ownWork.record(Math.max(1, Math.round(now - before)));
  before = now;
}, RESOLUTION_MS);
watch.unref();
delays.enable();

process.on("message", (message) => {
  if (message === "start") {
    delays.reset();
    ownWork.reset();
    return;
  }
  const late = (percentile: number) => delays.percentile(percentile) / NANOSECONDS_PER_MS;
  const measured = {
    p50Ms: late(50),
    p99Ms: late(99),
    p999Ms: late(99.9),
    maxMs: delays.max / NANOSECONDS_PER_MS,
    ownP999Ms: ownWork.percentile(99.9) / MICROSECONDS_PER_MS,
    ownMaxMs: ownWork.max / MICROSECONDS_PER_MS,
  };
  // The collection is asked for after the delays are read: it stops the loop itself.
  globalThis.gc?.();
  before = cpuMicroseconds();
  const { heapUsed, external } = process.memoryUsage();
  process.send?.({ ...measured, heapBytes: heapUsed + external } satisfies Vitals);
});
// The channel alone does not keep the server from ending.
process.channel?.unref();
