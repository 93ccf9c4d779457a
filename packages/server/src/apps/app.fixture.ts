import { randomBytes } from "node:crypto";
import type { ComponentSpec } from "@binnacle/contract";
import type { ProjectWithPeople, World } from "@binnacle/world";
import { newId } from "../id.adapter.ts";
import { NOT_SUSPENDED } from "../suspensions/suspension.ts";
import { type AppWithSecretPaths, type Deployment, specOf } from "./app.ts";

export const WEB: ComponentSpec = {
  name: "web",
  type: "workload",
  workload_spec: { kind: "deployment", image: "nginx:1.29", replicas: 2 },
};

/** A component that runs, by name, with whatever else is said about it. */
export const workload = (name: string, rest: Omit<ComponentSpec, "name"> = {}): ComponentSpec => ({
  ...WEB,
  name,
  ...rest,
});

/** An app as it is kept, for decisions that need nothing else. */
export function someApp(changes: Partial<AppWithSecretPaths> = {}): AppWithSecretPaths {
  const at = new Date("2026-01-31T09:30:00.000Z");
  return {
    id: "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11",
    org_id: "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d12",
    cluster_id: "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d13",
    project_id: "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d14",
    namespace: "shop",
    name: "storefront",
    description: null,
    components: [WEB],
    replicas_before_pause: null,
    generation: 1,
    revision: 1,
    phase: "running",
    phase_since: at,
    phase_reason: null,
    phase_message: null,
    observed_generation: 1,
    component_statuses: [],
    drift_state: "in_sync",
    drift_summary: null,
    drift_fields: [],
    drift_detected_at: null,
    drift_repairs: [],
    forced_generation: null,
    ...NOT_SUSPENDED,
    reported_at: at,
    last_heartbeat: at,
    session_lease_until: null,
    project_reason: null,
    project_message: null,
    created_at: at,
    updated_at: at,
    secret_paths: [],
    ...changes,
  };
}

/** The first deployment of an app. */
export const firstDeployment = (app: AppWithSecretPaths): Deployment => ({
  id: newId(),
  app_id: app.id,
  revision: 1,
  generation: 1,
  operation: "create",
  status: "pending",
  message: null,
  spec: specOf(app),
  created_by: "ada@example.com",
  deadline_at: app.created_at,
  changed_secrets: [],
  summary: null,
  changes: null,
  finished_at: null,
  created_at: app.created_at,
  updated_at: app.created_at,
});

/** A project with people of every kind around it, and ways to have apps in it. */
export interface Shop extends ProjectWithPeople {
  /** The path of an app, with what every route about one app requires. */
  path(name: string, rest?: string, query?: string): string;
  /** A new app of the editor's, by its name. */
  app(components?: readonly object[], fields?: object): Promise<string>;
}

export const someName = () => `a${randomBytes(4).toString("hex")}`;

export async function openShop(world: World): Promise<Shop> {
  const place = await world.projectWithPeople();
  const { project, namespace, editor } = place;
  return {
    ...place,
    path: (name, rest = "", query = "") => `/apps/${namespace}/${name}${rest}?project_id=${project}${query}`,
    async app(components = [WEB], fields = {}) {
      const name = someName();
      const made = await editor.api.post("/apps", { name, project_id: project, components, ...fields });
      if (made.status !== 201) throw new Error(`the app was refused: ${JSON.stringify(made.body)}`);
      return name;
    },
  };
}

/** An addon instance of the project, as a row. */
export async function insertInstance(
  world: World,
  shop: Shop,
  name: string,
  phase: "ready" | "deleting" = "ready",
): Promise<string> {
  const id = newId();
  await world.database.kysely
    .insertInto("addon_instances")
    .values({
      id,
      org_id: shop.org,
      cluster_id: shop.cluster,
      project_id: shop.project,
      namespace: shop.namespace,
      name,
      definition_id: newId(),
      values: "{}",
      chart_version: "1.0.0",
      generation: 1,
      revision_number: 1,
      phase,
      created_at: world.clock.now(),
      updated_at: world.clock.now(),
    })
    .execute();
  return id;
}
