import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CLOSE, LINK_SUBPROTOCOL, LINK_TRIAL_SUBPROTOCOL } from "@binnacle/contract";
import { freePort } from "@binnacle/world/free-port";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { type Asked, type FakeApi, startFakeApi } from "./kube/fake-api.fixture.ts";
import { Hub } from "./link/hub.fixture.ts";

const ROOT = new URL("../../../", import.meta.url).pathname;
const { scripts } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
/** As `npm run operator` starts it. */
const [VARIABLE = "", COMMAND = ""] = (scripts.operator as string).split(" exec node ");
const [CACHE = "", FOLDER = ""] = VARIABLE.replace("$PWD/", ROOT).split("=");
/** The first start compiles the sources, beside other tests. */
const PATIENT = { timeout: 60_000, interval: 20 };
const NODE = {
  metadata: { name: "n1", uid: "u1", resourceVersion: "1" },
  status: { capacity: { cpu: "3500m", memory: "8Gi", pods: "110" } },
};

/** A cluster with one node and nothing in it. */
function emptyCluster({ path, query }: Asked): readonly [number, unknown] | null {
  if (path === "/version") return [200, { major: "1", minor: "37", gitVersion: "v1.37.1", platform: "linux/amd64" }];
  if (query["watch"]) return null;
  if (path.endsWith("/configmaps/binnacle-operator-memory"))
    return [404, { kind: "Status", code: 404, reason: "NotFound" }];
  return [200, { metadata: { resourceVersion: "1" }, items: path.endsWith("/nodes") ? [NODE] : [] }];
}

/** The same with Leases, of which there is one at most. */
function clusterWithLease() {
  let lease: { spec?: { holderIdentity?: string } } | null = null;
  let version = 1;
  const answer = (asked: Asked): readonly [number, unknown] | null => {
    if (asked.path === "/apis/coordination.k8s.io/v1") {
      return [200, { resources: [{ name: "leases", kind: "Lease", namespaced: true }] }];
    }
    if (!asked.path.includes("/leases")) return emptyCluster(asked);
    if (asked.method === "DELETE") lease = null;
    else if (asked.method !== "GET") {
      version += 1;
      const metadata = { name: "op-leader", namespace: "binnacle-system", uid: "l1", resourceVersion: String(version) };
      lease = { ...(asked.body as object), metadata } as typeof lease;
    }
    return lease ? [200, lease] : [404, { kind: "Status", code: 404, reason: "NotFound" }];
  };
  return { answer, holder: () => lease?.spec?.holderIdentity ?? null };
}

interface Started {
  readonly child: ChildProcess;
  readonly output: () => string;
}

function start(env: Record<string, string>): Started {
  const child = spawn(process.execPath, COMMAND.split(" "), {
    cwd: ROOT,
    env: { PATH: process.env["PATH"] ?? "", [CACHE]: FOLDER, ...env },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (bytes) => (output += String(bytes)));
  onTestFinished(() => void child.kill("SIGKILL"));
  return { child, output: () => output };
}

/** Beside another process where one is given: the same cluster, the same hub. */
async function startInCluster(
  answer = emptyCluster,
  env: Record<string, string> = {},
  beside?: { readonly api: FakeApi; readonly hub: Hub },
) {
  const [api, hub, folder] = await Promise.all([
    beside?.api ?? startFakeApi(answer),
    beside?.hub ?? Hub.start(),
    mkdtemp(join(tmpdir(), "binnacle-operator-")),
  ]);
  const kubeconfig = join(folder, "kubeconfig");
  const config = {
    "current-context": "c",
    contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
    clusters: [{ name: "c", cluster: { server: api.url } }],
    users: [{ name: "u", user: { token: "t" } }],
  };
  await writeFile(kubeconfig, JSON.stringify(config));
  const healthPort = await freePort();
  onTestFinished(async () => {
    if (!beside) await api.stop();
    if (!beside) await hub.stop();
    await rm(folder, { recursive: true });
  });
  const started = start({
    KUBECONFIG: kubeconfig,
    BINNACLE_HUB_URL: hub.url,
    BINNACLE_CLUSTER_ID: "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11",
    BINNACLE_TOKEN: "hush-token",
    BINNACLE_HEALTH_PORT: String(healthPort),
    ...env,
  });
  const probe = async (path: string) => (await fetch(`http://127.0.0.1:${healthPort}${path}`)).status;
  const metrics = async () => (await fetch(`http://127.0.0.1:${healthPort}/metrics`)).text();
  return { ...started, api, hub, probe, metrics };
}

describe("the operator as a process", () => {
  test("[OL8] the operator sends the facts of its cluster to the hub, with its token", async () => {
    const { hub, output } = await startInCluster();
    const side = await vi.waitFor(() => hub.side(), PATIENT);
    expect(await side.received("hello")).toMatchObject({
      revision: null,
      facts: {
        kubernetes_version: "v1.37.1",
        node_count: 1,
        capacity: { cpu_cores: 3.5, memory_bytes: 8 * 2 ** 30, pods: 110 },
      },
    });
    expect(side.token).toBe("hush-token");
    expect(output()).not.toContain("hush");
  });

  test("[OL6] the operator answers probes without the hub, and [OL7] ends with 0 on SIGTERM", async () => {
    const { hub, child, probe, output } = await startInCluster();
    await hub.stop();
    await vi.waitFor(async () => expect(await probe("/readyz")).toBe(200), PATIENT);
    expect(await probe("/healthz")).toBe(200);
    expect(await probe("/elsewhere")).toBe(404);
    child.kill("SIGTERM");
    const [code] = await once(child, "exit");
    expect(code).toBe(0);
    expect(output()).toContain('"stopped"');
  });

  test("[OP3976] the operator serves its metrics, which name nothing of the cluster", async () => {
    const { hub, probe, metrics } = await startInCluster();
    const side = await vi.waitFor(() => hub.side(), PATIENT);
    await vi.waitFor(async () => expect(await probe("/readyz")).toBe(200), PATIENT);
    expect(await metrics()).toContain("binnacle_operator_connected 0\n");
    await side.welcome();
    await vi.waitFor(async () => expect(await metrics()).toContain("binnacle_operator_connected 1\n"), PATIENT);
    const text = await metrics();
    expect(text).toContain('binnacle_operator_queue_depth{kind="app"} 0\n');
    const served = [...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name);
    const page = await readFile(join(ROOT, "docs/operations/operator.md"), "utf8");
    expect([...page.matchAll(/^\| `((?:binnacle_operator|process)_\w+)`/gm)].map(([, name]) => name)).toEqual(served);
  });

  test("[OL6] the operator is not ready while the cluster does not answer, and starts when it does", async () => {
    let isAway = true;
    const { probe, output } = await startInCluster((asked) => (isAway ? [503, {}] : emptyCluster(asked)));
    await vi.waitFor(() => expect(output()).toContain("Lease could not be read"), PATIENT);
    expect([await probe("/healthz"), await probe("/readyz")]).toEqual([200, 503]);
    isAway = false;
    await vi.waitFor(async () => expect(await probe("/readyz")).toBe(200), PATIENT);
  });

  test("[OU27] a second pod is ready once the hub would admit it, and connects when the first one has ended", async () => {
    const { answer, holder } = clusterWithLease();
    const podNamed = (name: string) => ({ BINNACLE_DEPLOYMENT: "op", BINNACLE_POD: name });
    const former = await startInCluster(answer, podNamed("former"));
    const side = await vi.waitFor(() => former.hub.side(), PATIENT);
    await side.welcome();
    expect([side.socket.protocol, holder()]).toEqual([LINK_SUBPROTOCOL, "former"]);

    const next = await startInCluster(answer, podNamed("new"), former);
    const trial = await vi.waitFor(() => former.hub.side(2), PATIENT);
    expect(await trial.received("hello")).toMatchObject({ revision: null });
    expect([trial.socket.protocol, await next.probe("/readyz")]).toEqual([LINK_TRIAL_SUBPROTOCOL, 503]);
    trial.socket.close(CLOSE.trialPassed, "it would be admitted");
    await vi.waitFor(async () => expect(await next.probe("/readyz")).toBe(200), PATIENT);
    expect([side.closed, holder(), former.hub.sides.length]).toEqual([null, "former", 2]);

    former.child.kill("SIGTERM");
    expect(await once(former.child, "exit")).toEqual([0, null]);
    const session = await vi.waitFor(() => former.hub.side(3), PATIENT);
    expect([session.socket.protocol, holder()]).toEqual([LINK_SUBPROTOCOL, "new"]);
    next.child.kill("SIGTERM");
    expect(await once(next.child, "exit")).toEqual([0, null]);
    expect(holder()).toBeNull();
  }, 60_000);

  test("[OL7] the operator closes its connection to the hub and exits with 0 on SIGINT", async () => {
    const { hub, child } = await startInCluster();
    const side = await vi.waitFor(() => hub.side(), PATIENT);
    await side.welcome();
    child.kill("SIGINT");
    const [code] = await once(child, "exit");
    expect(code).toBe(0);
    expect(side.closed?.code).toBe(1000);
  });

  test("[OL7] the operator exits with 1 where its configuration cannot work, and says everything that is wrong", async () => {
    const { child, output } = start({ BINNACLE_TOKEN: "hush hush", BINNACLE_HELM: " " });
    const [code] = await once(child, "exit");
    expect(code).toBe(1);
    expect(output()).toMatch(/BINNACLE_HUB_URL is required[\s\S]*BINNACLE_HELM must[\s\S]*BINNACLE_TOKEN must/);
    expect(output()).not.toContain("hush");
  });

  test("[OL7] the operator exits with 1 where it has no access to a cluster", async () => {
    const { child, output } = start({
      BINNACLE_HUB_URL: "ws://127.0.0.1:1",
      BINNACLE_CLUSTER_ID: "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11",
      BINNACLE_TOKEN: "t",
    });
    const [code] = await once(child, "exit");
    expect(code).toBe(1);
    expect(output()).toMatch(/KUBECONFIG/);
  });

  test("[OL38] the operator takes less than 120 MB of memory when there is nothing to do", async () => {
    const { hub, child, output } = await startInCluster();
    await (await vi.waitFor(() => hub.side(), PATIENT)).welcome();
    await vi.waitFor(() => expect(output()).toContain("the operator is ready"), PATIENT);
    const settled = { timeout: 30_000, interval: 500 };
    await vi.waitFor(async () => {
      const status = await readFile(`/proc/${child.pid}/status`, "utf8");
      expect(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024).toBeLessThan(120_000_000);
    }, settled);
  }, 60_000);
});
