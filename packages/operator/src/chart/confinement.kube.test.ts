import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { binaryFolder } from "../../../../test/kube/binaries.ts";
import { type Kube, startKube } from "../../../../test/kube/cluster.ts";
import { eventually, reported, startTestOperator, type TestOperator } from "../desired/cluster.fixture.ts";
import { applyApp, applyProject } from "../desired/frames.fixture.ts";
import { ownLabels } from "../desired/ownership.ts";
import { REPOSITORIES_NAME } from "../helm/chart-repositories.store.ts";
import { accountToken } from "../kube/account-token.fixture.ts";
import { createKubeClient } from "../kube/client.adapter.ts";
import type { KubeClient, KubeObject } from "../kube/kube-client.ts";
import { kubeAccessFrom } from "../kube/kubeconfig.adapter.ts";
import { LEASES } from "../kube/lease.store.ts";
import { realClock } from "../kube/real-clock.adapter.ts";
import {
  CONFIG_MAPS,
  DEPLOYMENTS,
  EVENTS,
  NAMESPACES,
  NODES,
  PODS,
  PROJECTS,
  SECRETS,
  SERVICES,
} from "../kube/resource-types.ts";
import { ROLE_BINDINGS, roleBinding } from "../kube/role-binding.ts";
import { createProjectRights } from "../project/project-rights.store.ts";
import { LEASE_NAMESPACE, leaseNameOf } from "../upgrade/leadership.runner.ts";
import { CHART, CLUSTER_ID, HELM, helmIn, withValues } from "./helm.fixture.ts";
import { CHARTS_ROLE, NEEDED_IN_PROJECTS, PROJECTS_ROLE, rightText } from "./rights.fixture.ts";

const HOME = "binnacle-system";
const NAME = "binnacle-operator";
const ACCOUNT = { namespace: HOME, name: NAME };
const SLOW_MS = 180_000;
const OTHER_ID = "01932c07-31f1-7a4e-8d8b-00000000000d";
const LEVEL = "pod-security.kubernetes.io/enforce";
const binaries = binaryFolder();

/**
 * Acts with the token of the operator's account on a cluster of its own. A second binding gives it, in the whole cluster, what its chart
 * gives it in projects only: so every refusal here is one of the admission policy and not of a role that lacks the right.
 */
describe.skipIf(HELM === null || binaries === null)("whoever has the operator's token", { timeout: SLOW_MS }, () => {
  let folder: string;
  let cluster: Kube;
  let admin: KubeClient;
  let kube: KubeClient;
  let operator: TestOperator;
  let helm: ReturnType<typeof helmIn>;

  const install = (...typed: readonly string[]) =>
    helm("upgrade", "--install", NAME, CHART, "--namespace", HOME, "--create-namespace", ...withValues(), ...typed);

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "binnacle-helm-"));
    cluster = await startKube({ binaries: binaries ?? "", parts: ["controllers", "pods"] });
    const access = await kubeAccessFrom({ KUBECONFIG: cluster.kubeconfigPath });
    admin = createKubeClient(access);
    helm = helmIn(folder, cluster.kubeconfigPath);
    await install();
    const token = await accountToken(admin, ACCOUNT);
    kube = createKubeClient({ ...access, identity: async () => ({ token, certificate: null, key: null }) });
    const installed = { account: ACCOUNT, projectsRole: PROJECTS_ROLE, chartsRole: CHARTS_ROLE };
    const own = { as: kube, clusterId: CLUSTER_ID, installed, podSecurityLimit: "baseline" as const };
    operator = await startTestOperator({ kubeconfig: cluster.kubeconfigPath, ...own });
    for (const [name, labels] of [
      ["bank", {}],
      ["others", ownLabels(OTHER_ID)],
    ] as const) {
      await admin.create({ apiVersion: "v1", kind: "Namespace", metadata: { name, labels } });
    }
    expect(await operator.store.apply(applyProject("shop"))).toBeNull();
    await reported(operator, "project/shop", "ready");
    await eventually(() => admin.create(pod("bank")));
    await eventually(() => expect(kube.create(secret("bank"), dryRun)).rejects.toMatchObject({ status: 403 }));
  }, SLOW_MS);
  afterAll(async () => {
    await operator?.stop();
    await kube?.close();
    await admin?.close();
    await cluster?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const secret = (namespace: string): KubeObject => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "made", namespace },
  });
  const tokenSecret = (namespace: string, name = "made"): KubeObject => ({
    ...secret(namespace),
    metadata: { name, namespace, annotations: { "kubernetes.io/service-account.name": "default" } },
    type: "kubernetes.io/service-account-token",
  });
  const template = (fields: object = {}) => ({
    metadata: { labels: { app: "made" } },
    spec: { containers: [{ name: "main", image: "nginx:1.29" }], ...fields },
  });
  const pod = (namespace: string): KubeObject => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "foreign", namespace },
    spec: template().spec,
  });
  const deployment = (namespace: string, fields: object = {}): KubeObject => ({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "made", namespace },
    spec: { selector: { matchLabels: { app: "made" } }, template: template(fields) },
  });
  const namespace = (name: string, labels: Readonly<Record<string, string>>): KubeObject => ({
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name, labels },
  });
  const labels = { ...ownLabels(CLUSTER_ID), [LEVEL]: "baseline" };
  const dryRun = { dryRun: true } as const;
  const merge = { kind: "merge", ...dryRun } as const;
  const refused = (attempt: Promise<unknown>, words: string | RegExp) =>
    expect(attempt).rejects.toMatchObject({ status: 403, message: expect.stringMatching(words) });

  describe("with the roles of the chart", () => {
    const NO_ROLE = /is forbidden: User|cannot|secrets was refused \(Forbidden\)/;

    test("[OC14] the operator cannot write in namespaces that are not its own, by its roles alone", async () => {
      await refused(kube.create(deployment("kube-system"), dryRun), NO_ROLE);
      await refused(kube.create(secret("default"), dryRun), NO_ROLE);
      await refused(kube.create(deployment(HOME), dryRun), NO_ROLE);
      await refused(kube.delete(CONFIG_MAPS, "kube-root-ca.crt", "bank", dryRun), NO_ROLE);
    });

    test("[CL115] the operator may let go of the namespace of a project, and cannot take back what is nobody's", async () => {
      const unowned = Object.fromEntries(Object.keys(ownLabels(CLUSTER_ID)).map((name) => [name, null]));
      const letGo = { metadata: { labels: unowned } };
      const patched = await kube.patch(NAMESPACES, "shop", null, letGo, merge);
      expect(patched.metadata.labels).not.toHaveProperty([Object.keys(unowned)[1] ?? ""]);
      await refused(kube.patch(NAMESPACES, "bank", null, { metadata: { labels } }, merge), "may not UPDATE namespaces");
      await refused(kube.patch(NAMESPACES, "others", null, letGo, merge), "may not UPDATE namespaces");
      const weak = { metadata: { labels: { ...unowned, [LEVEL]: "privileged" } } };
      await refused(kube.patch(NAMESPACES, "shop", null, weak, merge), "limits.podSecurity");
    });

    test("[OC14] the operator has every right of its role for projects in their namespaces, and in no other", async () => {
      const wrong: string[] = [];
      const user = `system:serviceaccount:${HOME}:${NAME}`;
      for (const [verbs, group, resources, name = ""] of NEEDED_IN_PROJECTS) {
        for (const [verb, resource] of resources.flatMap((one) => verbs.map((verb) => [verb, one] as const))) {
          for (const place of ["shop", "bank"]) {
            const [plural = "", subresource = ""] = resource.split("/");
            const resourceAttributes = { verb, group, resource: plural, subresource, namespace: place, name };
            const kind = "SubjectAccessReview";
            const body = { apiVersion: "authorization.k8s.io/v1", kind, spec: { user, resourceAttributes } };
            const path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
            const { status } = await admin.raw<{ status: { allowed: boolean } }>("POST", path, { body });
            if (status.allowed !== (place === "shop")) wrong.push(`${rightText(verb, group, resource)} in ${place}`);
          }
        }
      }
      expect(wrong).toEqual([]);
    });

    test("[OC14] a project of an earlier version gets the operator's binding, and a binding that was removed comes back", async () => {
      const project = applyProject("earlier");
      expect(await operator.store.apply(project)).toBeNull();
      await reported(operator, project.key, "ready");
      const found = () => admin.get(ROLE_BINDINGS, "binnacle-operator", "earlier");
      await admin.delete(ROLE_BINDINGS, "binnacle-operator", "earlier");
      const ports = { kube, clusterId: CLUSTER_ID, account: ACCOUNT, role: PROJECTS_ROLE, clock: realClock };
      await createProjectRights(ports).ready("earlier");
      expect((await found())?.["roleRef"]).toMatchObject({ kind: "ClusterRole", name: PROJECTS_ROLE });
      expect(await operator.store.apply(applyApp({ namespace: "earlier" }))).toBeNull();
    });

    test("[OC13] a project that asks for more Pod Security than permitted is told so, and gets what is permitted", async () => {
      const frame = applyProject("eager", {}, { pod_security: "privileged" });
      expect(await operator.store.apply(frame)).toBeNull();
      const { report } = await reported(operator, frame.key, "apply_failed");
      expect(report).toMatchObject({ message: expect.stringContaining("limits.podSecurity=privileged") });
      expect((await admin.get(NAMESPACES, "eager"))?.metadata.labels).toMatchObject({ [LEVEL]: "baseline" });
    });

    test("[OC15] the Project of another cluster is refused to the operator, also under its labels", async () => {
      const metadata = { name: "theirs", labels: ownLabels(OTHER_ID) };
      const spec = { org_id: OTHER_ID, name: "theirs", namespace: "theirs" };
      const project = { apiVersion: "binnacle.dev/v1alpha1", kind: "Project", metadata, spec };
      await refused(kube.create(project, dryRun), "is not of a project of this cluster");
      await admin.create(project);
      await refused(kube.patch(PROJECTS, "theirs", null, { metadata: { labels } }, merge), "is not of a project");
      await refused(kube.delete(PROJECTS, "theirs", null, dryRun), "is not of a project");
    });
  });

  describe("with the rights of its roles everywhere", () => {
    beforeAll(async () => {
      const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: PROJECTS_ROLE };
      const subjects = [{ kind: "ServiceAccount", ...ACCOUNT }];
      const rules = [
        { apiGroups: ["rbac.authorization.k8s.io"], resources: ["clusterroles"], verbs: ["bind"] },
        { apiGroups: [""], resources: ["serviceaccounts/token", "pods/attach"], verbs: ["create"] },
        { apiGroups: [""], resources: ["nodes", "services"], verbs: ["patch"] },
      ];
      const api = "rbac.authorization.k8s.io/v1";
      await admin.create({ apiVersion: api, kind: "ClusterRole", metadata: { name: "more" }, rules });
      for (const name of [PROJECTS_ROLE, "more"]) {
        const metadata = { name: `everywhere-${name === "more" ? "more" : "projects"}` };
        await admin.create({
          apiVersion: api,
          kind: "ClusterRoleBinding",
          metadata,
          roleRef: { ...roleRef, name },
          subjects,
        });
      }
      const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "made", namespace: "bank" } };
      await eventually(() => refused(kube.create(object, dryRun), NOT_OURS));
      await eventually(() => refused(kube.patch(SERVICES, "kubernetes", "default", {}, merge), NOT_OURS));
    });
    // The client leaves out what the API server says about a Secret, which may quote it.
    const NOT_OURS = /is not of a project of this cluster|secrets was refused \(Forbidden\)/;

    test.each([
      ["a Deployment in kube-system", () => kube.create(deployment("kube-system"), dryRun)],
      ["a Secret in default", () => kube.create(secret("default"), dryRun)],
      ["a Secret in the namespace of another cluster's project", () => kube.create(secret("others"), dryRun)],
      ["a Secret of another name beside the operator", () => kube.create(secret(HOME), dryRun)],
      ["a Deployment beside the operator", () => kube.create(deployment(HOME), dryRun)],
      [
        "an object of the namespace bank, to delete it",
        () => kube.delete(CONFIG_MAPS, "kube-root-ca.crt", "bank", dryRun),
      ],
      [
        "kube-system, to label it as its own",
        () => kube.patch(NAMESPACES, "kube-system", null, { metadata: { labels } }, merge),
      ],
      [
        "kube-system, to take Pod Security off",
        () => kube.patch(NAMESPACES, "kube-system", null, { metadata: { labels: { [LEVEL]: "privileged" } } }, merge),
      ],
      ["the operator's own namespace", () => kube.patch(NAMESPACES, HOME, null, { metadata: { labels } }, merge)],
      ["another cluster's project", () => kube.patch(NAMESPACES, "others", null, { metadata: { labels } }, merge)],
      ["a namespace of others, to delete it", () => kube.delete(NAMESPACES, "bank", null, dryRun)],
      [
        "its own namespace, to give it away",
        () => kube.patch(NAMESPACES, "shop", null, { metadata: { labels: ownLabels(OTHER_ID) } }, merge),
      ],
      ["a namespace without its labels", () => kube.create(namespace("plain", { [LEVEL]: "baseline" }), dryRun)],
      ["a node", () => kube.patch(NODES, "node-0", null, { spec: { unschedulable: true } }, merge)],
      [
        "a Service of others",
        () => kube.patch(SERVICES, "kubernetes", "default", { spec: { selector: { app: "made" } } }, merge),
      ],
    ])("[OC15] the operator is refused %s", (_, attempt) => refused(attempt(), NOT_OURS));

    test("[OC15] the operator is refused tokens of service accounts, also in its own namespaces", async () => {
      const words = /may not have tokens of service accounts|is not of a project/;
      await kube.create(secret("shop"), dryRun);
      for (const place of ["shop", HOME, "kube-system"]) {
        await refused(kube.create(tokenSecret(place), dryRun), NOT_OURS);
        const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
        await refused(kube.raw("POST", `/api/v1/namespaces/${place}/serviceaccounts/default/token`, { body }), words);
      }
      await kube.create({ ...secret(HOME), metadata: { name: REPOSITORIES_NAME, namespace: HOME } }, dryRun);
      await refused(kube.create(tokenSecret(HOME, REPOSITORIES_NAME), dryRun), NOT_OURS);
    });

    test("[OC15] the operator is refused commands in pods of others, and every other connection", async () => {
      const exec = (place: string, subresource: string) =>
        kube.raw("POST", `/api/v1/namespaces/${place}/pods/foreign/${subresource}`, {
          query: { command: "id", container: "main", stdout: true },
        });
      await refused(exec("bank", "exec"), NOT_OURS);
      await admin.create(pod("shop"));
      await refused(exec("shop", "attach"), "may not connect to this");
      const proxy = "/api/v1/namespaces/default/services/kubernetes:443/proxy";
      await refused(kube.raw("GET", `${proxy}/version`), /is not of a project|may not connect/);
      await expect(kube.raw("GET", `${proxy}/api/v1/query`)).rejects.not.toMatchObject({
        message: expect.stringMatching(NOT_OURS),
      });
    });

    test("[OC15] the operator may bind itself and a project's charts in projects, and no other role or account", async () => {
      const words = /may bind its own account|is not of a project/;
      const bind = (place: string, role: string, account: { readonly namespace: string; readonly name: string }) =>
        kube.create(roleBinding({ name: "made", namespace: place, labels: {}, role, account }), dryRun);
      await bind("shop", PROJECTS_ROLE, ACCOUNT);
      await bind("shop", CHARTS_ROLE, { namespace: "shop", name: "binnacle-charts" });
      await refused(bind("kube-system", PROJECTS_ROLE, ACCOUNT), NOT_OURS);
      await refused(bind("shop", "cluster-admin", ACCOUNT), words);
      await refused(bind("shop", PROJECTS_ROLE, { namespace: "bank", name: "default" }), words);
      await refused(bind("shop", CHARTS_ROLE, { namespace: "bank", name: "binnacle-charts" }), words);
    });

    test("[OC13] the operator cannot give a namespace a level of Pod Security above `limits.podSecurity`", async () => {
      const words = "limits.podSecurity of the operator's chart permits at most baseline";
      await refused(kube.create(namespace("high", { ...labels, [LEVEL]: "privileged" }), dryRun), words);
      await refused(kube.create(namespace("none", ownLabels(CLUSTER_ID)), dryRun), words);
      await refused(kube.create(namespace("old", { ...labels, [`${LEVEL}-version`]: "v1.0" }), dryRun), words);
      const high = { metadata: { labels: { [LEVEL]: "privileged" } } };
      await refused(kube.patch(NAMESPACES, "shop", null, high, merge), words);
      await kube.create(namespace("low", labels), dryRun);
    });

    test("[OC16] the operator may write the Lease of its cluster, and no other Lease there or beside itself", async () => {
      const lease = (name: string, namespace: string): KubeObject => ({
        apiVersion: "coordination.k8s.io/v1",
        kind: "Lease",
        metadata: { name, namespace },
        spec: { holderIdentity: "me", leaseDurationSeconds: 12 },
      });
      const name = leaseNameOf(CLUSTER_ID);
      await kube.create(lease(name, LEASE_NAMESPACE));
      await kube.patch(LEASES, name, LEASE_NAMESPACE, { spec: { holderIdentity: "you" } }, { kind: "merge" });
      await kube.delete(LEASES, name, LEASE_NAMESPACE);
      await refused(kube.create(lease(leaseNameOf(OTHER_ID), LEASE_NAMESPACE), dryRun), NOT_OURS);
      await expect(kube.create(lease(name, HOME), dryRun)).rejects.toMatchObject({ status: 403 });
    });

    test("[OC25] [OC16] in `default` the operator may make events about its Projects, and change none and make no other", async () => {
      const event = (given: object = {}, place = LEASE_NAMESPACE): KubeObject => ({
        apiVersion: "v1",
        kind: "Event",
        metadata: { name: "shop.1", namespace: place },
        involvedObject: { apiVersion: "binnacle.dev/v1alpha1", kind: "Project", name: "shop" },
        reason: "Ready",
        reportingComponent: "binnacle-operator",
        ...given,
      });
      await kube.create(event(), dryRun);
      const node = { involvedObject: { apiVersion: "v1", kind: "Node", name: "node-0" } };
      await refused(kube.create(event(node), dryRun), NOT_OURS);
      await refused(kube.create(event({ reportingComponent: "kubelet" }), dryRun), NOT_OURS);
      const pod = { involvedObject: { apiVersion: "v1", kind: "Pod", name: "a", namespace: "bank" } };
      await refused(kube.create(event(pod, "bank"), dryRun), NOT_OURS);
      const own = {
        involvedObject: { apiVersion: "binnacle.dev/v1alpha1", kind: "App", name: "a", namespace: "shop" },
      };
      await kube.create(event(own, "shop"), dryRun);
      await admin.create(event());
      await expect(kube.patch(EVENTS, "shop.1", LEASE_NAMESPACE, { message: "another" }, merge)).rejects.toMatchObject({
        status: 403,
      });
    });

    describe("[OC16] of its own Deployment the operator", () => {
      const change = (spec: object) =>
        kube.raw("PATCH", `/apis/apps/v1/namespaces/${HOME}/deployments/${NAME}`, {
          query: { dryRun: "All" },
          body: { spec: { template: { spec } } },
          contentType: "application/strategic-merge-patch+json",
        });
      const operatorWith = (fields: object) => ({ containers: [{ name: "operator", ...fields }] });

      test("may change the image", async () => {
        await change(operatorWith({ image: "registry.example.com/binnacle/operator:next" }));
      });

      test.each([
        ["the account", { serviceAccountName: "default" }],
        ["the processes that it sees", { hostPID: true }],
        ["the network", { hostNetwork: true, ...operatorWith({ ports: [{ containerPort: 8081, hostPort: 8081 }] }) }],
        ["the volumes", { volumes: [{ name: "host", hostPath: { path: "/" } }] }],
        ["what runs before it", { initContainers: [{ name: "first", image: "nginx:1.29" }] }],
        ["what runs beside it", { containers: [{ name: "second", image: "nginx:1.29" }] }],
        ["its rights", operatorWith({ securityContext: { capabilities: { add: ["SYS_ADMIN"] } } })],
        ["the user", { securityContext: { runAsUser: 0, runAsNonRoot: false } }],
      ])("may not change %s", (_, spec) => refused(change(spec), "nothing but the image of its own Deployment"));
    });
  });

  test("[OC12] with `rbac.infrastructure` the operator may clear what is in its way, and nothing else of others", async () => {
    await install("--set", "rbac.infrastructure=true");
    const service = (name: string, type: string) => ({
      apiVersion: "v1",
      kind: "Service",
      metadata: { name, namespace: "bank" },
      spec: { type, ports: [{ port: 80 }], selector: { app: "web" } },
    });
    await admin.create(service("balanced", "LoadBalancer"));
    await admin.create(service("inner", "ClusterIP"));
    await eventually(() => kube.delete(PODS, "foreign", "bank", dryRun));
    await kube.delete(SERVICES, "balanced", "bank", dryRun);
    await kube.patch(SERVICES, "balanced", "bank", { spec: { type: "ClusterIP" } }, merge);
    await refused(
      kube.patch(SERVICES, "balanced", "bank", { spec: { selector: { app: "made" } } }, merge),
      "is not of",
    );
    await refused(kube.delete(SERVICES, "inner", "bank", dryRun), "is not of a project");
    await refused(kube.create(deployment("bank"), dryRun), /is not of a project|cannot/);
    expect(await admin.get(DEPLOYMENTS, "made", "bank")).toBeNull();
    expect(await admin.get(SECRETS, "made", "bank")).toBeNull();
  });
});
