import { execFile } from "node:child_process";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { HELM } from "../../packages/operator/src/helm/helm-program.fixture.ts";
import { createKubeClient } from "../../packages/operator/src/kube/client.adapter.ts";
import { kubeAccessFrom } from "../../packages/operator/src/kube/kubeconfig.adapter.ts";
import {
  ADDON_INSTANCES,
  APPS,
  CONFIG_MAPS,
  NAMESPACES,
  PROJECTS,
  SECRETS,
} from "../../packages/operator/src/kube/resource-types.ts";
import { binaryFolder } from "../kube/binaries.ts";
import { startKube } from "../kube/cluster.ts";
import { openStage, SOON, type Stage } from "./stage.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage?.close());

describe("a cluster that its owner brings", () => {
  test("[JO1] the operator is installed by the printed command with the real Helm", async () => {
    const { id, token, installCommand } = await stage.register();
    const fresh = await startKube({ binaries: binaryFolder() ?? "", parts: [] });
    const folder = await mkdtemp(join(tmpdir(), "binnacle-helm-"));
    const kube = createKubeClient(await kubeAccessFrom({ KUBECONFIG: fresh.kubeconfigPath }));
    const find = async (apiVersion: string, kind: string, name: string, namespace?: string) =>
      kube.get(await kube.resourceTypeOf(apiVersion, kind), name, namespace);
    try {
      await symlink(HELM ?? "helm", join(folder, "helm"));
      const env = { PATH: `${folder}:${process.env["PATH"]}`, HOME: folder, KUBECONFIG: fresh.kubeconfigPath };
      const command = installCommand.replaceAll("127.0.0.1:1/", `${new URL(stage.server.url).host}/`);
      await promisify(execFile)("sh", ["-c", command], { env });
      for (const kind of ["projects", "apps", "addoninstances"]) {
        const name = `${kind}.binnacle.dev`;
        expect(await find("apiextensions.k8s.io/v1", "CustomResourceDefinition", name), name).not.toBeNull();
      }
      const operator = await find("apps/v1", "Deployment", "binnacle-operator", "binnacle-system");
      expect(JSON.stringify(operator)).toContain(id);
      expect(JSON.stringify(operator)).not.toContain(token);
      const roles = await kube.resourceTypeOf("rbac.authorization.k8s.io/v1", "ClusterRole");
      const labelSelector = "app.kubernetes.io/instance=binnacle-operator";
      expect((await kube.list(roles, { labelSelector })).items).not.toEqual([]);
    } finally {
      await kube.close();
      await fresh.stop();
      await rm(folder, { recursive: true });
    }
  });

  test("[JO2] a registered cluster is connected by its operator, which reports its version, nodes and capacity", async () => {
    const cluster = await stage.register();
    expect(await stage.statusOf(cluster.id)).toBe("pending");
    await stage.connect(cluster);
    const { body } = await stage.admin.get(`/clusters/${cluster.id}`);
    expect(body).toMatchObject({
      kubernetes_version: expect.stringMatching(/^v1\./),
      operator_version: expect.any(String),
      node_count: expect.any(Number),
      metrics: { cpu_cores: expect.any(Number), memory_bytes: expect.any(Number), pods: expect.any(Number) },
    });
    expect(body.node_count).toBeGreaterThan(0);
    expect(body.metrics.cpu_cores).toBeGreaterThan(0);
  });

  test("[JO3] a cluster is disconnected when its operator is killed, and connected when the operator is back", async () => {
    const cluster = await stage.register();
    const operator = await stage.connect(cluster);
    const events = await stage.admin.follow(`/events/stream?cluster_id=${cluster.id}&resource_type=cluster`);
    operator.signal("SIGKILL");
    await vi.waitFor(async () => expect(await stage.statusOf(cluster.id)).toBe("disconnected"), SOON);
    await stage.connect(cluster);
    // The news of the first connection may come after it can be read.
    await events.until(({ event, data }) => event === "cluster-status" && data.status === "disconnected");
    const next = await events.until(({ event }) => event === "cluster-status");
    expect(next.data.status).toBe("connected");
    events.leave();
  });

  test("[JO4] an operator whose token was revoked is disconnected, and the new token connects again", async () => {
    const cluster = await stage.register();
    const operator = await stage.connect(cluster);
    const { body: rotated } = await stage.admin.post(`/clusters/${cluster.id}/rotate-token`);
    expect(rotated.enforcement).toBe("in_force");
    await vi.waitFor(async () => expect(await stage.statusOf(cluster.id)).toBe("disconnected"), SOON);
    await vi.waitFor(() => expect(operator.printed()).toContain("4403"), SOON);
    expect(operator.printed()).not.toContain(cluster.token);
    // A process with the new token begins once this one has ended, as in a Deployment that is rolled.
    operator.signal("SIGTERM");
    await stage.connect({ ...cluster, token: rotated.token });
  });

  test("[JO62] an abandoned cluster is cleaned up when its operator returns, and its records end", async () => {
    const { admin, kube } = stage;
    const cluster = await stage.register();
    const operator = await stage.connect(cluster);
    const { id, namespace } = await stage.readyProject(cluster.id);
    const components = [{ name: "web", workload_spec: { image: "nginx:1.29" } }];
    expect((await admin.post("/apps", { name: "web", project_id: id, components })).status).toBe(201);
    const deployments = await kube.resourceTypeOf("apps/v1", "Deployment");
    await vi.waitFor(async () => expect(await kube.get(deployments, "web-web", namespace)).not.toBeNull(), SOON);
    operator.signal("SIGKILL");
    await vi.waitFor(async () => expect(await stage.statusOf(cluster.id)).toBe("disconnected"), SOON);

    const { body } = await admin.get(`/clusters/${cluster.id}`);
    expect((await admin.post(`/clusters/${cluster.id}/abandon`, { name: body.name })).status).toBe(202);
    expect(await stage.statusOf(cluster.id)).toBe("abandoned");
    expect((await kube.get(NAMESPACES, namespace))?.metadata.deletionTimestamp).toBeUndefined();

    stage.start(cluster);
    await vi.waitFor(async () => expect((await admin.get(`/projects/${id}`)).status).toBe(404), SOON);
    expect(await kube.get(NAMESPACES, namespace)).toBeNull();
    await vi.waitFor(async () => expect((await admin.get(`/clusters/${cluster.id}`)).status).toBe(404), SOON);
  });

  test("[JO63] a detached cluster runs on without anything of Binnacle that holds or owns it, also where its operator is killed half-way", async () => {
    const { admin, kube } = stage;
    const cluster = await stage.register();
    const operator = await stage.connect(cluster);
    const { id, namespace } = await stage.readyProject(cluster.id);
    const workload_spec = { image: "nginx:1.29", replicas: 2, ports: [{ name: "http", port: 80 }] };
    const components = [{ name: "web", workload_spec, secrets: { API_KEY: "s3cret" } }];
    expect((await admin.post("/apps", { name: "web", project_id: id, components })).status).toBe(201);
    const running = async () =>
      expect((await admin.get(`/apps/${namespace}/web?project_id=${id}`)).body.phase).toBe("running");
    await vi.waitFor(running, SOON);
    const deployments = await kube.resourceTypeOf("apps/v1", "Deployment");
    const pods = await kube.resourceTypeOf("v1", "Pod");
    const podNames = async () =>
      (await kube.list(pods, { namespace })).items.map(({ metadata }) => metadata.uid).sort();
    const before = { deployment: await kube.get(deployments, "web-web", namespace), pods: await podNames() };
    expect(before.pods).toHaveLength(2);

    const { body } = await admin.get(`/clusters/${cluster.id}`);
    expect((await admin.post(`/clusters/${cluster.id}/detach`, { name: body.name })).status).toBe(202);
    const isOwned = async () =>
      (await kube.list(PROJECTS, { labelSelector: `binnacle.dev/cluster=${cluster.id}` })).items.length > 0;
    // The first word about it in the cluster is that the operator has begun.
    await vi.waitFor(async () => {
      const memory = await kube.get(CONFIG_MAPS, "binnacle-operator-memory", "binnacle-system");
      expect(JSON.stringify(memory?.["data"] ?? {})).toContain("isDetaching");
    }, SOON);
    operator.signal("SIGKILL");
    stage.start(cluster);
    await vi.waitFor(async () => expect((await admin.get(`/clusters/${cluster.id}`)).status).toBe(404), SOON);
    expect((await admin.get(`/projects/${id}`)).status).toBe(404);

    expect(await isOwned()).toBe(false);
    const labelSelector = `binnacle.dev/cluster=${cluster.id}`;
    for (const type of [PROJECTS, APPS, ADDON_INSTANCES, NAMESPACES, deployments])
      expect([type.kind, (await kube.list(type, { labelSelector })).items]).toEqual([type.kind, []]);
    const secrets = (await kube.list(SECRETS, { namespace })).items;
    expect(secrets.filter((secret) => secret["type"] === "binnacle.dev/desired")).toEqual([]);
    const after = await kube.get(deployments, "web-web", namespace);
    expect(after).toMatchObject({
      metadata: { uid: before.deployment?.metadata.uid },
      spec: before.deployment?.["spec"],
    });
    expect(await podNames()).toEqual(before.pods);
    expect((await kube.get(NAMESPACES, namespace))?.metadata).not.toHaveProperty("finalizers");

    await kube.delete(NAMESPACES, namespace);
    await vi.waitFor(async () => expect(await kube.get(NAMESPACES, namespace)).toBeNull(), SOON);
  });
});
