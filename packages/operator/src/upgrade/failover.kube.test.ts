import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { type CountingProxy, kubeconfigFor, startCountingProxy } from "../../../../test/kube/counting-proxy.ts";
import { type OperatorProcess, startOperatorProcess } from "../../../../test/world/operator-process.ts";
import { eventually, startTestOperator, type TestOperator } from "../desired/cluster.fixture.ts";
import { applyProject } from "../desired/frames.fixture.ts";
import { LEASES } from "../kube/lease.store.ts";
import { specOf } from "../kube/object-fields.ts";
import { NAMESPACES } from "../kube/resource-types.ts";
import { LEASE_NAMESPACE, leaseNameOf } from "./leadership.runner.ts";

/** What is promised, from the moment when the process that works is killed or frozen until another does its work. */
const FAIL_OVER_MS = 20_000;
const PROJECTS = 40;
const SLOW = { timeout: 120_000 };

/** Processes as `npm run operator` starts them, whose hub is away: a cluster is reconciled without it. */
describe("two operators of one cluster", () => {
  let folder: string;
  let proxy: CountingProxy;
  /** Stores what a hub would send. */
  let hub: TestOperator;
  beforeAll(async () => {
    [folder, proxy, hub] = await Promise.all([
      mkdtemp(join(tmpdir(), "binnacle-operator-")),
      startCountingProxy(inject("kubeconfig")),
      startTestOperator({ isIdle: true }),
    ]);
    await writeFile(join(folder, "proxied"), kubeconfigFor(proxy.url));
  });
  afterAll(async () => {
    await hub?.stop();
    await proxy?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  function started(kubeconfig = inject("kubeconfig")): OperatorProcess {
    const { clusterId } = hub;
    const one = startOperatorProcess({ hubUrl: "ws://127.0.0.1:9/hub/v1", clusterId, token: "t", kubeconfig });
    onTestFinished(async () => {
      one.signal("SIGKILL");
      await one.exited;
    });
    return one;
  }
  const holder = async () =>
    specOf((await hub.kube.get(LEASES, leaseNameOf(hub.clusterId), LEASE_NAMESPACE)) ?? NOTHING)["holderIdentity"];
  const printed = (one: OperatorProcess, words: string) => eventually(() => expect(one.printed()).toContain(words));
  const isReady = (one: OperatorProcess) => printed(one, "the operator is ready");
  /** It cannot take over yet, because the hub is away, but it does when the Lease is free. */
  const waits = (one: OperatorProcess) => printed(one, "the hub would not admit this process");
  async function wanted(count = 1): Promise<string[]> {
    const names = Array.from({ length: count }, () => `p-${randomUUID()}`);
    for (const name of names) await hub.store.apply(applyProject(name, { resource_id: randomUUID() }));
    return names;
  }
  const made = (names: readonly string[]) =>
    eventually(async () => {
      for (const name of names) expect(await hub.kube.get(NAMESPACES, name), name).not.toBeNull();
    }, 60_000);

  test(
    "[OU42] another operator does the work within 20 seconds after the one that works was killed",
    SLOW,
    async () => {
      const first = started();
      await isReady(first);
      const before = await holder();
      const second = started();
      await waits(second);
      await made(await wanted());
      expect([await holder(), second.printed().includes("the operator is ready")]).toEqual([before, false]);

      first.signal("SIGKILL");
      const killedAtMs = performance.now();
      await made(await wanted());
      expect(performance.now() - killedAtMs).toBeLessThan(FAIL_OVER_MS);
      expect(await holder()).not.toBe(before);
      second.signal("SIGTERM");
      expect(await second.exited).toBe(0);
      expect(await holder()).toBeUndefined();
    },
  );

  test(
    "[OU42] an operator that was frozen at work and goes on later writes nothing more and ends, since another works",
    SLOW,
    async () => {
      const frozen = started(join(folder, "proxied"));
      await isReady(frozen);
      const second = started();
      await waits(second);
      proxy.take();
      const names = wanted(PROJECTS);
      await eventually(() => expect([...proxy.take().keys()].some(isWrite)).toBe(true));
      frozen.signal("SIGSTOP");
      const frozenAtMs = performance.now();
      await made(await names);
      expect(performance.now() - frozenAtMs).toBeLessThan(FAIL_OVER_MS);
      await isReady(second);
      proxy.take();
      await hub.kube.delete(NAMESPACES, (await names)[0] ?? "", null);

      frozen.signal("SIGCONT");
      expect(await frozen.exited).toBe(1);
      expect(frozen.printed()).toContain("another operator of this cluster has the Lease");
      expect([...proxy.take().keys()].filter(isWrite)).toEqual([]);
    },
  );
});

const NOTHING = { apiVersion: "", kind: "", metadata: { name: "" } };
/** The Lease itself may be asked for: the API server refuses to renew it. */
const isWrite = (name: string): boolean => !/^(GET|LIST|WATCH) | leases$/.test(name);
