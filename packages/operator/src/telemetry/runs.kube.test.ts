import { randomUUID } from "node:crypto";
import { LABELS } from "@binnacle/contract";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { simulateLog } from "../../../../test/kube/pod-logs.ts";
import { type AppWorld, appWorld, workload } from "../app/app-world.fixture.ts";
import { realClock } from "../kube/real-clock.adapter.ts";
import { PODS } from "../kube/resource-types.ts";
import { createLogs } from "./logs.adapter.ts";
import { createRuns } from "./runs.adapter.ts";

const WITHIN = { timeout: 40_000, interval: 200 };
const CALM = { phase: "running", drift: { state: "in_sync" } };

describe("a run on a cluster", { timeout: 90_000 }, () => {
  let world: AppWorld;
  beforeEach(async () => {
    world = await appWorld();
    world.apps.start();
  });
  afterEach(() => world?.stop());

  const runs = () =>
    createRuns({ kube: world.client, clusterId: world.clusterId, pods: world.ports.pods, nowMs: Date.now });
  const asked = (component = "web") => ({
    name: "run" as const,
    namespace: world.namespace,
    app: "shop",
    component,
    run_id: randomUUID(),
    command: ["true"],
    args: null,
    env: [{ name: "ONCE", value: "1" }],
  });

  test("[AP96] [AP97] a run ends with its exit code, begins once however often it is asked for, and is deleted with the app", async () => {
    await world.deploy([workload("web", { ports: [{ name: "http", port: 80 }] })]);
    await world.seen(CALM);
    const request = asked();
    const { run_id, namespace, app } = request;
    expect(await runs()(request)).toMatchObject({ run: { id: run_id, component: "web" } });
    expect(await runs()(request)).toMatchObject({ run: { id: run_id } });
    const status = { name: "run_status", namespace, app, run_id } as const;
    await vi.waitFor(
      async () => expect(await runs()(status)).toMatchObject({ run: { status: "succeeded", exit_code: 0 } }),
      WITHIN,
    );
    const { items } = await world.client.list(PODS, { namespace, labelSelector: `${LABELS.run}=${run_id}` });
    expect(items.map(({ metadata }) => metadata.labels?.[LABELS.component])).toEqual([undefined]);
    // Nothing of the app has changed by it.
    await world.seen({ ...CALM, components: [{ name: "web", ready_replicas: 1 }] });
    expect(await runs()({ ...status, app: "other" })).toEqual({ run: null });
    expect(await runs()({ ...status, run_id: randomUUID() })).toEqual({ run: null });

    await world.remove();
    await vi.waitFor(() => expect(world.reports.at(-1)?.report).toEqual({ state: "gone" }), WITHIN);
    expect(await runs()(status)).toEqual({ run: null });
  });

  test("[TE63] [AP134] the log stream of a run ends when the run ends", async () => {
    await world.deploy([workload("web")]);
    await world.seen(CALM);
    const kwok = await world.client.resourceTypeOf("kwok.x-k8s.io/v1alpha1", "ClusterLogs").catch(() => null);
    const log = kwok && (await simulateLog(world.client, world.namespace));
    await log?.write(["once"]);
    const request = asked();
    await runs()(request);
    const logs = createLogs({
      kube: world.client,
      clusterId: world.clusterId,
      componentsOf: () => null,
      releasePods: { read: async () => null },
      clock: realClock,
      nowMs: Date.now,
      log: { debug: () => undefined, info: () => undefined, warn: () => undefined },
    });
    const { namespace, app, component, run_id } = request;
    const options = { tail_lines: 100, since_seconds: null, follow: true };
    const leaving = AbortSignal.timeout(WITHIN.timeout);
    const stream = logs({ name: "logs", namespace, app, component, run: run_id, ...options }, leaving);
    const lines: string[] = [];
    for await (const item of stream) if ("line" in item) lines.push(item.line);
    await log?.remove();
    expect(leaving.aborted).toBe(false);
    if (log) expect(lines).toEqual(["once"]);
    const status = { name: "run_status", namespace, app, run_id } as const;
    expect(await runs()(status)).toMatchObject({ run: { status: "succeeded" } });
  });

  test("[AP96] a run of a component without a workload on the cluster is refused", async () => {
    await world.deploy([workload("web")]);
    await world.seen(CALM);
    for (const component of ["absent", "web,!x"]) {
      await expect(runs()(asked(component))).rejects.toMatchObject({ code: "failed" });
    }
  });
});
