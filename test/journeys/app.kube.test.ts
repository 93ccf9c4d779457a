import { afterAll, beforeAll, beforeEach, describe, expect, inject, test, vi } from "vitest";
import type { KubeClient } from "../../packages/operator/src/kube/kube-client.ts";
import { simulateLog } from "../kube/pod-logs.ts";
import type { OperatorProcess } from "../world/operator-process.ts";
import { openStage, type RegisteredCluster, SOON, type Stage } from "./stage.ts";

let stage: Stage;
let kube: KubeClient;
let cluster: RegisteredCluster;
let project: { id: string; namespace: string };
let operator: OperatorProcess;

beforeAll(async () => {
  stage = await openStage();
  kube = stage.kube;
  cluster = await stage.register();
  operator = await stage.connect(cluster);
});
afterAll(() => stage?.close());
beforeEach(async () => {
  project = await stage.readyProject(cluster.id);
});

const WEB = { name: "web", workload_spec: { image: "nginx:1.29", ports: [{ name: "http", port: 80 }] } };
const path = (name: string, rest = "", query = "") =>
  `/apps/${project.namespace}/${name}${rest}?project_id=${project.id}${query}`;
const read = async (name: string) => (await stage.admin.get(path(name))).body;
const deployment = async (name: string) =>
  kube.get(await kube.resourceTypeOf("apps/v1", "Deployment"), name, project.namespace);

async function create(name: string, components: readonly object[] = [WEB]): Promise<void> {
  const made = await stage.admin.post("/apps", { name, project_id: project.id, components });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
}

/** Waits until the cluster has reported the phase for what is wanted now. */
async function reaches(name: string, phase: string): Promise<void> {
  await vi.waitFor(async () => {
    const app = await read(name);
    const { generation, observed_generation, phase_reason, phase_message } = app;
    expect({ phase: app.phase, observed_generation, phase_reason, phase_message }).toMatchObject({
      phase,
      observed_generation: generation,
    });
  }, SOON);
}

describe("an app on a real cluster", () => {
  test("[JO5] an app on a real cluster runs, is scaled, paused, resumed, rolled back and deleted", async () => {
    await create("shop");
    await reaches("shop", "running");
    expect((await read("shop")).components[0].ready_replicas).toBe(1);

    await stage.admin.post(path("shop", "/scale"), { component_name: "web", replicas: 3 });
    await reaches("shop", "running");
    expect((await read("shop")).components[0].ready_replicas).toBe(3);

    await stage.admin.post(path("shop", "/pause"));
    await reaches("shop", "paused");
    expect((await deployment("shop-web"))?.["spec"]).toMatchObject({ replicas: 0 });
    await stage.admin.post(path("shop", "/resume"));
    await reaches("shop", "running");
    expect((await read("shop")).components[0].ready_replicas).toBe(3);

    await stage.admin.post(path("shop", "/rollback"), { revision: 1 });
    await reaches("shop", "running");
    expect((await deployment("shop-web"))?.["spec"]).toMatchObject({ replicas: 1 });
    const { body: history } = await stage.admin.get(path("shop", "/deployments"));
    expect(history.data.map(({ operation, status }: Record<string, string>) => [operation, status])).toEqual([
      ["rollback", "succeeded"],
      ["resume", "succeeded"],
      ["pause", "succeeded"],
      ["scale", "succeeded"],
      ["create", "succeeded"],
    ]);

    expect((await stage.admin.delete(path("shop"))).status).toBe(204);
    await vi.waitFor(async () => expect((await stage.admin.get(path("shop"))).status).toBe(404), SOON);
    expect(await deployment("shop-web")).toBeNull();
  });

  test("[AP88] [AP89] [AP92] the API shows an app's objects, what Kubernetes says about them, and what its deletion would take", async () => {
    const volumes = [{ name: "data", mount_path: "/data", size_gb: 1 }];
    await create("tree", [WEB, { name: "db", workload_spec: { kind: "statefulset", image: "db:1", volumes } }]);
    await reaches("tree", "running");
    const { status, body } = await stage.admin.get(path("tree", "/resources"));
    expect(status, JSON.stringify(body)).toBe(200);
    const nodes: { id: string; parent_id: string | null; kind: string; name: string }[] = body.nodes;
    const pathTo = (id: string | null): string => {
      const node = nodes.find((one) => one.id === id);
      return node ? `${pathTo(node.parent_id)}/${node.kind}` : "";
    };
    expect([...new Set(nodes.map(({ id }) => pathTo(id)))]).toEqual(
      expect.arrayContaining([
        "/App/Component/Deployment/ReplicaSet/Pod",
        "/App/Component/Service",
        "/App/Component/StatefulSet/PersistentVolumeClaim",
        "/App/Component/StatefulSet/Pod",
      ]),
    );
    const events = await stage.admin.get(path("tree", "/events"));
    expect([events.status, events.body.truncated]).toEqual([200, false]);

    const preview = (await stage.admin.get(path("tree", "/deletion-preview"))).body;
    expect(preview).toMatchObject({ volumes_known: true, message: null, components: ["web", "db"] });
    expect(preview.volumes.map(({ claim }: { claim: string }) => claim)).toEqual(["data-tree-db-0"]);
    const one = (await stage.admin.get(path("tree", "/deletion-preview", "&component=db"))).body;
    expect(one.volumes).toMatchObject([{ claim: "data-tree-db-0", fate: "kept" }]);
  });

  test("[JO15] the scale of a component that autoscales succeeds once the cluster is ready with it, and the reported state is fresh", async () => {
    const autoscale = { min: 1, max: 4, cpu_percent: 70 };
    await create("elastic", [{ name: "web", workload_spec: { image: "nginx:1.29", autoscale } }]);
    await reaches("elastic", "running");
    expect(await read("elastic")).toMatchObject({ stale: false, observed_at: expect.any(String) });
    await stage.admin.post(path("elastic", "/scale"), { component_name: "web", replicas: 2 });
    await vi.waitFor(async () => {
      const [newest] = (await stage.admin.get(path("elastic", "/deployments"))).body.data;
      expect(newest).toMatchObject({ operation: "scale", status: "succeeded" });
    }, SOON);
    const scaler = await kube.resourceTypeOf("autoscaling/v2", "HorizontalPodAutoscaler");
    const [on] = (await kube.list(scaler, { namespace: project.namespace })).items;
    expect(on?.["spec"]).toMatchObject({ minReplicas: 2, maxReplicas: 4 });
    const app = await read("elastic");
    expect(app).toMatchObject({ phase: "running", stale: false, observed_generation: app.generation });
    expect(app.components[0].ready_replicas).toBeGreaterThanOrEqual(2);
  });

  test("[JO6] components get each other's exports, and the objects of a removed component are pruned", async () => {
    const api = {
      name: "api",
      workload_spec: {
        image: "api:1",
        env: [{ name: "WEB_ADDRESS", export_ref: { component: "web", key: "url" } }],
      },
    };
    await create("pair", [WEB, api]);
    await reaches("pair", "running");
    const config = await kube.get(await kube.resourceTypeOf("v1", "ConfigMap"), "pair-api-env", project.namespace);
    expect(JSON.stringify(config)).toContain("pair-web");

    const removal = [{ op: "remove", name: "api" }];
    expect((await stage.admin.patch(path("pair"), { components: removal })).status).toBe(200);
    await reaches("pair", "running");
    await vi.waitFor(async () => expect(await deployment("pair-api")).toBeNull(), SOON);
    expect(await deployment("pair-web")).not.toBeNull();
  });

  test("[JO7] an app without an image is invalid with a reason that a person understands", async () => {
    await create("bare", [{ name: "web", workload_spec: {} }]);
    await reaches("bare", "invalid");
    expect((await read("bare")).phase_message).toMatch(/web.*image/i);
  });

  test("[JO8] an app that somebody has edited on the cluster is healed, and an event says what was found", async () => {
    await create("drifty");
    await reaches("drifty", "running");
    await vi.waitFor(async () => expect((await read("drifty")).drift.state).toBe("in_sync"), SOON);
    const events = await stage.admin.follow(`/events/stream?project_id=${project.id}`);
    const patch = [{ op: "replace", path: "/spec/template/spec/containers/0/image", value: "evil:1" }];
    const type = await kube.resourceTypeOf("apps/v1", "Deployment");
    await kube.patch(type, "drifty-web", project.namespace, patch, { kind: "json", fieldManager: "kubectl-edit" });
    const { data: drift } = await events.until(({ event }) => event === "drift");
    events.leave();
    expect(JSON.stringify(drift)).toContain("/spec/template/spec/containers");
    await vi.waitFor(async () => {
      expect(JSON.stringify(await deployment("drifty-web"))).toContain("nginx:1.29");
      expect((await read("drifty")).drift.state).toBe("in_sync");
    }, SOON);
  });

  test("[JO13] an app is blocked where another manager holds a field, until a forced redeploy takes it over", async () => {
    await create("held");
    await reaches("held", "running");
    await vi.waitFor(async () => expect((await read("held")).drift.state).toBe("in_sync"), SOON);
    const container = { name: "web", image: "theirs:1" };
    const theirs = {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "held-web", namespace: project.namespace },
      spec: { template: { spec: { containers: [container] } } },
    };
    await kube.apply(theirs, { fieldManager: "somebody", force: true });
    await vi.waitFor(async () => expect((await read("held")).drift.state).toBe("blocked_sync"), SOON);
    const refused = await stage.admin.post(path("held", "/scale"), { component_name: "web", replicas: 2 });
    expect([refused.status, refused.body.detail.code]).toEqual([409, "blocked_sync"]);
    expect(JSON.stringify(refused.body.detail.fields)).toContain("somebody");

    expect((await stage.admin.post(path("held", "/redeploy"), { force: true })).status).toBe(200);
    await reaches("held", "running");
    await vi.waitFor(async () => expect((await read("held")).drift.state).toBe("in_sync"), SOON);
    expect(JSON.stringify(await deployment("held-web"))).toContain("nginx:1.29");
  });

  test.skipIf(!inject("isSimulated"))(
    "[JO9] an app streams its logs through the hub, and the stream ends when the operator is lost",
    async () => {
      await create("chatty");
      await reaches("chatty", "running");
      const log = await simulateLog(kube, project.namespace);
      await log.write(["first", "second"]);
      const lines = await stage.admin.follow(path("chatty", "/logs", "&tail_lines=10"));
      expect(await lines.next()).toMatchObject({ event: "log", data: { component: "web", line: "first" } });
      expect(await lines.next()).toMatchObject({ event: "log", data: { line: "second" } });
      await log.write(["third"]);
      expect(await lines.next()).toMatchObject({ event: "log", data: { line: "third" } });
      operator.signal("SIGKILL");
      const [end] = (await lines.rest()).slice(-1);
      expect(end).toMatchObject({ event: "end", data: { error: expect.any(String) } });
      await log.remove();
      operator = await stage.connect(cluster);
    },
  );

  test("[JO10] an app pulls its images with the registry secrets of its project, and a rotation reaches them", async () => {
    const registry = { name: "hub", server_url: "registry.example.com", username: "robot", password: "first-password" };
    const attached = await stage.admin.post(`/projects/${project.id}/registry-secrets`, registry);
    expect(attached.status).toBe(201);
    await create("private");
    await reaches("private", "running");
    const secrets = await kube.resourceTypeOf("v1", "Secret");
    const pullSecret = async () => {
      const { items } = await kube.list(secrets, { namespace: project.namespace });
      const found = items.find(({ type }) => type === "kubernetes.io/dockerconfigjson");
      const data = (found?.["data"] as Record<string, string> | undefined)?.[".dockerconfigjson"] ?? "";
      return { name: found?.metadata.name, text: Buffer.from(data, "base64").toString() };
    };
    await vi.waitFor(async () => expect((await pullSecret()).text).toContain("first-password"), SOON);
    const { name } = await pullSecret();
    await vi.waitFor(async () => expect(JSON.stringify(await deployment("private-web"))).toContain(String(name)), SOON);

    await stage.admin.delete(`/projects/${project.id}/registry-secrets/${attached.body.id}`);
    await stage.admin.post(`/projects/${project.id}/registry-secrets`, { ...registry, password: "second-password" });
    await vi.waitFor(async () => expect((await pullSecret()).text).toContain("second-password"), SOON);
  });
});

describe("a project on a real cluster", () => {
  test("[JO14] the namespace of a project follows the policy of the project and of its cluster, also when they change", async () => {
    const labels = async () => {
      const namespace = await kube.get(await kube.resourceTypeOf("v1", "Namespace"), project.namespace);
      return namespace?.metadata.labels?.["pod-security.kubernetes.io/enforce"];
    };
    const isolation = async () => {
      const type = await kube.resourceTypeOf("networking.k8s.io/v1", "NetworkPolicy");
      return JSON.stringify((await kube.get(type, "binnacle-isolation", project.namespace))?.["spec"] ?? null);
    };
    expect(await labels()).toBe("baseline");
    expect(await isolation()).toContain("ingress-nginx");

    const settings = { pod_security: "restricted", ingress_namespaces: ["edge"] };
    expect((await stage.admin.patch(`/clusters/${cluster.id}/settings`, settings)).status).toBe(200);
    await vi.waitFor(async () => {
      expect([await labels(), await isolation()]).toEqual(["restricted", expect.stringContaining('"edge"')]);
    }, SOON);
    await create("fenced");
    await reaches("fenced", "running");

    const policy = { pod_security: "privileged", isolation: "none" };
    expect((await stage.admin.patch(`/projects/${project.id}/policy`, policy)).status).toBe(200);
    await vi.waitFor(async () => expect([await labels(), await isolation()]).toEqual(["privileged", "null"]), SOON);
    await stage.admin.patch(`/clusters/${cluster.id}/settings`, { pod_security: "baseline" });
  });

  test("[JO11] a deleted project is gone only when its namespace is", async () => {
    await create("last");
    await reaches("last", "running");
    expect((await stage.admin.delete(`/projects/${project.id}`)).status).toBe(202);
    await vi.waitFor(async () => expect((await stage.admin.get(`/projects/${project.id}`)).status).toBe(404), SOON);
    expect(await kube.get(await kube.resourceTypeOf("v1", "Namespace"), project.namespace)).toBeNull();
  });

  test("[JO12] a project leaves a namespace of somebody else alone", async () => {
    const name = stage.newName();
    await kube.create({ apiVersion: "v1", kind: "Namespace", metadata: { name, labels: { owner: "somebody" } } });
    const { body } = await stage.admin.post("/projects", { name, cluster_id: cluster.id });
    await vi.waitFor(async () => {
      const { body: seen } = await stage.admin.get(`/projects/${body.id}`);
      expect(seen).toMatchObject({ lifecycle: "degraded", lifecycle_reason: "namespace_conflict" });
    }, SOON);
    const address = `/apps/${name}/blocked?project_id=${body.id}`;
    await stage.admin.post("/apps", { name: "blocked", project_id: body.id, components: [WEB] });
    expect((await stage.admin.get(address)).body).toMatchObject({
      phase: "pending",
      phase_reason: "namespace_conflict",
    });
    expect((await stage.admin.delete(address)).status).toBe(204);
    await vi.waitFor(async () => expect((await stage.admin.get(address)).status).toBe(404), SOON);
    await stage.admin.delete(`/projects/${body.id}`);
    await vi.waitFor(async () => expect((await stage.admin.get(`/projects/${body.id}`)).status).toBe(404), SOON);
    const namespaces = await kube.resourceTypeOf("v1", "Namespace");
    expect(await kube.get(namespaces, name)).toMatchObject({ metadata: { labels: { owner: "somebody" } } });
    await kube.delete(namespaces, name);
  });
});
