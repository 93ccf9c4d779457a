import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { App, Cluster, Org, Project } from "../../packages/contract/src/index.ts";
import { type Api, ApiRefusal } from "./api.adapter.ts";
import type { ReportedApp } from "./comparison.ts";
import type { FleetCluster } from "./messages.ts";

const REGISTERED_AT_ONCE = 8;
const REMOVED_WITHIN_MS = 300_000;
const POLL_MS = 1_000;
const PROJECT = "fleet";

/** The organization of the rehearsal, as the API shows it. */
export interface FleetApi {
  register(count: number): Promise<readonly FleetCluster[]>;
  clusters(): Promise<readonly Cluster[]>;
  createProject(clusterId: string): Promise<Project>;
  createApp(project: Project, name: string, image: string): Promise<App>;
  changeImage(app: App, image: string): Promise<App>;
  apps(): Promise<readonly ReportedApp[]>;
  /** All that was made, projects first, since a cluster that has some is not let go. */
  remove(): Promise<void>;
}

const component = (image: string) => ({
  name: "web",
  workload_spec: { image, replicas: 1, ports: [{ name: "http", port: 80 }] },
});

export function createFleetOrg(api: Api): Promise<Org> {
  const name = `fleet ${randomUUID().slice(0, 8)}`;
  return api.send("POST", "/orgs", { name, description: "A rehearsal with simulated clusters." });
}

export function fleetApi(api: Api, org: Org): FleetApi {
  const clusters = () => api.all<Cluster>(`/orgs/${org.id}/clusters`);

  async function ownProjects(): Promise<Project[]> {
    return (await api.all<Project>("/projects")).filter(({ org_id }) => org_id === org.id);
  }

  return {
    clusters,
    register: (count) =>
      side(
        Array.from({ length: count }, (_, number) => number),
        async (number) => {
          const input = { name: `fleet-${String(number).padStart(4, "0")}`, description: "Simulated." };
          const made = await api.send<Cluster & { connection_token: string }>(
            "POST",
            `/orgs/${org.id}/clusters`,
            input,
          );
          return { id: made.id, token: made.connection_token };
        },
      ),
    createProject: (cluster_id) => api.send("POST", "/projects", { name: PROJECT, cluster_id }),
    createApp: (project, app, image) =>
      api.send("POST", "/apps", { name: app, project_id: project.id, components: [component(image)] }),
    changeImage: (app, image) =>
      api.send("PATCH", `/apps/${app.namespace}/${app.name}?project_id=${app.project_id}`, {
        components: [{ op: "patch", name: "web", workload_spec: { image } }],
      }),
    async apps() {
      return (await api.all<App>("/apps")).filter(({ org_id }) => org_id === org.id).map(reportedApp);
    },
    async remove() {
      await side(await ownProjects(), ({ id }) => api.send("DELETE", `/projects/${id}`).catch(unlessGone));
      const until = performance.now() + REMOVED_WITHIN_MS;
      while ((await ownProjects()).length > 0) {
        if (performance.now() > until) throw new Error(`The projects of ${org.name} were not removed in time.`);
        await pause(POLL_MS);
      }
      await side(await clusters(), ({ id }) => api.send("DELETE", `/clusters/${id}`).catch(unlessGone));
      await api.send("DELETE", `/orgs/${org.id}`);
    },
  };
}

const reportedApp = (app: App): ReportedApp => ({
  clusterId: app.cluster_id,
  key: `${app.namespace}/${app.name}`,
  generation: app.generation,
  observedGeneration: app.observed_generation,
  phase: app.phase,
  image: app.components[0]?.workload_spec?.image ?? null,
});

function unlessGone(error: unknown): void {
  if (!(error instanceof ApiRefusal && error.status === 404)) throw error;
}

/** Each of them, a few side by side, with the results in the order of the items. */
async function side<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const line = items.entries();
  const workOff = async () => {
    for (const [place, item] of line) results[place] = await work(item);
  };
  await Promise.all(Array.from({ length: REGISTERED_AT_ONCE }, workOff));
  return results;
}
