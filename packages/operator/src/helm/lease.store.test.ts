import { describe, expect, test } from "vitest";
import type { KubeObject } from "../kube/kube-client.ts";
import { KubeError } from "../kube/kube-error.ts";
import { createSlots } from "./attempts.ts";
import { createLeases } from "./lease.store.ts";

const id = { namespace: "shop", name: "db", owner: "addon" };

/** One Lease, kept as the API server keeps it, and a clock that is moved by hand. */
function cluster(held: Partial<KubeObject> | null = null) {
  let lease: KubeObject | null =
    held && ({ apiVersion: "coordination.k8s.io/v1", kind: "Lease", ...held } as KubeObject);
  let version = 1;
  let nowMs = 0;
  let isDown = false;
  const timers = new Set<{ readonly atMs: number; readonly callback: () => void }>();
  const conflict = () => new KubeError({ status: 409, reason: "Conflict", message: "It has changed." });
  const stored = (next: KubeObject) => {
    if (isDown) throw new KubeError({ status: 0, reason: "Unreachable", message: "No answer." });
    version += 1;
    lease = { ...next, metadata: { ...next.metadata, uid: "u", resourceVersion: String(version) } };
    return lease as never;
  };
  const kube = {
    get: async () => lease as never,
    create: async (object: KubeObject) => {
      if (lease) throw conflict();
      return stored(object);
    },
    patch: async (_type: unknown, _name: string, _namespace: unknown, patch: unknown) => {
      const { metadata, spec } = patch as KubeObject;
      if (!lease || metadata.resourceVersion !== lease.metadata.resourceVersion) throw conflict();
      return stored({ ...lease, spec });
    },
    delete: async () => {
      lease = null;
      return "deleting" as const;
    },
  };
  const clock = {
    now: () => nowMs,
    after(ms: number, callback: () => void) {
      const timer = { atMs: nowMs + ms, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
  };
  return {
    leases: createLeases({ kubeIn: () => kube, clusterId: "c1", holder: "me", clock, nowMs: () => nowMs }),
    holder: () => (lease?.["spec"] as { holderIdentity?: string } | undefined)?.holderIdentity ?? null,
    lease: () => lease,
    fail: () => {
      isDown = true;
    },
    steal: () => stored({ ...(lease as KubeObject), spec: { holderIdentity: "another", leaseDurationSeconds: 20 } }),
    /** Lets time pass second by second, and what is due happen. */
    async pass(seconds: number) {
      for (let second = 0; second < seconds; second += 1) {
        nowMs += 1_000;
        for (const timer of [...timers]) {
          if (timer.atMs > nowMs) continue;
          timers.delete(timer);
          timer.callback();
        }
        for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
      }
    },
  };
}

const untilAborted = (signal: AbortSignal) =>
  new Promise<void>((done) => signal.addEventListener("abort", () => done(), { once: true }));
const never = new AbortController().signal;

describe("[HE6] a Lease", () => {
  test("is held and renewed during the work, and given back after it", async () => {
    const world = cluster();
    const done = Promise.withResolvers<void>();
    const work = world.leases.under(id, never, () => done.promise);
    await world.pass(60);
    expect(world.holder()).toBe("me");
    const { resourceVersion } = world.lease()?.metadata ?? {};
    expect(Number(resourceVersion)).toBeGreaterThan(10);
    done.resolve();
    expect(await work).toBe(true);
    expect(world.lease()).toBeNull();
  });

  test("that another holds is respected until nobody was seen to renew it", async () => {
    const spec = { holderIdentity: "another", leaseDurationSeconds: 20 };
    const world = cluster({ metadata: { name: "binnacle-helm-db", namespace: "shop", resourceVersion: "1" }, spec });
    const work = async () => undefined;
    expect(await world.leases.under(id, never, work)).toBe(false);
    await world.pass(19);
    expect(await world.leases.under(id, never, work)).toBe(false);
    await world.pass(1);
    expect(await world.leases.under(id, never, work)).toBe(true);
  });

  test("that is taken away ends the work", async () => {
    const world = cluster();
    const work = world.leases.under(id, never, untilAborted);
    await world.pass(1);
    world.steal();
    await world.pass(10);
    expect(await work).toBe(true);
  });

  test("that cannot be renewed ends the work before it runs out", async () => {
    const world = cluster();
    const work = world.leases.under(id, never, untilAborted);
    await world.pass(1);
    world.fail();
    await world.pass(15);
    expect(await work).toBe(true);
  });

  test("is given back when the work fails", async () => {
    const world = cluster();
    const work = world.leases.under(id, never, () => Promise.reject(new Error("no")));
    await expect(work).rejects.toThrow("no");
    expect(world.lease()).toBeNull();
  });
});

test("[HE7] no more than so many work at once, and all get their turn", async () => {
  const slots = createSlots(2);
  let atWork = 0;
  let most = 0;
  const work = () =>
    slots.within(async () => {
      atWork += 1;
      most = Math.max(most, atWork);
      await Promise.resolve();
      atWork -= 1;
    });
  await Promise.all([1, 2, 3, 4, 5].map(work));
  expect([atWork, most]).toEqual([0, 2]);
});
