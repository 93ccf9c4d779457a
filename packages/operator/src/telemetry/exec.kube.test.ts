import { randomUUID } from "node:crypto";
import { LABELS } from "@binnacle/contract";
import { afterAll, beforeAll, describe, expect, inject, test, vi } from "vitest";
import { ownLabels } from "../desired/ownership.ts";
import { clusterClient, freshNamespace } from "../kube/cluster.fixture.ts";
import type { ExecProcess } from "../kube/exec.ts";
import type { KubeClient } from "../kube/kube-client.ts";
import { PODS } from "../kube/resource-types.ts";
import { createExec } from "./exec.adapter.ts";

const WITHIN = { timeout: 60_000, interval: 100 };
const clusterId = randomUUID();

/** Only a real kubelet has containers in which something runs. */
describe.skipIf(inject("isSimulated"))("a command on a real node", { timeout: 120_000 }, () => {
  let client: KubeClient;
  let namespace: Awaited<ReturnType<typeof freshNamespace>>;

  beforeAll(async () => {
    client = await clusterClient();
    namespace = await freshNamespace(client);
    const labels = { ...ownLabels(clusterId), [LABELS.app]: "shop", [LABELS.component]: "web" };
    const pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "web-0", namespace: namespace.name, labels },
      spec: { terminationGracePeriodSeconds: 0, containers: [{ name: "main", image: "nginx:1.29" }] },
    };
    await vi.waitFor(() => client.create(pod), WITHIN);
    const running = { status: { containerStatuses: [{ state: { running: {} } }] } };
    await vi.waitFor(
      async () => expect(await client.get(PODS, "web-0", namespace.name)).toMatchObject(running),
      WITHIN,
    );
  }, 120_000);
  afterAll(async () => {
    await namespace?.remove();
    await client?.close();
  });

  async function started(command: string[], tty: boolean, size = { cols: 80, rows: 24 }) {
    const exec = createExec({
      kube: client,
      clusterId,
      componentsOf: () => [{ name: "web", release: null }],
      releasePods: { read: async () => null },
    });
    const place = { name: "exec", namespace: namespace.name, app: "shop", component: "web" } as const;
    const target = await exec({ ...place, pod: null, container: null, command, tty, size });
    const seen = { stdout: "", stderr: "", bytes: 0 };
    const ended = Promise.withResolvers<unknown>();
    const process: ExecProcess = target.start({
      output(channel, data) {
        seen.bytes += data.length;
        if (seen.bytes < 1_000_000) seen[channel] += data.toString();
      },
      ended: ended.resolve,
    });
    return { target, seen, process, ended: ended.promise };
  }

  test("[EX17] a command on a real node has its stdout and stderr apart and its exit code", async () => {
    const { target, seen, ended } = await started(["/bin/sh", "-c", "echo hello; echo oops >&2; exit 3"], false);
    expect(await ended).toEqual({ exitCode: 3 });
    expect([target.pod, target.container, seen.stdout, seen.stderr]).toEqual(["web-0", "main", "hello\n", "oops\n"]);
  });

  test("[EX17] a command on a real node gets its whole input and the end of it", async () => {
    const { seen, process, ended } = await started(["/bin/busybox", "cat"], false);
    const text = "0123456789".repeat(10_000);
    const taken = vi.fn();
    process.write(Buffer.from(text), taken);
    process.endInput();
    expect(await ended).toEqual({ exitCode: 0 });
    expect(seen.stdout).toBe(text);
    expect(taken).toHaveBeenCalledTimes(1);
  });

  test("[EX17] a shell on a real node has a terminal of the size that it is given, at first and later", async () => {
    const { seen, process, ended } = await started(["/bin/sh"], true, { cols: 120, rows: 40 });
    process.write(Buffer.from("busybox stty size\n"), () => undefined);
    await vi.waitFor(() => expect(seen.stdout).toContain("40 120"), WITHIN);
    process.resize({ cols: 100, rows: 30 });
    await vi.waitFor(() => {
      process.write(Buffer.from("busybox stty size\n"), () => undefined);
      expect(seen.stdout).toContain("30 100");
    }, WITHIN);
    process.write(Buffer.from("exit 7\n"), () => undefined);
    expect(await ended).toEqual({ exitCode: 7 });
  });

  test("[EX17] a command that does not exist on a real node ends with an error that says so", async () => {
    const { ended } = await started(["/bin/nothing"], false);
    expect(await ended).toEqual({ error: expect.stringContaining("no such file or directory") });
  });

  test("[EX17] a command on a real node that never stops is paused, goes on, and is cancelled", async () => {
    const { seen, process } = await started(["/bin/busybox", "yes"], true);
    await vi.waitFor(() => expect(seen.bytes).toBeGreaterThan(100_000), WITHIN);
    process.pause();
    let before = -1;
    await vi.waitFor(() => {
      const isQuiet = before === seen.bytes;
      before = seen.bytes;
      expect(isQuiet).toBe(true);
    }, WITHIN);
    process.resume();
    await vi.waitFor(() => expect(seen.bytes).toBeGreaterThan(before + 100_000), WITHIN);
    process.cancel();
  });
});
