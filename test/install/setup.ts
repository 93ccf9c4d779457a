import { readFileSync } from "node:fs";
import type { TestProject } from "vitest/node";
import { Client } from "../world/client.ts";
import { AUTHORITY_FILE } from "./authority.ts";
import type { ChartRepository } from "./chart-repository.ts";
import { install } from "./installation.ts";
import { apply, shell } from "./node.ts";

declare module "vitest" {
  interface ProvidedContext {
    installed: Installed;
  }
}

/** An installation that all files share, with the node connected as its first cluster. */
interface Installed {
  readonly url: string;
  readonly token: string;
  readonly clusterId: string;
  readonly timesMs: {
    readonly imported: number;
    readonly ready: number;
    readonly connected: number;
    readonly running: number;
  };
}

const OPERATOR_NAMESPACE = "binnacle-system";
const PATIENCE_MS = 120_000;
const PERIOD_MS = 250;

/** A person's first half hour: the chart, a cluster by its printed command, a project, an app. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const installation = await install(project.getProvidedContext().postgresUrl);
  try {
    const { url, token, charts, importedAfterMs, readyAfterMs } = installation;
    const api = new Client(`${url}/api/v1`, { authorization: `Bearer ${token}` });
    const began = performance.now();
    const clusterId = await connectNode(api, charts);
    const connectedAfterMs = performance.now() - began;
    const { body: shop } = await api.post("/projects", { name: "first", cluster_id: clusterId });
    const spec = { image: "page:1", ports: [{ name: "http", port: 8080 }] };
    const components = [{ name: "web", workload_spec: spec }];
    await api.post("/apps", { name: "page", project_id: shop.id, components });
    await until("the app runs", async () => {
      const { body } = await api.get(`/apps/first/page?project_id=${shop.id}`);
      return body.phase === "running" ? null : JSON.stringify(body);
    });
    const timesMs = {
      imported: importedAfterMs,
      ready: readyAfterMs,
      connected: connectedAfterMs,
      running: performance.now() - began - connectedAfterMs,
    };
    const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
    const parts = Object.entries(timesMs).map(([name, ms]) => `${name} ${seconds(ms)}`);
    const total = Object.values(timesMs).reduce((sum, ms) => sum + ms, 0);
    process.stdout.write(`From nothing to a running app: ${seconds(total)} (${parts.join(", ")})\n`);
    project.provide("installed", { url, token, clusterId, timesMs });
    return () => installation.close();
  } catch (error) {
    await installation.close();
    throw error;
  }
}

/** By the printed command, with the two values that a closed network needs beside it. */
async function connectNode(api: Client, charts: ChartRepository): Promise<string> {
  const { body: org } = await api.post("/orgs", { name: "Installed" });
  const { body: cluster } = await api.post(`/orgs/${org.id}/clusters`, { name: "itself" });
  const metadata = { name: "company", namespace: OPERATOR_NAMESPACE };
  await apply(
    { apiVersion: "v1", kind: "Namespace", metadata: { name: OPERATOR_NAMESPACE } },
    { apiVersion: "v1", kind: "ConfigMap", metadata, data: { "ca.crt": readFileSync(AUTHORITY_FILE, "utf8") } },
  );
  const values = `--set certificateAuthority.existingConfigMap=company --set 'chartHosts={${new URL(charts.url).host}}'`;
  await shell(`${cluster.install_command} ${values}`);
  await until("the cluster is connected", async () => {
    const { status } = (await api.get(`/clusters/${cluster.id}`)).body;
    return status === "connected" ? null : `it is ${status}`;
  });
  return cluster.id;
}

/** Asks until there is no reason why not. */
async function until(what: string, reasonWhyNot: () => Promise<string | null>): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  for (let reason = await reasonWhyNot(); reason !== null; reason = await reasonWhyNot()) {
    if (performance.now() > deadline) throw new Error(`Waited in vain until ${what}: ${reason}`);
    await new Promise((done) => setTimeout(done, PERIOD_MS));
  }
}
