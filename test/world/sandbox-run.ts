import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, vi } from "vitest";
import { Client } from "./client.ts";
import { descendantsOf } from "./descendants.ts";
import { type ServerProcess, startServer } from "./server-process.ts";

/** After which it is not going to happen. */
export const EVENTUALLY = { timeout: 60_000, interval: 100 };

const TEMPLATE = new URL("../../catalog/templates/web-app.yaml", import.meta.url);

interface SandboxCluster {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly status: string;
}

/** A server with its sandbox, as `npm start` runs them. */
export interface SandboxRun {
  readonly server: ServerProcess;
  readonly admin: Client;
  readonly orgId: string;
  /** The cluster as the API tells of it; undefined where there is none. */
  cluster(): Promise<SandboxCluster | undefined>;
  /** Waits for it; how long that took, counted from the start of the server. */
  connected(): Promise<number>;
  /** The sandbox and its operator, by process id. */
  processes(): number[];
}

export async function runWithSandbox(dataDir: string, env: Record<string, string> = {}): Promise<SandboxRun> {
  const startedAt = performance.now();
  const server = await startServer({ BINNACLE_DATA_DIR: dataDir, BINNACLE_SANDBOX: "on", ...env });
  const api = new Client(`${server.url}/api/v1`);
  const login = await api.send("POST", "/login", { form: { username: "admin", password: "binnacle" } });
  const admin = api.with({ authorization: `Bearer ${login.body.access_token}` });
  const { body: orgs } = await admin.get("/orgs");
  const { id: orgId } = orgs.data.find(({ name }: { name: string }) => name === "demo");

  const cluster = async () => (await admin.get(`/orgs/${orgId}/clusters`)).body.data[0];
  return {
    server,
    admin,
    orgId,
    cluster,
    async connected() {
      await vi.waitFor(async () => expect(await cluster()).toMatchObject({ status: "connected" }), EVENTUALLY);
      return performance.now() - startedAt;
    },
    processes: () =>
      descendantsOf(server.pid)
        .filter(({ command }) => /(sandbox|operator)\/src\/main\.ts$/.test(command))
        .map(({ pid }) => pid),
  };
}

/** Deploys the template that is meant for a first run, into a project of this name. */
export async function deployQuickStart({ admin, cluster }: SandboxRun, project: string): Promise<string> {
  const made = await admin.post("/projects", { name: project, cluster_id: (await cluster())?.id });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  const file = new Blob([await readFile(TEMPLATE)]);
  await admin.send("POST", "/stack-templates/from-yaml", { parts: { file, create: "true" } });
  const deployed = await admin.post("/stack-templates/registry/web-app/deploy", { project_id: made.body.id });
  expect(deployed.status, JSON.stringify(deployed.body)).toBe(201);
  return made.body.id;
}

export const kubeconfigIn = (dataDir: string) => join(dataDir, "sandbox", "kubeconfig");
