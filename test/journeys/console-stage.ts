import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { vi } from "vitest";
import { parse } from "yaml";
import { serveCharts } from "../../packages/operator/src/helm/chart.fixture.ts";
import { HELM } from "../../packages/operator/src/helm/helm-program.fixture.ts";
import { definitionId } from "../../packages/server/src/catalog/catalog-file.ts";
import { made, makeBesides, type Places } from "../console/everything.ts";
import type { OperatorProcess } from "../world/operator-process.ts";
import { openStage, type RegisteredCluster, SOON, type Stage } from "./stage.ts";

const MAIN = fileURLToPath(new URL("one-more-addon.process.ts", import.meta.url));
const CHARTS_ROLE = new URL("../../deploy/charts/binnacle-operator/files/charts-role.yaml", import.meta.url);

/** A stage whose operators install charts, from a repository on this machine. */
export interface ConsoleStage extends Stage {
  readonly org: { readonly id: string; readonly slug: string };
  connectWithCharts(cluster: RegisteredCluster): Promise<OperatorProcess>;
  /** Creates an app, and waits until the cluster reports that it runs. */
  runningApp(project: Project, name: string, components: readonly object[]): Promise<void>;
  /** One of everything that the console shows, running on the cluster. */
  everything(cluster: RegisteredCluster): Promise<Places>;
}

interface Project {
  readonly id: string;
  readonly namespace: string;
}

export async function openConsoleStage(): Promise<ConsoleStage> {
  const charts = await serveCharts();
  const chartHosts = { BINNACLE_CHART_HOSTS: new URL(charts.chart.repo).host };
  // A cluster is provisioned only where machines know from where to pull the operator.
  const settings = { CHART_REPOSITORY: charts.chart.repo, BINNACLE_IMAGE_REGISTRY: "registry.example.com" };
  const stage = await openStage({ ...chartHosts, ...settings }, { main: MAIN });
  await stage.kube.apply(parse(await readFile(CHARTS_ROLE, "utf8")), { force: true });
  const api = stage.admin;
  const [org] = (await made(api.get("/orgs"))).data;

  /** Waits until the cluster has reported the phase for what is wanted now. */
  async function reaches(address: string, phase: string): Promise<void> {
    await vi.waitFor(async () => {
      const { phase: seen, phase_message, generation, observed_generation } = await made(api.get(address));
      if (seen !== phase || observed_generation !== generation)
        throw new Error(`${address} is ${seen}: ${phase_message}`);
    }, SOON);
  }

  async function runningApp(project: Project, name: string, components: readonly object[]): Promise<void> {
    await made(api.post("/apps", { name, project_id: project.id, description: "What customers see.", components }));
    await reaches(`/apps/${project.namespace}/${name}?project_id=${project.id}`, "running");
  }

  return {
    ...stage,
    org,
    connectWithCharts: (cluster) => stage.connect(cluster, { ...chartHosts, BINNACLE_HELM: HELM ?? "helm" }),
    runningApp,
    async everything(cluster) {
      const project = await stage.readyProject(cluster.id);
      const addon = await made(
        api.post("/addon-instances", {
          name: "orders",
          project_id: project.id,
          addon_definition_id: definitionId("tiny"),
          notes: "Every order since the beginning.",
        }),
      );
      const cache = { name: "cache", type: "chart", chart_spec: { ...charts.chart, values: { color: "green" } } };
      await runningApp(project, "storefront", HELM ? [...COMPONENTS, cache] : COMPONENTS);
      const query = `?project_id=${project.id}`;
      const secrets = `/apps/${project.namespace}/storefront/components/web/secrets${query}`;
      await made(api.patch(secrets, { API_KEY: "a-secret-of-the-app" }));
      const login = { username: "anna", password: "a password of anna" };
      const user = await made(api.post("/user", { name: "Anna Ek", email: "anna@example.com", ...login }));
      await made(api.post(`/orgs/${org.id}/members`, { user_id: user.id, role: "member" }));
      await made(api.post(`/projects/${project.id}/rbac`, { user_id: user.id, role: "viewer" }));
      const texts = { name: "production", description: "Everything that customers see." };
      const besides = await makeBesides(api, { orgId: org.id, clusterId: cluster.id }, texts);
      await reaches(`/apps/${project.namespace}/storefront${query}`, "running");
      if (HELM) await reaches(`/addon-instances/${addon.id}`, "ready");
      return {
        slug: org.slug,
        clusterId: cluster.id,
        projectId: project.id,
        namespace: project.namespace,
        app: "storefront",
        addonId: addon.id,
        ...besides,
      };
    },
    async close() {
      await stage.close();
      charts.stop();
    },
  };
}

const COMPONENTS = [
  {
    name: "web",
    workload_spec: {
      image: "nginx:1.29",
      replicas: 2,
      ports: [{ name: "http", port: 80 }],
      env: [{ name: "DATABASE", export_ref: { component: "db", key: "host" } }],
    },
    depends_on: ["db"],
  },
  {
    name: "db",
    workload_spec: {
      kind: "statefulset",
      image: "db:1",
      ports: [{ name: "sql", port: 5432 }],
      volumes: [{ name: "data", mount_path: "/data", size_gb: 1 }],
    },
  },
];
