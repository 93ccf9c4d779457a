import { expect, vi } from "vitest";
import { POSTGRESQL } from "../../packages/server/src/addons/addon.fixture.ts";
import { AWS_KEYS } from "../../packages/server/src/clusters/clusters.fixture.ts";
import type { SimulatedOperator } from "../world/simulated-operator.ts";
import { type Texts, talkingOperator } from "../world/talking-operator.ts";
import type { Client, Person, World } from "../world/world.ts";

const PLAIN: Texts = {
  name: "production",
  description: "Everything that customers see.",
  message: "Deployment web has 1 of 2 replicas.",
  logLine: "GET /healthz 200",
};

/** What the addresses of pages name. */
export interface Places {
  readonly slug: string;
  readonly clusterId: string;
  readonly projectId: string;
  readonly namespace: string;
  readonly app: string;
  readonly addonId: string;
  readonly cloudClusterId: string;
  readonly jobId: string;
  readonly template: string;
  readonly userCode: string;
}

/** An organization with one of everything, and a cluster whose operator is simulated. */
export interface Everything extends Places {
  readonly orgId: string;
  readonly member: Person;
  readonly operator: SimulatedOperator;
  readonly agentToken: string;
}

/** The body of an answer that was not a refusal, as untyped as the client gives it. */
export async function made(answer: ReturnType<Client["get"]>): Promise<Awaited<ReturnType<Client["get"]>>["body"]> {
  const { status, body } = await answer;
  if (status >= 300) throw new Error(`refused with ${status}: ${JSON.stringify(body)}`);
  return body;
}

export async function makeEverything(world: World, texts: Texts = PLAIN): Promise<Everything> {
  const { api } = world.admin;
  const { name, description } = texts;
  const orgId = world.demoOrgId;
  await made(api.put(`/orgs/${orgId}`, { name: "demo", description }));
  const member = await world.person({ org: orgId });
  const cluster = await made(api.post(`/orgs/${orgId}/clusters`, { name: `${name} 1`.slice(0, 100), description }));
  const agent = await made(api.post(`/clusters/${cluster.id}/agent-credentials`));
  const agentToken = agent.agent_jwt.token as string;
  const operator = talkingOperator(world.url, agentToken, texts);
  await vi.waitFor(() => expect(operator.link.isLive).toBe(true), { timeout: 60_000, interval: 50 });

  const project = await made(api.post("/projects", { name: "shop", cluster_id: cluster.id }));
  const projectId = project.id;
  const addon = await made(
    api.post("/addon-instances", {
      name: "db",
      project_id: projectId,
      addon_definition_id: POSTGRESQL,
      notes: description,
    }),
  );
  await made(api.post("/apps", { name: "storefront", project_id: projectId, description, components: COMPONENTS }));
  const path = `/apps/${project.namespace}/storefront`;
  const query = `?project_id=${projectId}`;
  await made(api.patch(`${path}/components/web/secrets${query}`, { API_KEY: "a-secret-of-the-app" }));
  await made(api.post(`/projects/${projectId}/rbac`, { user_id: member.id, role: "viewer" }));
  const besides = await makeBesides(api, { orgId, clusterId: cluster.id }, texts);
  await vi.waitFor(async () => expect((await api.get(path + query)).body.phase).toBe("degraded"), {
    timeout: 60_000,
    interval: 50,
  });
  return {
    orgId,
    slug: "demo",
    member,
    clusterId: cluster.id,
    projectId,
    namespace: project.namespace,
    app: "storefront",
    addonId: addon.id,
    ...besides,
    operator,
    agentToken,
  };
}

/** Whatever else a page shows. */
export async function makeBesides(
  api: Client,
  { orgId, clusterId }: { readonly orgId: string; readonly clusterId: string },
  { name, description }: Pick<Texts, "name" | "description">,
): Promise<Pick<Places, "cloudClusterId" | "jobId" | "template" | "userCode">> {
  const login = { username: "robot", password: "a-password-of-a-registry" };
  await made(
    api.post(`/orgs/${orgId}/chart-repositories`, {
      name: `${name} 3`.slice(0, 100),
      url: "oci://charts.example.com/acme",
      ...login,
    }),
  );
  await made(
    api.post(`/clusters/${clusterId}/registry-secrets`, { name: "registry", server_url: "ghcr.io", ...login }),
  );
  await made(api.post("/cli-tokens", { name: name.slice(0, 100), scopes: ["read"], expires_in_days: 5 }));
  await made(
    api.post(`/clusters/${clusterId}/install-events`, {
      stage: "preflight",
      status: "completed",
      detail: "2 nodes are ready.",
    }),
  );
  await made(api.post(`/clusters/${clusterId}/install-events`, { stage: "verify", status: "completed" }));
  const credential = await made(
    api.post(`/orgs/${orgId}/credentials`, { name: `${name} 2`.slice(0, 100), ...AWS_KEYS }),
  );
  const cloud = await made(
    api.post(`/orgs/${orgId}/clusters`, { name: "on-aws", provider: "aws", credential_id: credential.id }),
  );
  const jobs = await made(api.get(`/clusters/${cloud.id}/provisioning-jobs`));
  const template = await made(
    api.post("/stack-templates", {
      name: "web-service",
      namespace: "demo",
      org_id: orgId,
      version: "1.2.3",
      scope: "organization",
      description,
      parameters: [{ name: "image", type: "string", required: true, description: description.slice(0, 500) }],
      components: [{ name: "web", workload_spec: { image: `\${image}` } }],
    }),
  );
  const device = await made(
    api.post("/auth/cli/device", { client_name: name.slice(0, 100), requested_scopes: ["read"] }),
  );
  return {
    cloudClusterId: cloud.id,
    jobId: jobs.data[0].id,
    template: template.name,
    userCode: device.user_code,
  };
}

const COMPONENTS = [
  {
    name: "web",
    type: "workload",
    workload_spec: {
      kind: "deployment",
      image: "ghcr.io/acme/storefront:1.4.2",
      replicas: 2,
      ports: [{ name: "http", port: 8080 }],
      env: [{ name: "LOG_LEVEL", value: "info" }],
    },
    exports: { path: "/v1" },
  },
  {
    name: "worker",
    type: "workload",
    depends_on: ["web"],
    workload_spec: { kind: "deployment", image: "ghcr.io/acme/worker:1.4.2", replicas: 1 },
  },
];

/** The addresses of all pages. Their tabs are found on the pages themselves. */
export function pagesOf(places: Places): readonly string[] {
  const { slug, namespace, app, projectId, clusterId, addonId, template, cloudClusterId, jobId, userCode } = places;
  const org = `/o/${slug}`;
  const onApp = `${org}/apps/${namespace}/${app}?project=${projectId}`;
  return [
    `${org}/overview`,
    `${org}/apps`,
    `${org}/apps/new`,
    onApp,
    `${onApp}&component=web`,
    `${onApp}&view=tree`,
    `${onApp}&view=tree&object=${encodeURIComponent("Pod/web-0")}`,
    `${org}/projects`,
    `${org}/projects/${projectId}`,
    `${org}/clusters`,
    `${org}/clusters?view=map`,
    `${org}/clusters/new`,
    `${org}/clusters/new?way=own`,
    `${org}/clusters/new?way=aws`,
    `${org}/clusters/${clusterId}`,
    `${org}/clusters/${cloudClusterId}`,
    `${org}/clusters/${cloudClusterId}/jobs/${jobId}`,
    `${org}/templates`,
    `${org}/templates/new`,
    `${org}/templates/demo/${template}`,
    `${org}/addons`,
    `${org}/addons/${addonId}`,
    `${org}/bundles`,
    `${org}/members`,
    `${org}/credentials`,
    `${org}/audit`,
    `${org}/settings`,
    "/account",
    `/device?user_code=${userCode}`,
    "/admin",
    "/no-such-page",
  ];
}
