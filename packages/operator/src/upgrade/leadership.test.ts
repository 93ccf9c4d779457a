import { expect, test } from "vitest";
import type { KubeObject } from "../kube/kube-client.ts";
import { KubeError } from "../kube/kube-error.ts";
import { createLeadership } from "./leadership.runner.ts";

const LOG = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const EARLIER_POD = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "earlier" },
  spec: { containers: [{ name: "operator", env: [{ name: "BINNACLE_CLUSTER_ID", value: "c1" }] }] },
};

/** One Lease and the pods of a Deployment, with a clock that is moved by hand. */
function cluster() {
  let lease: KubeObject | null = null;
  let version = 0;
  let nowMs = 0;
  const timers = new Set<() => void>();
  const pods: KubeObject[] = [];
  const stored = (object: KubeObject) => {
    version += 1;
    lease = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
    return lease as never;
  };
  let isForbidden = false;
  const kube = {
    async get() {
      if (isForbidden) throw new KubeError({ status: 403, reason: "Forbidden", message: "No." });
      return lease as never;
    },
    list: async () => ({ resourceVersion: "1", items: pods as never }),
    async create(object: KubeObject) {
      if (lease) throw new KubeError({ status: 409, reason: "AlreadyExists", message: "It exists." });
      return stored(object);
    },
    patch: async (_type: unknown, _name: string, _namespace: unknown, patch: unknown) =>
      stored({ ...(lease as KubeObject), spec: (patch as KubeObject)["spec"] }),
    async delete() {
      lease = null;
      return "gone" as const;
    },
  };
  const clock = {
    now: () => nowMs,
    after(_ms: number, callback: () => void) {
      timers.add(callback);
      return () => void timers.delete(callback);
    },
  };
  /** Lets everything that waits for the clock go on. */
  async function turn(): Promise<void> {
    nowMs += 2_000;
    const due = [...timers];
    timers.clear();
    for (const callback of due) callback();
    for (let step = 0; step < 30; step += 1) await Promise.resolve();
  }
  const pod = (name: string, trial: () => Promise<string | null>) => {
    const place = { clusterId: "c1", namespace: "binnacle-system", holder: name };
    return createLeadership({ kube, ...place, trial, clock, nowMs: () => nowMs, log: LOG });
  };
  return {
    pod,
    turn,
    pods,
    forbid: () => {
      isForbidden = true;
    },
    holder: () => (lease?.["spec"] as { holderIdentity?: string } | undefined)?.holderIdentity,
  };
}

const admitted = async () => null;
/** Works until the signal is given. */
const untilAborted = (signal: AbortSignal) =>
  new Promise<void>((done) => signal.addEventListener("abort", () => done(), { once: true }));

test("[OU27] the new pod works only after the former has ended, and is ready before: once the hub would admit it", async () => {
  const { pod, turn, holder } = cluster();
  const stopFormer = new AbortController();
  const worked: string[] = [];
  const former = pod("former", admitted).run(stopFormer.signal, async (signal) => {
    worked.push("former begins");
    await untilAborted(signal);
    worked.push("former ends");
  });
  await turn();
  let answer: string | null = "4401: the token is not valid";
  const candidate = pod("new", async () => answer);
  const stopNew = new AbortController();
  const next = candidate.run(stopNew.signal, async (signal) => {
    worked.push("new begins");
    await untilAborted(signal);
  });
  await turn();
  expect([candidate.couldLead, holder()]).toEqual([false, "former"]);
  answer = null;
  await turn();
  expect([candidate.couldLead, holder(), worked]).toEqual([true, "former", ["former begins"]]);
  stopFormer.abort();
  await former;
  await turn();
  expect([holder(), worked]).toEqual(["new", ["former begins", "former ends", "new begins"]]);
  stopNew.abort();
  await next;
  expect(holder()).toBeUndefined();
});

test("[OU28] a container that is started again in the same pod does not wait for its own Lease", async () => {
  const { pod, turn, holder } = cluster();
  // It is killed: nothing is released.
  void pod("former", admitted).run(new AbortController().signal, () => new Promise<void>(() => {}));
  await turn();
  const worked: string[] = [];
  void pod("former", admitted).run(new AbortController().signal, async () => void worked.push("again"));
  await turn();
  expect([holder(), worked]).toEqual([undefined, ["again"]]);
});

test("[OU29] a pod of an earlier chart, which knows no Lease, is waited for as well", async () => {
  const { pod, turn, pods } = cluster();
  pods.push(EARLIER_POD);
  const worked: string[] = [];
  const candidate = pod("new", admitted);
  void candidate.run(new AbortController().signal, async () => void worked.push("new"));
  await turn();
  expect([candidate.couldLead, worked]).toEqual([true, []]);
  pods.pop();
  await turn();
  expect(worked).toEqual(["new"]);
});

test("[OU27] a pod that may not read the Lease is not ready, so that the former one is not ended for it", async () => {
  const { pod, turn, forbid } = cluster();
  forbid();
  const candidate = pod("new", admitted);
  void candidate.run(new AbortController().signal, async () => undefined);
  await turn();
  await turn();
  expect(candidate.couldLead).toBe(false);
});
