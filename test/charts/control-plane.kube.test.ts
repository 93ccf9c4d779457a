import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HELM } from "../../packages/operator/src/chart/helm.fixture.ts";
import { clusterClient, freshNamespace } from "../../packages/operator/src/kube/cluster.fixture.ts";
import type { KubeClient, KubeObject } from "../../packages/operator/src/kube/kube-client.ts";
import { podOf, rendered, SCENARIOS } from "./control-plane.fixture.ts";

/** Their definitions come with the Prometheus Operator and the Gateway API, which are not here. */
const OF_OTHERS = ["monitoring.coreos.com/v1", "gateway.networking.k8s.io/v1"];

describe.skipIf(HELM === null)("the control plane's chart on a real API server", () => {
  let home: string;
  let kube: KubeClient;
  let namespace: Awaited<ReturnType<typeof freshNamespace>>;
  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), "binnacle-helm-"));
    kube = await clusterClient();
    namespace = await freshNamespace(kube);
    const enforced = { "pod-security.kubernetes.io/enforce": "restricted" };
    await kube.raw("PATCH", `/api/v1/namespaces/${namespace.name}`, {
      body: { metadata: { labels: enforced } },
      contentType: "application/merge-patch+json",
    });
    // Pods are refused while their account is not there.
    const metadata = { name: "binnacle", namespace: namespace.name };
    await kube.create({ apiVersion: "v1", kind: "ServiceAccount", metadata });
  });
  afterAll(async () => {
    await namespace?.remove();
    await kube?.close();
    rmSync(home, { recursive: true, force: true });
  });

  /** Asks the API server as if to create it; a field that it does not know is an error. */
  async function create(object: KubeObject): Promise<unknown> {
    const type = await kube.resourceTypeOf(object.apiVersion, object.kind);
    if (!type) throw new Error(`The cluster has no ${object.kind} of ${object.apiVersion}.`);
    const base = type.group === "" ? "/api/v1" : `/apis/${type.group}/${type.version}`;
    const body = { ...object, metadata: { ...object.metadata, namespace: namespace.name } };
    const query = { dryRun: "All", fieldValidation: "Strict" };
    return kube.raw("POST", `${base}/namespaces/${namespace.name}/${type.plural}`, { query, body });
  }

  test.each(SCENARIOS)("[IS2306] a real API server takes every object of the chart with %s", async (scenario) => {
    const objects = (await rendered(home, scenario)).filter(({ apiVersion }) => !OF_OTHERS.includes(apiVersion));
    expect(objects.length).toBeGreaterThan(5);
    // The account is there already.
    for (const object of objects.filter(({ kind }) => kind !== "ServiceAccount")) await create(object);
  });

  test.each(SCENARIOS)(
    "[IS2307] pods of the chart with %s pass the restricted Pod Security Standard",
    async (scenario) => {
      const pods = (await rendered(home, scenario)).flatMap((object) => podOf(object) ?? []);
      expect(pods.length).toBeGreaterThan(0);
      for (const { metadata, spec } of pods) {
        await create({ apiVersion: "v1", kind: "Pod", metadata: { ...metadata, name: "pod" }, spec });
      }
    },
  );
});
