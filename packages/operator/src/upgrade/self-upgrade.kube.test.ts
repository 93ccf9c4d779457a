import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { binaryFolder } from "../../../../test/kube/binaries.ts";
import { type Kube, startKube } from "../../../../test/kube/cluster.ts";
import { CHART, CLUSTER_ID, HELM, helmIn, withValues } from "../chart/helm.fixture.ts";
import { accountToken } from "../kube/account-token.fixture.ts";
import { createKubeClient } from "../kube/client.adapter.ts";
import type { KubeClient } from "../kube/kube-client.ts";
import { kubeAccessFrom } from "../kube/kubeconfig.adapter.ts";
import { realClock } from "../kube/real-clock.adapter.ts";
import { DEPLOYMENTS, PODS } from "../kube/resource-types.ts";
import { createLeadership } from "./leadership.runner.ts";
import { type SelfUpgrade, type SelfUpgradePorts, startSelfUpgrade } from "./self-upgrade.reconciler.ts";
import { deploymentImageOf, podImageOf } from "./upgrade.ts";

const NAMESPACE = "binnacle-system";
const NAME = "binnacle-operator";
const WITHIN = { timeout: 60_000, interval: 100 };
const SLOW_MS = 180_000;
const LOG = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const digest = (letter: string) => `sha256:${letter.repeat(64)}`;
const image = (letter: string) => `registry.example.com/binnacle/operator@${digest(letter)}`;
const binaries = binaryFolder();

/** The chart as Helm installs it, and the operator's account: it can do no more than the chart allows. */
describe.skipIf(HELM === null || binaries === null)("an operator in its own Deployment", { timeout: SLOW_MS }, () => {
  let home: string;
  let cluster: Kube;
  let admin: KubeClient;
  let kube: KubeClient;
  let helm: ReturnType<typeof helmIn>;
  const started: SelfUpgrade[] = [];
  let nowMs = Date.now();

  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), "binnacle-helm-"));
    cluster = await startKube({ binaries: binaries ?? "", parts: ["controllers", "pods"] });
    const access = await kubeAccessFrom({ KUBECONFIG: cluster.kubeconfigPath });
    admin = createKubeClient(access);
    helm = helmIn(home, cluster.kubeconfigPath);
    await install("a");
    const token = await accountToken(admin, { namespace: NAMESPACE, name: NAME });
    kube = createKubeClient({ ...access, identity: async () => ({ token, certificate: null, key: null }) });
  }, SLOW_MS);
  afterAll(async () => {
    for (const one of started) await one.stop();
    await kube?.close();
    await admin?.close();
    await cluster?.stop();
    rmSync(home, { recursive: true, force: true });
  });

  const install = (letter: string) =>
    helm(
      ...["upgrade", "--install", NAME, CHART, "--namespace", NAMESPACE, "--create-namespace"],
      ...withValues({ "image.registry": "registry.example.com", "image.digest": digest(letter) }),
    );
  const running = async () => {
    const found = await admin.get(DEPLOYMENTS, NAME, NAMESPACE);
    return found ? deploymentImageOf(found) : null;
  };
  const podWith = (letter: string) =>
    vi.waitUntil(async () => {
      const { items } = await admin.list(PODS, { namespace: NAMESPACE });
      return items.find((pod) => podImageOf(pod) === image(letter))?.metadata.name;
    }, WITHIN);
  /** The process in a pod that runs the image. */
  async function processIn(letter: string, ports: Partial<SelfUpgradePorts> = {}): Promise<SelfUpgrade> {
    const place = { namespace: NAMESPACE, deployment: NAME, pod: await podWith(letter) };
    const times = { clock: realClock, nowMs: () => nowMs, observeEveryMs: 50 };
    const one = await startSelfUpgrade({ kube, ...place, ...times, isConnected: () => true, log: LOG, ...ports });
    started.push(one);
    return one;
  }
  const request = (letter: string) => ({
    name: "upgrade_operator" as const,
    upgrade_id: randomUUID(),
    version: "0.2.0",
    digest: digest(letter),
    ready_within_seconds: 300,
  });

  test("[OU33] the former pod begins the upgrade, and the new one ends it once the hub has admitted it", async () => {
    const former = await processIn("a");
    const wanted = request("b");
    expect(await former.answer(wanted)).toMatchObject({ phase: "running", from: image("a"), to: image("b") });
    expect(await running()).toBe(image("b"));
    expect(await former.answer(wanted)).toMatchObject({ phase: "running" });
    await expect(former.answer(request("c"))).rejects.toThrow("under way");
    await former.stop();
    const next = await processIn("b");
    expect(await next.answer(wanted)).toMatchObject({ phase: "succeeded", from: image("a"), to: image("b") });
    await next.stop();
  });

  test("[OU34] the former pod goes back to its image when the deadline has passed, and says why", async () => {
    const former = await processIn("b");
    const wanted = request("c");
    expect(await former.answer(wanted)).toMatchObject({ phase: "running" });
    expect(await running()).toBe(image("c"));
    nowMs += 301_000;
    await vi.waitUntil(async () => (await running()) === image("b"), WITHIN);
    const observed = await former.answer(wanted);
    expect(observed).toMatchObject({ phase: "returned", from: image("b"), to: image("c") });
    expect(observed.reason).not.toBeNull();
    await former.stop();
  });

  test("[OU35] a new pod that finds the upgrade overdue at its start goes back, so a crash loop ends", async () => {
    const former = await processIn("b");
    const wanted = request("d");
    await former.answer(wanted);
    await former.stop();
    nowMs += 600_000;
    const crashed = await processIn("d", { isConnected: () => false });
    expect(await running()).toBe(image("b"));
    expect(await crashed.answer(wanted)).toMatchObject({ phase: "returned" });
    await crashed.stop();
  });

  test("[OU36] the account of the chart holds the Lease, and gives it to the next pod", async () => {
    const place = { clusterId: CLUSTER_ID, namespace: NAMESPACE };
    const times = { clock: realClock, nowMs: Date.now, tryEveryMs: 50 };
    const pod = (name: string) =>
      createLeadership({ kube, ...place, ...times, holder: name, trial: async () => null, log: LOG });
    const order: string[] = [];
    const stop = [new AbortController(), new AbortController()] as const;
    const work = (name: string) => async (lost: AbortSignal) => {
      order.push(`${name} begins`);
      await new Promise<void>((done) => lost.addEventListener("abort", () => done(), { once: true }));
      order.push(`${name} ends`);
    };
    const first = pod("first").run(stop[0].signal, work("first"));
    await vi.waitUntil(() => order.length === 1, WITHIN);
    const second = pod("second");
    const led = second.run(stop[1].signal, work("second"));
    await vi.waitUntil(() => second.couldLead, WITHIN);
    expect(order).toEqual(["first begins"]);
    stop[0].abort();
    await first;
    await vi.waitUntil(() => order.length === 3, WITHIN);
    stop[1].abort();
    await led;
    expect(order).toEqual(["first begins", "first ends", "second begins", "second ends"]);
  });

  test("[OU37] after an upgrade from the control plane Helm can give the release another image", async () => {
    const former = await processIn("b");
    await former.answer(request("e"));
    await former.stop();
    expect(await running()).toBe(image("e"));
    await install("f");
    expect(await running()).toBe(image("f"));
    const next = await processIn("f");
    await next.stop();
  });
});
