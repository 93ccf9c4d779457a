import type { Clock, UsageSource } from "../api/ports.ts";
import type { Pod } from "../controllers/pod.ts";
import type { Store } from "../store/store.ts";
import { nodeUsage, podUsageAt } from "./usage.ts";

const WINDOW_SECONDS = 15;

/** Nothing is measured or kept: what is used follows from the time. */
export const createUsageSource = (store: Pick<Store, "list">, clock: Clock): UsageSource => ({
  pod: (pod) => podUsageAt(pod as Pod, clock.nowMs()),
  node({ metadata }) {
    const nowMs = clock.nowMs();
    const pods = (store.list("pods") as readonly Pod[])
      .filter(({ spec }) => spec.nodeName === metadata.name)
      .flatMap((pod) => podUsageAt(pod, nowMs) ?? []);
    return { atMs: Math.floor(nowMs / 1_000) * 1_000, windowSeconds: WINDOW_SECONDS, ...nodeUsage(pods) };
  },
});
