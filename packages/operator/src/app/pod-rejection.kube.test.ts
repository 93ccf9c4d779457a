import type { DesiredPolicy } from "@binnacle/contract";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type AddonWorld, addonWorld } from "../addon/addon-world.fixture.ts";
import { applyProject } from "../desired/frames.fixture.ts";
import { HELM } from "../helm/helm-program.fixture.ts";
import type { KubeClient, KubeObject } from "../kube/kube-client.ts";
import { NAMESPACES } from "../kube/resource-types.ts";
import { podSecurityLabels, policyObjects } from "../project/namespace-policy.ts";
import type { Project } from "../project/project.ts";
import { type AppWorld, appWorld, workload } from "./app-world.fixture.ts";

const SLOW_MS = 120_000;

interface Place {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly clusterId: string;
}

/** Fences the namespace of a test as the operator does, by what a policy says. */
async function fence({ client, namespace, clusterId }: Place, policy: Partial<DesiredPolicy>): Promise<void> {
  const project = { ...applyProject(namespace, {}, policy) } as unknown as { body: Pick<Project, "spec" | "secret"> };
  const fenced = { ...project, ...project.body } as unknown as Project;
  const labels = podSecurityLabels(fenced, "privileged");
  await client.patch(NAMESPACES, namespace, null, { metadata: { labels } }, { kind: "merge" });
  for (const object of policyObjects(fenced, clusterId)) await client.apply(object, { force: true });
}

/** Until the quota is counted, everything is refused. */
const isCounted = (quota: KubeObject | null) => Boolean((quota?.["status"] as { used?: object } | undefined)?.used);

describe("a workload whose pods the API server does not take", { timeout: SLOW_MS }, () => {
  let world: AppWorld;
  beforeEach(async () => {
    world = await appWorld();
    world.apps.start();
  });
  afterEach(() => world?.stop());

  const level = (pod_security: string) =>
    world.client.patch(
      NAMESPACES,
      world.namespace,
      null,
      { metadata: { labels: { "pod-security.kubernetes.io/enforce": pod_security } } },
      { kind: "merge" },
    );

  // What Binnacle renders passes `baseline`, so a level that it was not told of is what refuses it here.
  test.each(["deployment", "statefulset", "job"] as const)(
    "[AO39] a %s whose pods violate Pod Security has failed with the API server's words, and recovers",
    async (kind) => {
      await level("restricted");
      await world.deploy([workload("web", { kind })]);
      await world.seen(
        {
          phase: "failed",
          reason: "PodRejected",
          message: expect.stringContaining('violates PodSecurity "restricted'),
        },
        SLOW_MS,
      );
      await level("baseline");
      await world.deploy([workload("web", { kind, env: [{ name: "AGAIN", value: "yes" }] })]);
      await world.seen({ phase: "running" }, SLOW_MS);
    },
  );

  test.each(["deployment", "statefulset"] as const)(
    "[AO39] a %s that runs only in part is degraded with the words of a quota that the cluster's owner has set",
    async (kind) => {
      const metadata = { name: "theirs", namespace: world.namespace };
      await world.client.create({ apiVersion: "v1", kind: "ResourceQuota", metadata, spec: { hard: { pods: "1" } } });
      await expect.poll(async () => isCounted(await world.get("v1", "ResourceQuota", "theirs"))).toBe(true);
      await world.deploy([workload("web", { kind, replicas: 2 })]);
      const message = expect.stringMatching(/exceeded quota: theirs, requested: pods=1, used: pods=1/);
      await world.seen({ phase: "degraded", reason: "PodRejected", message }, SLOW_MS);
    },
  );

  test("[AO40] an app runs under `restricted` where its project has that level, and its Jobs are not run again", async () => {
    const once = workload("once", { kind: "job" });
    await world.deploy([workload("web"), once]);
    await world.seen({ phase: "running" }, SLOW_MS);
    const jobs = async () => {
      const type = await world.client.resourceTypeOf("batch/v1", "Job");
      return (await world.client.list(type, { namespace: world.namespace })).items.map(({ metadata }) => metadata.uid);
    };
    const before = await jobs();
    await world.project({ pod_security: "restricted" });
    await level("restricted");
    await expect
      .poll(async () => JSON.stringify((await world.get("apps/v1", "Deployment", "shop-web"))?.["spec"]), {
        timeout: SLOW_MS,
      })
      .toContain("runAsNonRoot");
    await world.deploy([workload("web", { replicas: 2 }), once]);
    await world.seen({ phase: "running" }, SLOW_MS);
    expect(await jobs()).toEqual(before);
  });
});

describe.skipIf(!HELM)("a chart whose pods the API server does not take", { timeout: SLOW_MS }, () => {
  let world: AddonWorld;
  beforeEach(async () => {
    world = await addonWorld();
    await fence(world, {});
  });
  afterEach(() => world?.stop());

  const violation = expect.stringMatching(
    /cannot start pods: pods ".*" is forbidden: violates PodSecurity "baseline:latest": host namespaces/,
  );

  test("[HE28] a chart whose pods violate Pod Security has failed with the API server's words, and recovers", async () => {
    await world.tell({ host: true, store: true });
    await world.seen({ phase: "failed", reason: "PodRejected", message: violation }, SLOW_MS);
    await world.tell({ host: false });
    await world.seen({ phase: "ready" }, SLOW_MS);
    await world.tell({ host: true });
    await world.seen({ phase: "degraded", reason: "PodRejected", message: violation }, SLOW_MS);
  });

  test("[HE28] a chart whose hook pod violates Pod Security has failed long before Helm gives up waiting", async () => {
    await world.tell({ host: true, hang: true });
    await world.seen({ phase: "failed", reason: "PodRejected", message: violation }, SLOW_MS);
  });
});
