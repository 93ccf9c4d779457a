import { ANNOTATIONS } from "@binnacle/contract";
import { expect, test, vi } from "vitest";
import { KINDS } from "../kinds.ts";
import type { KubeClient, KubeObject, WatchEvent } from "../kube/kube-client.ts";
import { PROJECTS } from "../kube/resource-types.ts";
import { startDesiredView } from "./desired-view.adapter.ts";

/** A project whose content does not fit its hash. */
const damaged = (resourceVersion: string): KubeObject => ({
  apiVersion: "binnacle.dev/v1alpha1",
  kind: "Project",
  metadata: {
    name: "shop",
    uid: "u",
    resourceVersion,
    annotations: { [ANNOTATIONS.resourceId]: "r", [ANNOTATIONS.generation]: "1", [ANNOTATIONS.hash]: "other" },
  },
  spec: { namespace: "shop" },
});

test("[OD11] a resource that is damaged again each time it is stored is requested less and less often", async () => {
  const waiting: ((event: WatchEvent) => void)[] = [];
  const kube: Pick<KubeClient, "list" | "watch"> = {
    list: async (type) => ({ resourceVersion: "1", items: type === PROJECTS ? ([damaged("1")] as never[]) : [] }),
    async *watch(type, { signal }) {
      while (!signal.aborted) {
        const event = Promise.withResolvers<WatchEvent>();
        signal.addEventListener("abort", () => event.reject(signal.reason));
        if (type === PROJECTS) waiting.push(event.resolve);
        yield (await event.promise) as WatchEvent<never>;
      }
    },
  };
  let nowMs = 0;
  const timers: { readonly atMs: number; readonly callback: () => void }[] = [];
  const clock = {
    now: () => nowMs,
    after: (ms: number, callback: () => void) => {
      timers.push({ atMs: nowMs + ms, callback });
      return () => undefined;
    },
  };
  const log = { info: () => undefined, warn: () => undefined };
  const requestedAt: number[] = [];
  const onDamaged = () => requestedAt.push(nowMs / 1_000);
  const view = startDesiredView({ kube, kinds: KINDS, clusterId: "c", clock, log, onDamaged });
  await view.synced;
  for (let time = 1; time <= 9; time += 1) {
    await vi.waitFor(() => expect(timers).toHaveLength(time));
    const timer = timers.at(-1);
    nowMs = timer?.atMs ?? 0;
    timer?.callback();
    const changed = await vi.waitFor(() => waiting[time - 1] ?? Promise.reject(new Error("Nothing is watched.")));
    changed({ type: "MODIFIED", object: damaged(`${time + 1}`) });
  }
  const gaps = requestedAt.map((at, index) => at - (requestedAt[index - 1] ?? 0));
  expect(gaps).toEqual([10, 20, 40, 80, 160, 320, 600, 600, 600]);
  expect(view.inventory()).toEqual([]);
  await view.stop();
});
