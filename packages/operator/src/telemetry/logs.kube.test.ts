import { randomUUID } from "node:crypto";
import { LABELS } from "@binnacle/contract";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test, vi } from "vitest";
import { type PodLog, realLog, simulateLog } from "../../../../test/kube/pod-logs.ts";
import { ownLabels } from "../desired/ownership.ts";
import { clusterClient, freshNamespace } from "../kube/cluster.fixture.ts";
import type { KubeClient } from "../kube/kube-client.ts";
import { realClock } from "../kube/real-clock.adapter.ts";
import { PODS } from "../kube/resource-types.ts";
import type { LogStreamRequest } from "../link/ports.ts";
import { createLogs } from "./logs.adapter.ts";

const WITHIN = { timeout: 40_000, interval: 100 };
const clusterId = randomUUID();

let client: KubeClient;
let namespace: Awaited<ReturnType<typeof freshNamespace>>;
const written: PodLog[] = [];
beforeAll(async () => {
  client = await clusterClient();
  namespace = await freshNamespace(client);
});
afterAll(async () => {
  for (const log of written) await log.remove();
  await namespace?.remove();
  await client?.close();
});

/** A pod of a component that runs, and what it writes. */
async function runPod(component: string, name: string, lines: readonly [text: string, time: string][] = []) {
  const log = inject("isSimulated") ? await simulateLog(client, namespace.name, name) : await realLog();
  written.push(log);
  for (const [text, time] of lines) await log.write([text], time);
  const labels = { ...ownLabels(clusterId), [LABELS.app]: "shop", [LABELS.component]: component };
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: namespace.name, labels },
    spec: { terminationGracePeriodSeconds: 0, ...log.spec },
  };
  await vi.waitFor(() => client.create(pod), WITHIN);
  const running = { status: { containerStatuses: [{ state: { running: {} } }] } };
  await vi.waitFor(async () => expect(await client.get(PODS, name, namespace.name)).toMatchObject(running), WITHIN);
  return log;
}

function reading(component: string, changes: Partial<LogStreamRequest> = {}, asCluster = clusterId) {
  const log = { debug: vi.fn(), info: vi.fn(), warn: vi.fn() };
  const componentsOf = () => ["web", "worker", "late", "steady"].map((name) => ({ name, release: null }));
  const logs = createLogs({
    kube: client,
    clusterId: asCluster,
    componentsOf,
    releasePods: { read: async () => null },
    clock: realClock,
    nowMs: Date.now,
    log,
  });
  const stop = new AbortController();
  const lines: string[] = [];
  let hasBegun = false;
  const request = { name: "logs", namespace: namespace.name, app: "shop", component } as const;
  const asked: LogStreamRequest = { ...request, tail_lines: 100, since_seconds: null, follow: true, ...changes };
  const done = (async () => {
    for await (const item of logs(asked, stop.signal)) {
      if ("line" in item) lines.push(`${item.pod} ${item.line}`);
      else hasBegun = true;
    }
  })();
  onTestFinished(async () => {
    stop.abort();
    await done;
  });
  return { lines, done, hasBegun: () => hasBegun };
}

const at = (second: number) => `2026-01-31T09:30:0${second}.000000000Z`;

describe("on a real cluster", () => {
  // A real pod cannot be told when it has written a line.
  test.skipIf(!inject("isSimulated"))(
    "[TE3] the last lines of many pods come in the order of time, and the stream ends",
    async () => {
      await runPod("web", "web-a", [
        ["1", at(1)],
        ["3", at(3)],
        ["5", at(5)],
      ]);
      await runPod("web", "web-b", [
        ["2", at(2)],
        ["4", at(4)],
      ]);
      const all = reading("web", { follow: false });
      await all.done;
      expect(all.lines).toEqual(["web-a 1", "web-b 2", "web-a 3", "web-b 4", "web-a 5"]);
      const last = reading("web", { follow: false, tail_lines: 1 });
      await last.done;
      expect(last.lines).toEqual(["web-b 4", "web-a 5"]);
      const recent = reading("web", { follow: false, since_seconds: 3_600 });
      await recent.done;
      expect(recent.lines).toEqual([]);
    },
  );

  test("[TE8] the pods of another cluster's operator do not show in a log stream", async () => {
    await runPod("worker", "worker-a", [["mine", at(1)]]);
    const other = reading("worker", { follow: false }, randomUUID());
    await other.done;
    expect(other.lines).toEqual([]);
  });

  test("[TE5] lines that are written later are followed, each line once", async () => {
    const log = await runPod("steady", "steady-a", [["before", at(1)]]);
    const stream = reading("steady");
    await vi.waitFor(() => expect(stream.lines).toEqual(["steady-a before"]), WITHIN);
    await log.write(["one", "two"]);
    await vi.waitFor(() => expect(stream.lines).toHaveLength(3), WITHIN);
    await log.write(["three"]);
    await vi.waitFor(() => expect(stream.lines.at(-1)).toBe("steady-a three"), WITHIN);
    expect(stream.lines).toEqual(["before", "one", "two", "three"].map((line) => `steady-a ${line}`));
  });

  test("[TE6] pods are added to a log stream that waits for them, and removed when they are deleted", async () => {
    const stream = reading("late");
    await vi.waitFor(() => expect(stream.hasBegun()).toBe(true), WITHIN);
    await runPod("late", "late-a", [["a", at(1)]]);
    await vi.waitFor(() => expect(stream.lines).toEqual(["late-a a"]), WITHIN);
    const log = await runPod("late", "late-b", [["b", at(2)]]);
    await vi.waitFor(() => expect(stream.lines).toEqual(["late-a a", "late-b b"]), WITHIN);
    await client.delete(PODS, "late-a", namespace.name);
    await vi.waitFor(async () => expect(await client.get(PODS, "late-a", namespace.name)).toBeNull(), WITHIN);
    await log.write(["c"]);
    await vi.waitFor(() => expect(stream.lines).toEqual(["late-a a", "late-b b", "late-b c"]), WITHIN);
  });
});
