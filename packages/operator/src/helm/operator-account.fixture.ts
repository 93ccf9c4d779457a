import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { vi } from "vitest";
import { CHART, helmIn, objectsIn, withValues } from "../chart/helm.fixture.ts";
import { NAMESPACES } from "../kube/cluster.fixture.ts";
import type { KubeClient, KubeObject } from "../kube/kube-client.ts";
import { accountUser } from "./rights.ts";

const RIGHTS = new Set(["ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"]);
const RELEASE = "op";

/** The account that the operator's chart makes for it, with the rights that the chart gives, on the cluster of this run. */
export async function operatorAccount(client: KubeClient, { clusterWideCharts }: { clusterWideCharts: boolean }) {
  const namespace = `binnacle-${randomBytes(5).toString("hex")}`;
  await client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  const home = await mkdtemp(join(tmpdir(), "operator-account-"));
  const typed = ["--set", `rbac.clusterWideCharts=${clusterWideCharts}`];
  const text = await helmIn(home)("template", RELEASE, CHART, "--namespace", namespace, ...withValues(), ...typed);
  await rm(home, { recursive: true, force: true });
  const objects = (objectsIn(text) as unknown as KubeObject[]).filter(({ kind }) => RIGHTS.has(kind));
  for (const object of objects) await client.apply(object, { force: true });
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${RELEASE}/token`;
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: 3_600 } };
  const { status } = await client.raw<{ status: { token: string } }>("POST", path, { body });
  const identity = async () => ({ token: status.token, certificate: null, key: null });
  await vi.waitFor(() => inForce(client, accountUser(namespace, RELEASE)), { timeout: 20_000, interval: 100 });
  return {
    identity,
    chartsRole: `${namespace}:${RELEASE}:charts`,
    clusterWideUser: clusterWideCharts ? accountUser(namespace, "binnacle-cluster-charts") : null,
    async remove() {
      for (const { apiVersion, kind, metadata } of objects) {
        const type = await client.resourceTypeOf(apiVersion, kind);
        if (!type.namespaced) await client.delete(type, metadata.name);
      }
      await client.delete(NAMESPACES, namespace);
    },
  };
}

/** The API server learns of roles a moment after they are written. */
async function inForce(client: KubeClient, user: string): Promise<void> {
  const resourceAttributes = { verb: "watch", group: "binnacle.dev", resource: "projects" };
  const body = {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SubjectAccessReview",
    spec: { user, resourceAttributes },
  };
  const path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
  const { status } = await client.raw<{ status: { allowed: boolean } }>("POST", path, { body });
  if (!status.allowed) throw new Error(`${user} has no rights yet`);
}
