import { randomBytes } from "node:crypto";
import { folder, packedChart, serve } from "../../packages/charts/src/chart.fixture.ts";
import { insertCluster, insertProject } from "../../packages/server/src/access/bindings.fixture.ts";
import { definitionId } from "../../packages/server/src/catalog/catalog-file.ts";
import { KUBERNETES } from "../../packages/server/src/cloud/kubernetes-release.ts";
import {
  AWS_KEYS,
  bootingNode,
  bringJob,
  connectOperator,
  nodeTokenOf,
  provisionedCluster,
  registeredCluster,
  storedCredential,
} from "../../packages/server/src/clusters/clusters.fixture.ts";
import { TestOperator } from "../../packages/server/src/hub/operator.fixture.ts";
import type { Client, Sending } from "../world/client.ts";
import type { World } from "../world/world.ts";

/** A request that succeeds, with everything it needs already there. */
export interface Request {
  readonly api: Client;
  readonly path: string;
  readonly sending?: Sending;
}
type Prepare = (world: World) => Promise<Request>;

const word = () => `u${randomBytes(6).toString("hex")}`;
const NOBODY_IN_PARTICULAR = { name: "Somebody", password: "a long enough secret" };
const TOKEN = { name: "laptop", scopes: ["clusters:read"] };

async function startedDevice(world: World) {
  const body = { requested_scopes: TOKEN.scopes, client_name: TOKEN.name };
  return (await world.anyone.post("/auth/cli/device", body)).body;
}

async function orgWithMember(world: World) {
  const org = await world.org();
  return { org, person: await world.person({ org }) };
}

async function limit({ admin }: World): Promise<string> {
  const body = { path: `/${word()}`, limit: 1, period: 1 };
  return `/tier/free/rate_limit/${(await admin.api.post("/tier/free/rate_limit", body)).body.id}`;
}

async function addonBody(world: World) {
  const { kysely: db } = world.database;
  const org = await world.org();
  const project_id = await insertProject(db, org, await insertCluster(db, org));
  return { name: word(), project_id, addon_definition_id: definitionId("postgresql") };
}

async function addonInstance(world: World): Promise<string> {
  return `/addon-instances/${(await world.admin.api.post("/addon-instances", await addonBody(world))).body.id}`;
}

/** An app of a component `web` with the secret `API_KEY`, and an addon instance beside it. */
async function app(world: World) {
  const { api } = world.admin;
  const { project_id, ...addon } = await addonBody(world);
  const components = [
    { name: "web", workload_spec: { image: "nginx:1.29" }, secrets: { API_KEY: "a secret of theirs" } },
  ];
  const body = { name: word(), project_id, components };
  const { namespace, name } = (await api.post("/apps", body)).body;
  const addon_instance_id: string = (await api.post("/addon-instances", { project_id, ...addon })).body.id;
  const path = (rest = "") => `/apps/${namespace}/${name}${rest}?project_id=${project_id}`;
  return { api, body, path, addon_instance_id };
}

/** Does something to an app, after something else where that is needed first. */
function onApp(rest: string, body?: object, first?: string): Prepare {
  return async (world) => {
    const { api, path } = await app(world);
    if (first) await api.post(path(first));
    return { api, path: path(rest), ...(body ? { sending: { body } } : {}) };
  };
}

/** A cluster whose operator has another version than the control plane and could upgrade itself; it never answers. */
async function upgradableCluster(world: World) {
  const org = await world.org();
  const { id, connection_token } = await registeredCluster(world.admin.api, org);
  const operator = await new TestOperator(world.url, connection_token).opened();
  operator.hello({ operator_version: "0.0.1", requests: ["upgrade_operator"] });
  await operator.next("welcome");
  return { org, cluster_ids: [id] };
}

/** A cluster with a project, and a member of their organization. */
async function fleet(world: World) {
  const { kysely: db } = world.database;
  const { org, person } = await orgWithMember(world);
  const cluster = await insertCluster(db, org);
  return { cluster, project: await insertProject(db, org, cluster), person };
}

type Kind = "clusters" | "projects";
const placeOf = ({ cluster, project }: { cluster: string; project: string }, kind: Kind) =>
  `/${kind}/${kind === "clusters" ? cluster : project}`;

/** Does something to a cluster or a project, after something else where that is needed first. */
function onPlace(kind: Kind, rest: string, body?: object, first?: string): Prepare {
  return async (world) => {
    const { api } = world.admin;
    const place = placeOf(await fleet(world), kind);
    if (first) await api.post(`${place}${first}`);
    return { api, path: `${place}${rest}`, ...(body ? { sending: { body } } : {}) };
  };
}

/** A role on a cluster or a project: granted, replaced or revoked. */
function onRole(kind: Kind, act: "grant" | "replace" | "revoke"): Prepare {
  return async (world) => {
    const { api } = world.admin;
    const places = await fleet(world);
    const path = `${placeOf(places, kind)}/rbac`;
    const user_id = places.person.id;
    if (act === "grant") return { api, path, sending: { body: { user_id, role: "viewer" } } };
    const { binding_id } = (await api.post(path, { user_id, role: "viewer" })).body;
    if (act === "replace") return { api, path, sending: { body: { user_id, role: "admin" } } };
    return { api, path: `${path}?binding_id=${binding_id}` };
  };
}

function onRegistrySecret(kind: Kind, act: "attach" | "detach"): Prepare {
  return async (world) => {
    const { api } = world.admin;
    const path = `${placeOf(await fleet(world), kind)}/registry-secrets`;
    const body = { name: "quay", server_url: "quay.io", username: "robot", password: "a registry's own secret" };
    if (act === "attach") return { api, path, sending: { body } };
    return { api, path: `${path}/${(await api.post(path, body)).body.id}` };
  };
}

/** Does something to a cluster that was brought along. */
function onOwnCluster(rest: string, body?: object): Prepare {
  return async (world) => {
    const { id } = await registeredCluster(world.admin.api, await world.org());
    return { api: world.admin.api, path: `/clusters/${id}${rest}`, ...(body ? { sending: { body } } : {}) };
  };
}

/** Makes one, changes it, or deletes it. */
function onChartRepository(change?: object | null): Prepare {
  return async (world) => {
    const { api } = world.admin;
    const path = `/orgs/${await world.org()}/chart-repositories`;
    const body = { name: word(), url: "oci://registry.example.com", username: "robot", password: "a secret of theirs" };
    if (change === undefined) return { api, path, sending: { body } };
    const one = `${path}/${(await api.post(path, body)).body.id}`;
    return { api, path: one, ...(change ? { sending: { body: change } } : {}) };
  };
}

function onCredential(body?: object): Prepare {
  return async (world) => {
    const path = `/credentials/${await storedCredential(world.admin.api, await world.org())}`;
    return { api: world.admin.api, path, ...(body ? { sending: { body } } : {}) };
  };
}

/** A template with one required parameter and a secret one, in a project's namespace. */
async function template(world: World) {
  const { api } = world.admin;
  const {
    org_id,
    id: project_id,
    namespace,
  } = await world.database.kysely
    .selectFrom("projects")
    .selectAll()
    .where("id", "=", (await fleet(world)).project)
    .executeTakeFirstOrThrow();
  const parameters = [
    { name: "image", type: "string", required: true },
    { name: "key", type: "secret" },
  ];
  const components = [{ name: "web", workload_spec: { image: `\${image}` }, secrets: { KEY: `\${key}` } }];
  const body = { namespace, name: word(), org_id, scope: "organization", parameters, components };
  const create = () => api.post("/stack-templates", body);
  return { api, body, project_id, create, path: `/stack-templates/${namespace}/${body.name}?org_id=${org_id}` };
}

/** Prepares a request that succeeds for each operation that changes something, by the id of the operation. */
export const CHANGES: Readonly<Record<string, Prepare>> = {
  login: async (world) => {
    const { username, password } = await world.person();
    return { api: world.anyone, path: "/login", sending: { form: { username, password } } };
  },
  logout: async (world) => {
    const { api, cookie } = await world.person();
    return { api, path: "/logout", sending: { headers: { cookie } } };
  },

  createUser: async ({ admin }) => {
    const username = word();
    const body = { ...NOBODY_IN_PARTICULAR, username, email: `${username}@example.com` };
    return { api: admin.api, path: "/user", sending: { body } };
  },
  updateUser: async (world) => {
    const { api, id, password } = await world.person();
    const body = { name: "Renamed", password: "another long secret", current_password: password };
    return { api, path: `/user/${id}`, sending: { body } };
  },
  deleteUser: async (world) => {
    const { api, id } = await world.person();
    return { api, path: `/user/${id}` };
  },
  setUserTier: async (world) => {
    const { id } = await world.person();
    return { api: world.admin.api, path: `/user/${id}/tier`, sending: { body: { tier: "pro" } } };
  },

  setUserDisabled: async (world) => {
    const { id } = await world.person();
    return { api: world.admin.api, path: `/user/${id}/disabled`, sending: { body: { disabled: true } } };
  },
  verifyUserEmail: async (world) => {
    const { id } = await world.person();
    return { api: world.admin.api, path: `/user/${id}/email-verification` };
  },
  endSession: async (world) => {
    const { api } = await world.person();
    const [{ id }] = (await api.get("/sessions")).body.data;
    return { api, path: `/sessions/${id}` };
  },

  createCliToken: async ({ admin }) => ({ api: admin.api, path: "/cli-tokens", sending: { body: TOKEN } }),
  revokePresentedCliToken: async ({ admin, anyone }) => {
    const { token } = (await admin.api.post("/cli-tokens", TOKEN)).body;
    return { api: anyone.with({ authorization: `Bearer ${token}` }), path: "/cli-tokens/self" };
  },
  deleteCliToken: async ({ admin }) => {
    const { id } = (await admin.api.post("/cli-tokens", TOKEN)).body;
    return { api: admin.api, path: `/cli-tokens/${id}` };
  },
  decideDeviceLogin: async (world) => {
    const { user_code } = await startedDevice(world);
    const sending = { body: { user_code, approved: true } };
    return { api: world.admin.api, path: "/auth/cli/device/approval", sending };
  },
  claimDeviceToken: async (world) => {
    const { user_code, device_code } = await startedDevice(world);
    await world.admin.api.post("/auth/cli/device/approval", { user_code, approved: true });
    return { api: world.anyone, path: "/auth/cli/device/token", sending: { body: { device_code } } };
  },

  createOrg: async ({ admin }) => ({ api: admin.api, path: "/orgs", sending: { body: { name: word() } } }),
  updateOrg: async (world) => {
    const org = await world.org();
    return { api: world.admin.api, path: `/orgs/${org}`, sending: { body: { name: word() } } };
  },
  deleteOrg: async (world) => ({ api: world.admin.api, path: `/orgs/${await world.org()}` }),
  updateOrgSettings: async (world) => {
    const org = await world.org();
    const body = { settings: { drift_policy: "report", chat: { token: "a secret of theirs" } } };
    return { api: world.admin.api, path: `/org/settings?org_id=${org}`, sending: { body } };
  },
  testGitops: async (world) => {
    const gitops = {
      provider: "gitea",
      base_url: "https://127.0.0.1:1",
      owner: "platform",
      token: "a secret of theirs",
    };
    return { api: world.admin.api, path: `/orgs/${await world.org()}/gitops/test`, sending: { body: { gitops } } };
  },
  addMember: async (world) => {
    const [org, { email }] = [await world.org(), await world.person()];
    return { api: world.admin.api, path: `/orgs/${org}/members`, sending: { body: { email, role: "member" } } };
  },
  changeMember: async (world) => {
    const { org, person } = await orgWithMember(world);
    return { api: world.admin.api, path: `/orgs/${org}/members/${person.id}`, sending: { body: { role: "admin" } } };
  },
  removeMember: async (world) => {
    const { org, person } = await orgWithMember(world);
    return { api: world.admin.api, path: `/orgs/${org}/members/${person.id}` };
  },

  createRateLimit: async ({ admin }) => {
    const body = { path: `/${word()}`, limit: 1, period: 1 };
    return { api: admin.api, path: "/tier/free/rate_limit", sending: { body } };
  },
  updateRateLimit: async (world) => ({
    api: world.admin.api,
    path: await limit(world),
    sending: { body: { limit: 2 } },
  }),
  deleteRateLimit: async (world) => ({ api: world.admin.api, path: await limit(world) }),

  createApp: async (world) => {
    const { api, body } = await app(world);
    return { api, path: "/apps", sending: { body: { ...body, name: word() } } };
  },
  updateApp: onApp("", {
    components: [{ op: "patch", name: "web", secrets: { API_KEY: "another secret of theirs" } }],
    description: "Changed.",
  }),
  deleteApp: onApp(""),
  scaleApp: onApp("/scale", { component_name: "web", replicas: 3 }),
  pauseApp: onApp("/pause"),
  resumeApp: onApp("/resume", undefined, "/pause"),
  suspendApp: onApp("/suspend", { reason: "Incident 42." }),
  unsuspendApp: onApp("/unsuspend", undefined, "/suspend"),
  redeployApp: onApp("/redeploy", { force: true }),
  rollbackApp: onApp("/rollback", { revision: -1 }, "/pause"),
  rollbackToDeployment: async (world) => {
    const { api, path } = await app(world);
    const [first] = (await api.get(path("/deployments"))).body.data;
    return { api, path: path(`/deployments/${first.deployment_id}/rollback`) };
  },
  attachAddon: async (world) => {
    const { api, path, addon_instance_id } = await app(world);
    return { api, path: path("/attach-addon"), sending: { body: { addon_instance_id } } };
  },
  detachAddon: async (world) => {
    const { api, path, addon_instance_id } = await app(world);
    await api.post(path("/attach-addon"), { addon_instance_id });
    return { api, path: path(`/attach-addon/${addon_instance_id}`) };
  },
  updateComponentSecrets: onApp("/components/web/secrets", { API_KEY: "another secret of theirs" }),
  deleteComponentSecret: onApp("/components/web/secrets/API_KEY"),

  createAddonInstance: async (world) => {
    const body = { ...(await addonBody(world)), values: { auth: { password: "a secret of theirs" } } };
    return { api: world.admin.api, path: "/addon-instances", sending: { body } };
  },
  updateAddonInstance: async (world) => {
    const body = { values: { auth: { password: "another secret of theirs" } } };
    return { api: world.admin.api, path: await addonInstance(world), sending: { body } };
  },
  rollBackAddonInstance: async (world) => {
    const path = `${await addonInstance(world)}/rollback`;
    return { api: world.admin.api, path, sending: { body: { revision_number: 1 } } };
  },
  runComponent: async (world) => {
    const { api } = world.admin;
    const cluster = await registeredCluster(api, await world.org());
    const project = (await api.post("/projects", { name: word(), cluster_id: cluster.id })).body;
    const components = [{ name: "web", workload_spec: { image: "nginx:1.29" } }];
    const { name } = (await api.post("/apps", { name: word(), project_id: project.id, components })).body;
    const times = { created_at: null, started_at: null, finished_at: null };
    const operator = new TestOperator(world.url, cluster.connection_token).observes((request) =>
      request.name === "run"
        ? { run: { id: request.run_id, component: "web", status: "pending", exit_code: null, message: null, ...times } }
        : {},
    );
    await operator.greet();
    return { api, path: `/apps/${project.namespace}/${name}/components/web/run?project_id=${project.id}` };
  },
  deleteAddonInstance: async (world) => {
    const { api } = world.admin;
    const cluster = await registeredCluster(api, await world.org());
    const project = (await api.post("/projects", { name: word(), cluster_id: cluster.id })).body;
    const body = { name: word(), project_id: project.id, addon_definition_id: definitionId("postgresql") };
    const { id } = (await api.post("/addon-instances", body)).body;
    await new TestOperator(world.url, cluster.connection_token).storesAll().greet();
    return { api, path: `/addon-instances/${id}` };
  },

  createStackTemplate: async (world) => {
    const { api, body } = await template(world);
    return { api, path: "/stack-templates", sending: { body } };
  },
  updateStackTemplate: async (world) => {
    const { api, create, path } = await template(world);
    await create();
    return { api, path, sending: { body: { description: "Changed." } } };
  },
  deleteStackTemplate: async (world) => {
    const { api, create, path } = await template(world);
    await create();
    return { api, path };
  },
  createStackTemplateFromApp: async (world) => {
    const { api, path } = await app(world);
    const source = path().replace("/apps/", "/stack-templates/from-app/");
    return { api, path: source, sending: { body: { name: word() } } };
  },
  createStackTemplateFromChart: async (world) => {
    const { api, body } = await template(world);
    const { components: _components, parameters: _parameters, ...said } = body;
    const index = "entries:\n  web:\n  - { version: 1.0.0, urls: [web.tgz] }\n";
    const files = { "/index.yaml": index, "/web.tgz": packedChart("web", "1.0.0").archive };
    const { url: repo } = await serve(folder(files));
    return { api, path: "/stack-templates/from-chart", sending: { body: { ...said, repo, chart: "web" } } };
  },
  createStackTemplateFromYaml: async (world) => {
    const { api, body } = await template(world);
    const { org_id, ...content } = body;
    const parts = { yaml_content: JSON.stringify(content), create: "true", org_id };
    return { api, path: "/stack-templates/from-yaml", sending: { parts } };
  },
  deployStackTemplate: async (world) => {
    const { api, create, path, project_id } = await template(world);
    await create();
    const parameters = { image: "nginx:1.29", key: "a secret of theirs" };
    return { api, path: path.replace("?", "/deploy?"), sending: { body: { project_id, parameters } } };
  },

  createTask: async ({ admin }) => ({ api: admin.api, path: "/tasks/task", sending: { body: { kind: "ping" } } }),

  reportInstallEvent: async (world) => ({
    api: world.admin.api,
    path: `/clusters/${(await fleet(world)).cluster}/install-events`,
    sending: { body: { stage: "preflight", status: "started" } },
  }),
  recordClusterBundle: async (world) => ({
    api: world.admin.api,
    path: `/clusters/${(await fleet(world)).cluster}/bundle`,
    sending: { body: { bundle_version: "1.3", profiles: ["security"], ha_tier: "ha" } },
  }),
  grantClusterRole: onRole("clusters", "grant"),
  replaceClusterRole: onRole("clusters", "replace"),
  revokeClusterRole: onRole("clusters", "revoke"),
  grantProjectRole: onRole("projects", "grant"),
  replaceProjectRole: onRole("projects", "replace"),
  revokeProjectRole: onRole("projects", "revoke"),
  attachClusterRegistrySecret: onRegistrySecret("clusters", "attach"),
  detachClusterRegistrySecret: onRegistrySecret("clusters", "detach"),
  attachProjectRegistrySecret: onRegistrySecret("projects", "attach"),
  detachProjectRegistrySecret: onRegistrySecret("projects", "detach"),
  createProject: async (world) => ({
    api: world.admin.api,
    path: "/projects",
    sending: { body: { name: word(), cluster_id: (await fleet(world)).cluster } },
  }),
  deleteProject: async (world) => ({ api: world.admin.api, path: `/projects/${(await fleet(world)).project}` }),
  suspendProject: onPlace("projects", "/suspend", { reason: "Incident 42." }),
  unsuspendProject: onPlace("projects", "/unsuspend", undefined, "/suspend"),
  suspendCluster: onPlace("clusters", "/suspend", { reason: "Incident 42." }),
  unsuspendCluster: onPlace("clusters", "/unsuspend", undefined, "/suspend"),
  updateProjectPolicy: async (world) => ({
    api: world.admin.api,
    path: `/projects/${(await fleet(world)).project}/policy`,
    sending: { body: { pod_security: "privileged", isolation: "none" } },
  }),

  createCredential: async (world) => {
    const path = `/orgs/${await world.org()}/credentials`;
    return { api: world.admin.api, path, sending: { body: { name: word(), ...AWS_KEYS } } };
  },
  updateCredential: onCredential({ name: "rotated", secret_access_key: "another/secret" }),
  deleteCredential: onCredential(),
  createChartRepository: onChartRepository(),
  updateChartRepository: onChartRepository({ name: "rotated", password: "another secret" }),
  deleteChartRepository: onChartRepository(null),
  createCluster: async (world) => {
    const path = `/orgs/${await world.org()}/clusters`;
    return { api: world.admin.api, path, sending: { body: { name: word() } } };
  },
  updateCluster: onOwnCluster("", { description: "Changed." }),
  updateClusterSettings: onOwnCluster("/settings", { pod_security: "restricted" }),
  deleteCluster: onOwnCluster(""),
  detachCluster: async (world) => {
    const { id, name } = await registeredCluster(world.admin.api, await world.org());
    await connectOperator(world.database.kysely, id, new Date());
    await world.database.kysely.updateTable("clusters").set({ detaches: true }).where("id", "=", id).execute();
    return { api: world.admin.api, path: `/clusters/${id}/detach`, sending: { body: { name } } };
  },
  abandonCluster: async (world) => {
    const { id, name } = await registeredCluster(world.admin.api, await world.org());
    return { api: world.admin.api, path: `/clusters/${id}/abandon`, sending: { body: { name } } };
  },
  startOperatorUpgrade: async (world) => {
    const { org, cluster_ids } = await upgradableCluster(world);
    return { api: world.admin.api, path: `/orgs/${org}/operator-upgrades`, sending: { body: { cluster_ids } } };
  },
  cancelOperatorUpgrade: async (world) => {
    const { org, cluster_ids } = await upgradableCluster(world);
    const path = `/orgs/${org}/operator-upgrades`;
    const { id } = (await world.admin.api.post(path, { cluster_ids })).body;
    return { api: world.admin.api, path: `${path}/${id}/cancel` };
  },
  createAgentCredentials: onOwnCluster("/agent-credentials"),
  rotateClusterToken: onOwnCluster("/rotate-token"),
  scaleCluster: async (world) => {
    const { id, provisioning_job_id } = await provisionedCluster(world.admin.api, await world.org());
    await bringJob(world.database.kysely, provisioning_job_id, "succeeded");
    return { api: world.admin.api, path: `/clusters/${id}/scale`, sending: { body: { desired_node_count: 2 } } };
  },
  replaceNode: async (world) => {
    const { id, provisioning_job_id } = await provisionedCluster(world.admin.api, await world.org());
    await bringJob(world.database.kysely, provisioning_job_id, "succeeded");
    await world.database.kysely.updateTable("clusters").set({ agent_count: 1 }).where("id", "=", id).execute();
    return { api: world.admin.api, path: `/clusters/${id}/nodes/agent-1/replace`, sending: { body: {} } };
  },
  upgradeKubernetes: async (world) => {
    const { id, provisioning_job_id } = await provisionedCluster(world.admin.api, await world.org());
    const db = world.database.kysely;
    await bringJob(db, provisioning_job_id, "succeeded");
    const kubernetes_release = JSON.stringify({ ...KUBERNETES, version: "v1.36.4+k3s1" });
    await db.updateTable("clusters").set({ snapshot_bucket: "b", kubernetes_release }).where("id", "=", id).execute();
    const body = { release: KUBERNETES.version, force: true };
    return { api: world.admin.api, path: `/clusters/${id}/kubernetes-upgrade`, sending: { body } };
  },
  planCluster: async (world) => {
    const { id } = await provisionedCluster(world.admin.api, await world.org());
    return { api: world.admin.api, path: `/clusters/${id}/plan`, sending: { body: { action: "destroy" } } };
  },
  cancelProvisioningJob: async (world) => {
    const { provisioning_job_id } = await provisionedCluster(world.admin.api, await world.org());
    return { api: world.admin.api, path: `/provisioning-jobs/${provisioning_job_id}/cancel` };
  },
  checkCredential: async (world) => {
    const credential = await storedCredential(world.admin.api, await world.org());
    return { api: world.admin.api, path: `/credentials/${credential}/check` };
  },
  bootstrapNode: async (world) => {
    const { id } = await provisionedCluster(world.admin.api, await world.org());
    const body = await nodeTokenOf(world, id, "control-plane");
    return { api: world.anyone, path: "/node-bootstrap", sending: { body } };
  },
  retryProvisioningJob: async (world) => {
    const { provisioning_job_id } = await provisionedCluster(world.admin.api, await world.org());
    await bringJob(world.database.kysely, provisioning_job_id, "failed");
    return { api: world.admin.api, path: `/provisioning-jobs/${provisioning_job_id}/retry` };
  },
};

/** Operations that are not GET and leave no entry; why is rule AL10. */
export const UNRECORDED: Readonly<Record<string, Prepare>> = {
  refreshAccessToken: async ({ anyone, admin }) => ({
    api: anyone,
    path: "/refresh",
    sending: { headers: { cookie: admin.cookie } },
  }),
  startDeviceLogin: async ({ anyone }) => ({
    api: anyone,
    path: "/auth/cli/device",
    sending: { body: { requested_scopes: TOKEN.scopes, client_name: TOKEN.name } },
  }),
  reportNode: async (world) => {
    const cluster = await provisionedCluster(world.admin.api, await world.org());
    const body = { stage: "install", status: "running", first_line: 0, lines: ["configure k3s"] };
    const machine = await bootingNode(world, cluster, "agent-1");
    return { api: world.anyone, path: "/node-reports", sending: { body: { ...machine, ...body } } };
  },
};
