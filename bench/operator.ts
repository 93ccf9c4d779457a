import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createKubeClient } from "../packages/operator/src/kube/client.adapter.ts";
import type { KubeClient, KubeObject } from "../packages/operator/src/kube/kube-client.ts";
import { kubeAccessFrom } from "../packages/operator/src/kube/kubeconfig.adapter.ts";
import { nameplate, statusOf, textIn } from "../packages/operator/src/kube/object-fields.ts";
import { APPS } from "../packages/operator/src/kube/resource-types.ts";
import { binaryFolder } from "../test/kube/binaries.ts";
import { startKube } from "../test/kube/cluster.ts";
import { kubeconfigFor, startCountingProxy } from "../test/kube/counting-proxy.ts";
import { fillCluster } from "./operator-world.ts";
import { peakMb, residentMb } from "./process.ts";
import { printFigures, printTable } from "./table.ts";

/**
 * One operator in a large cluster: an API server and etcd of Kubernetes, with pods that kwok simulates. Ends with 1 where an aim is
 * missed. The hub is away throughout, which changes nothing about the cluster.
 */
const { values: given } = parseArgs({
  options: {
    nodes: { type: "string", default: "500" },
    pods: { type: "string", default: "20000" },
    namespaces: { type: "string", default: "5000" },
    apps: { type: "string", default: "5000" },
    broken: { type: "string", default: "200" },
    "rest-seconds": { type: "string", default: "300" },
  },
});
const size = {
  nodes: Number(given.nodes),
  pods: Number(given.pods),
  namespaces: Number(given.namespaces),
  apps: Number(given.apps),
  broken: Number(given.broken),
};
const REST_SECONDS = Number(given["rest-seconds"]);
/** What is broken is looked at once a minute after two minutes, and memory is returned meanwhile. */
const SETTLE_SECONDS = 180;
const OPERATOR = new URL("../packages/operator/src/main.ts", import.meta.url).pathname;

const binaries = binaryFolder();
if (!binaries) {
  process.stderr.write("Run test/kube/build.sh first.\n");
  process.exit(2);
}
const say = (words: string) => process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${words}\n`);
const kube = await startKube({ binaries, parts: ["controllers", "pods"], nodes: size.nodes });
const client = createKubeClient(await kubeAccessFrom({ KUBECONFIG: kube.kubeconfigPath }));
const proxy = await startCountingProxy(kube.kubeconfigPath);
let operator: ChildProcess | null = null;
try {
  const clusterId = randomUUID();
  say(`the cluster runs; ${JSON.stringify(size)} is made`);
  await fillCluster(client, clusterId, size);
  const kubeconfig = join(kube.folder, "operator.kubeconfig");
  await writeFile(kubeconfig, kubeconfigFor(proxy.url));
  say("the operator starts");
  const startedAt = performance.now();
  operator = startOperator(kubeconfig, clusterId);
  const { pid = 0 } = operator;
  await untilReconciled(client);
  const syncSeconds = (performance.now() - startedAt) / 1_000;
  const peak = peakMb({ pid });
  say(`all apps are reconciled after ${Math.round(syncSeconds)} s, at a peak of ${Math.round(peak)} MB`);
  await pause(SETTLE_SECONDS * 1_000);
  proxy.take();
  await pause(REST_SECONDS * 1_000);
  const counts = [...proxy.take()].sort(([, one], [, other]) => other - one);
  const requests = counts.reduce((sum, [, count]) => sum + count, 0);
  printTable(
    ["request at rest", "in all"],
    counts.slice(0, 12).map(([name, count]) => [name, String(count)]),
  );
  printFigures([
    { name: "first sync, until every app is reconciled", value: syncSeconds, unit: "s" },
    { name: "most memory during the first sync", value: peak, atMost: 256, unit: "MB" },
    { name: "memory at rest", value: residentMb({ pid }), atMost: 150, unit: "MB" },
    { name: "requests at rest", value: requests / REST_SECONDS, atMost: 5, unit: "/s" },
  ]);
} finally {
  operator?.kill("SIGTERM");
  if (operator && operator.exitCode === null) await once(operator, "exit");
  await proxy.stop();
  await client.close();
  await kube.stop();
}

/** As the image starts it. */
function startOperator(kubeconfig: string, clusterId: string): ChildProcess {
  const env = {
    PATH: process.env["PATH"],
    KUBECONFIG: kubeconfig,
    BINNACLE_HUB_URL: "ws://127.0.0.1:9/hub/v1",
    BINNACLE_CLUSTER_ID: clusterId,
    BINNACLE_TOKEN: "none",
    BINNACLE_NAMESPACE: "default",
    BINNACLE_HEALTH_PORT: "0",
  };
  const child = spawn(process.execPath, ["--liftoff-only", OPERATOR], { env, stdio: ["ignore", "ignore", "inherit"] });
  child.on("exit", (code) => say(`the operator has ended with ${code}`));
  return child;
}

/** Until every app runs, or there is a reason why it does not. */
async function untilReconciled(api: KubeClient): Promise<void> {
  for (;;) {
    const verdicts: boolean[] = [];
    const count = (app: KubeObject) => {
      const { phase, reason } = statusOf(app);
      verdicts.push(phase === "running" || textIn(reason) !== "");
      return nameplate(app, {});
    };
    await api.list(APPS, { trim: count });
    const left = verdicts.filter((isReached) => !isReached).length;
    if (left === 0) return;
    if (operator && operator.exitCode !== null) throw new Error("The operator has ended.");
    say(`${left} apps are not reconciled yet`);
    await pause(5_000);
  }
}
