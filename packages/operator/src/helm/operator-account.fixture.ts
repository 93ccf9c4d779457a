import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { vi } from "vitest";
import { CHART, helmIn, objectsIn, withValues } from "../chart/helm.fixture.ts";
import { accountToken } from "../kube/account-token.fixture.ts";
import { NAMESPACES } from "../kube/cluster.fixture.ts";
import type { KubeClient, KubeObject } from "../kube/kube-client.ts";
import { accountUser } from "./rights.ts";

const RIGHTS = new Set(["ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"]);
const POLICY = "ValidatingAdmissionPolicy";
const POLICIES = new Set([POLICY, `${POLICY}Binding`]);
const ADMISSION = "admissionregistration.k8s.io/v1";
const RELEASE = "op";

interface AccountOptions {
  readonly clusterId: string;
  readonly clusterWideCharts: boolean;
}

/**
 * The account that the operator's chart makes for it, with the rights that the chart gives and confined as it confines it, on the cluster
 * of this run. The sandbox has no admission policies.
 */
export async function operatorAccount(client: KubeClient, { clusterId, clusterWideCharts }: AccountOptions) {
  const namespace = `binnacle-${randomBytes(5).toString("hex")}`;
  await client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  const home = await mkdtemp(join(tmpdir(), "operator-account-"));
  const typed = ["--set", `rbac.clusterWideCharts=${clusterWideCharts}`, "--api-versions", `${ADMISSION}/${POLICY}`];
  const values = withValues({ "cluster.id": clusterId });
  const text = await helmIn(home)("template", RELEASE, CHART, "--namespace", namespace, ...values, ...typed);
  await rm(home, { recursive: true, force: true });
  const hasPolicies = await client.resourceTypeOf(ADMISSION, POLICY).then(
    () => true,
    () => false,
  );
  const objects = (objectsIn(text) as unknown as KubeObject[]).filter(
    ({ kind, metadata }) =>
      RIGHTS.has(kind) || (hasPolicies && POLICIES.has(kind) && metadata.name.endsWith("-writes")),
  );
  for (const object of objects) await client.apply(object, { force: true });
  const token = await accountToken(client, { namespace, name: RELEASE });
  const identity = async () => ({ token, certificate: null, key: null });
  await vi.waitFor(() => inForce(client, accountUser(namespace, RELEASE)), { timeout: 20_000, interval: 100 });
  return {
    identity,
    account: { namespace, name: RELEASE },
    projectsRole: `${namespace}:${RELEASE}:projects`,
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
