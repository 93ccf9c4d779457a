import { describe, expect, test } from "vitest";
import type { DeleteOptions, KubeObject } from "./kube-client.ts";
import { KubeError } from "./kube-error.ts";
import { createLeases } from "./lease.store.ts";

const id = { namespace: "shop", name: "db", owner: "addon" };

interface Given {
  readonly loseAfterMs?: number;
}

/** One Lease, kept as the API server keeps it, and a clock that is moved by hand. */
function cluster(held: Partial<KubeObject> | null = null, given: Given = {}) {
  let lease: KubeObject | null =
    held && ({ apiVersion: "coordination.k8s.io/v1", kind: "Lease", ...held } as KubeObject);
  let version = 1;
  let nowMs = 0;
  let isDown = false;
  let isAnswerLost = false;
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
      const given = Object.entries({ ...lease.metadata.annotations, ...metadata.annotations });
      const annotations = Object.fromEntries(given.filter(([, text]) => text !== null));
      const answer = stored({ ...lease, metadata: { ...lease.metadata, annotations }, spec });
      if (!isAnswerLost) return answer;
      isAnswerLost = false;
      throw new KubeError({ status: 0, reason: "Timeout", message: "No answer." });
    },
    delete: async (_type: unknown, _name: string, _namespace: unknown, options: DeleteOptions = {}) => {
      const { resourceVersion } = options.preconditions ?? {};
      if (resourceVersion && resourceVersion !== lease?.metadata.resourceVersion) throw conflict();
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
    leases: createLeases({
      kubeIn: () => kube,
      prefix: "binnacle-helm-",
      clusterId: "c1",
      holder: "me",
      clock,
      nowMs: () => nowMs,
      ...given,
    }),
    holder: () => (lease?.["spec"] as { holderIdentity?: string } | undefined)?.holderIdentity ?? null,
    lease: () => lease,
    fail: (isFailing = true) => {
      isDown = isFailing;
    },
    loseAnswer: () => {
      isAnswerLost = true;
    },
    /** Time passes, and this process does not. */
    freeze: (seconds: number) => {
      nowMs += seconds * 1_000;
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
  test("a Lease is held and renewed during the work, and released after it", async () => {
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

  test("a Lease that another holds is respected until nobody renewed it for its duration", async () => {
    const spec = { holderIdentity: "another", leaseDurationSeconds: 20 };
    const world = cluster({ metadata: { name: "binnacle-helm-db", namespace: "shop", resourceVersion: "1" }, spec });
    const work = async () => undefined;
    expect(await world.leases.under(id, never, work)).toBe(false);
    await world.pass(19);
    expect(await world.leases.under(id, never, work)).toBe(false);
    await world.pass(1);
    expect(await world.leases.under(id, never, work)).toBe(true);
  });

  test("a Lease that is taken away ends the work", async () => {
    const world = cluster();
    const work = world.leases.under(id, never, untilAborted);
    await world.pass(1);
    world.steal();
    await world.pass(10);
    expect(await work).toBe(true);
  });

  test("a Lease that cannot be renewed ends the work before the Lease runs out", async () => {
    const world = cluster();
    const work = world.leases.under(id, never, untilAborted);
    await world.pass(1);
    world.fail();
    await world.pass(15);
    expect(await work).toBe(true);
  });

  test("a Lease is released when the work fails", async () => {
    const world = cluster();
    const work = world.leases.under(id, never, () => Promise.reject(new Error("no")));
    await expect(work).rejects.toThrow("no");
    expect(world.lease()).toBeNull();
  });
});

describe("a process that has a Lease", () => {
  const DURATION_S = 20;
  /** Something that knows whether the Lease is held, and whether the work was ended. */
  async function atWork(given: Given = {}) {
    const world = cluster(null, given);
    const seen = { isHeld: () => false, isEnded: false };
    void world.leases.under(id, never, async (signal, { isHeld }) => {
      seen.isHeld = isHeld;
      await untilAborted(signal);
      seen.isEnded = true;
    });
    await world.pass(1);
    return { world, seen };
  }

  test("[OU41] a process that was frozen knows that it may have lost its Lease before any timer tells it", async () => {
    const { world, seen } = await atWork();
    await world.pass(3);
    expect(seen.isHeld()).toBe(true);
    world.freeze(DURATION_S * 0.75);
    expect(seen.isHeld()).toBe(false);
    world.steal();
    await world.pass(1);
    expect(seen).toMatchObject({ isEnded: true });
    expect([seen.isHeld(), world.holder()]).toEqual([false, "another"]);
  });

  test("[OU41] a process that cannot renew its Lease waits without it, and goes on where nobody else has taken it", async () => {
    const { world, seen } = await atWork({ loseAfterMs: 60_000 });
    world.fail();
    await world.pass(30);
    expect([seen.isHeld(), seen.isEnded]).toEqual([false, false]);
    world.fail(false);
    await world.pass(6);
    expect([seen.isHeld(), seen.isEnded]).toEqual([true, false]);
    world.fail();
    await world.pass(70);
    expect(seen.isEnded).toBe(true);
  });

  test("[OU43] a process whose renewal succeeded without an answer keeps its Lease", async () => {
    const { world, seen } = await atWork();
    world.loseAnswer();
    await world.pass(30);
    expect([seen.isHeld(), seen.isEnded, world.holder()]).toEqual([true, false, "me"]);
  });
});

describe("[HE50] the note of a Lease", () => {
  test("the note of a Lease is found by the next holder, and the Lease is free meanwhile", async () => {
    const world = cluster();
    await world.leases.under(id, never, async (_, note) => {
      expect(note.text).toBeNull();
      await note.write("tried twice");
    });
    expect(world.holder()).toBe("");
    await world.leases.under(id, never, async (_, note) => {
      expect(note.text).toBe("tried twice");
      await note.write(null);
    });
    expect(world.lease()).toBeNull();
  });

  test("the note of a Lease is there as soon as it is written, so that a killed process leaves it", async () => {
    const world = cluster();
    void world.leases.under(id, never, async (_, note) => {
      await note.write("begun");
      await new Promise(() => undefined);
    });
    await world.pass(1);
    expect(world.lease()?.metadata.annotations).toEqual({ "binnacle.dev/note": "begun" });
    await world.pass(60);
    expect(world.lease()?.metadata.annotations).toEqual({ "binnacle.dev/note": "begun" });
    expect(world.holder()).toBe("me");
  });

  test("the note of a Lease goes with the work that it is about", async () => {
    const world = cluster();
    await world.leases.under(id, never, (_, note) => note.write("tried"));
    await world.leases.drop(id);
    expect(world.lease()).toBeNull();
  });
});
