import { randomUUID } from "node:crypto";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { binaryFolder } from "../../../../test/kube/binaries.ts";
import { type Kube, startKube } from "../../../../test/kube/cluster.ts";
import { appKind } from "../app/app-kind.reconciler.ts";
import { eventually, reported, startTestOperator, type TestOperator } from "../desired/cluster.fixture.ts";
import { finalize } from "../desired/finalizer.adapter.ts";
import { applyApp, applyProject, applyRegistries, removeOf } from "../desired/frames.fixture.ts";
import { ownLabels } from "../desired/ownership.ts";
import { createChartAccounts } from "../helm/chart-account.store.ts";
import { projectUser } from "../helm/rights.ts";
import { createInfrastructure } from "../infrastructure/infrastructure.adapter.ts";
import { accountToken } from "../kube/account-token.fixture.ts";
import { createKubeClient } from "../kube/client.adapter.ts";
import type { KubeClient, KubeObject } from "../kube/kube-client.ts";
import { kubeAccessFrom } from "../kube/kubeconfig.adapter.ts";
import { realClock } from "../kube/real-clock.adapter.ts";
import { INGRESSES, NODES, PODS, PROJECTS, SECRETS, SERVICES } from "../kube/resource-types.ts";
import { createProjectRights } from "../project/project-rights.store.ts";
import { writeAddonChart } from "./addon-chart.fixture.ts";
import { CHART, CLUSTER_ID, HELM, helmIn, TOKEN, withValues } from "./helm.fixture.ts";
import { CHARTS_ROLE, NEEDED, NEEDED_AT_HOME, PROJECTS_ROLE, REFUSED, rightText } from "./rights.fixture.ts";

const NAMESPACE = "binnacle-system";
const NAME = "binnacle-operator";
const OWN_ACCOUNT = { namespace: NAMESPACE, name: NAME };
const ACCOUNT = `system:serviceaccount:${NAMESPACE}:${NAME}`;
const SLOW_MS = 120_000;
const binaries = binaryFolder();

/** In a cluster of its own: definitions are there once for all, and so are the rights of a release. */
describe.skipIf(HELM === null || binaries === null)("an installed chart", () => {
  let home: string;
  let cluster: Kube;
  let kube: KubeClient;
  let helm: ReturnType<typeof helmIn>;
  let output: string;
  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), "binnacle-helm-"));
    cluster = await startKube({ binaries: binaries ?? "", parts: ["controllers"] });
    kube = createKubeClient(await kubeAccessFrom({ KUBECONFIG: cluster.kubeconfigPath }));
    helm = helmIn(home, cluster.kubeconfigPath);
    output = await install();
  }, SLOW_MS);
  afterAll(async () => {
    await kube?.close();
    await cluster?.stop();
    rmSync(home, { recursive: true, force: true });
  });

  const install = (values: Record<string, string> = {}, chart = CHART, typed: readonly string[] = []) =>
    helm(
      ...["upgrade", "--install", NAME, chart, "--namespace", NAMESPACE, "--create-namespace"],
      ...withValues(values),
      ...typed,
    );
  const tokenSecret = () => kube.get(SECRETS, `${NAME}-token`, NAMESPACE);
  const tokenIn = (secret: KubeObject | null) => {
    const { token = "" } = (secret?.["data"] ?? {}) as Record<string, string>;
    return Buffer.from(token, "base64").toString("utf8");
  };

  /** Asks the API server itself, as whoever it is about. */
  async function may(verb: string, group: string, resource: string, namespace = "shop", name = ""): Promise<boolean> {
    const [plural = "", subresource = ""] = resource.split("/");
    const resourceAttributes = { verb, group, resource: plural, subresource, namespace, name };
    const body = {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SubjectAccessReview",
      spec: { user: ACCOUNT, groups: ["system:serviceaccounts", "system:authenticated"], resourceAttributes },
    };
    const path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
    const { status } = await kube.raw<{ status: { allowed: boolean } }>("POST", path, { body });
    return status.allowed;
  }

  const tokenOfAccount = () => accountToken(kube, OWN_ACCOUNT);

  async function clientOfAccount(): Promise<KubeClient> {
    const token = await tokenOfAccount();
    const access = await kubeAccessFrom({ KUBECONFIG: cluster.kubeconfigPath });
    return createKubeClient({
      ...access,
      identity: async () => ({ token, certificate: null, key: null }),
    });
  }

  test("[OC1] the API server accepts the whole chart of the operator, and the notes say what to do next", async () => {
    expect(output).toContain(`rollout status deployment/${NAME}`);
    expect(output).toContain(CLUSTER_ID);
    expect(await helm("status", NAME, "--namespace", NAMESPACE)).toContain("deployed");
  });

  test("[OC4] the notes of the chart do not hold the token", () => expect(output).not.toContain(TOKEN));

  test("[OC4] a renewed token outlives an upgrade, and another one that is given replaces it", async () => {
    expect(tokenIn(await tokenSecret())).toBe(TOKEN);
    const data = { token: Buffer.from("renewed").toString("base64") };
    await kube.patch(SECRETS, `${NAME}-token`, NAMESPACE, { data }, { kind: "merge" });
    await install({ logLevel: "debug" });
    expect(tokenIn(await tokenSecret())).toBe("renewed");
    await install({ "cluster.token": "another" });
    expect(tokenIn(await tokenSecret())).toBe("another");
    await install();
    expect(tokenIn(await tokenSecret())).toBe(TOKEN);
  });

  describe("[OC23] the policy on hosts", () => {
    const ALIAS = "nginx.ingress.kubernetes.io/server-alias";
    const ingress = (namespace: string, host: string, annotations = {}): KubeObject => ({
      apiVersion: "networking.k8s.io/v1",
      kind: "Ingress",
      metadata: { name: "web", namespace, annotations },
      spec: { defaultBackend: { service: { name: "web", port: { number: 80 } } }, rules: [{ host }] },
    });
    const create = (object: KubeObject) => kube.create(object, { dryRun: true });
    const refused = (words: string) => ({ status: 403, message: expect.stringContaining(words) });
    beforeAll(async () => {
      const labels = ownLabels(CLUSTER_ID);
      for (const [index, name] of ["market", "bank"].entries()) {
        await kube.create({ apiVersion: "v1", kind: "Namespace", metadata: { name, labels } });
        const spec = { org_id: randomUUID(), name, namespace: name };
        const hosts = { [`${name}.example.com`]: "2026-01-01T00:00:00Z" };
        await kube.create({ apiVersion: "binnacle.dev/v1alpha1", kind: "Project", metadata: { name, labels }, spec });
        await kube.patchStatus(PROJECTS, name, null, { phase: "ready", generation: index, hosts });
      }
      // The API server takes a moment to learn of a policy and of its parameters.
      await eventually(() =>
        expect(create(ingress("bank", "market.example.com"))).rejects.toMatchObject({ status: 403 }),
      );
      await eventually(() =>
        expect(create(ingress("market", "bank.example.com"))).rejects.toMatchObject({ status: 403 }),
      );
    }, SLOW_MS);

    test("an Ingress with the host of another project is refused, by name and by a wildcard, whoever creates it", async () => {
      const taken = "the host market.example.com belongs to another project of the cluster";
      await expect(create(ingress("bank", "market.example.com"))).rejects.toMatchObject(refused(taken));
      // The policy is evaluated for each project, and the first answer is shown: for others than the market only the wildcard is wrong.
      const message = expect.stringMatching(/the host \*\.example\.com belongs|for all hosts or for a wildcard/);
      await expect(create(ingress("bank", "*.example.com"))).rejects.toMatchObject({ status: 403, message });
      await create(ingress("bank", "bank.example.com"));
      await create(ingress("bank", "free.example.com"));
      await create(ingress("default", "market.example.com"));
    });

    test("an existing Ingress with the host of another project may be changed, but not to a further such host", async () => {
      await kube.patchStatus(PROJECTS, "market", null, { hosts: { "shared.example.com": null } });
      await kube.create(ingress("bank", "shared.example.com"));
      await kube.patchStatus(PROJECTS, "market", null, { hosts: { "shared.example.com": "2026-01-01T00:00:00Z" } });
      await eventually(() =>
        expect(
          create({ ...ingress("bank", "shared.example.com"), metadata: { name: "other", namespace: "bank" } }),
        ).rejects.toMatchObject({ status: 403 }),
      );
      const patch = (body: object) => kube.patch(INGRESSES, "web", "bank", body, { kind: "merge", dryRun: true });
      await patch({ metadata: { labels: { a: "b" } } });
      const rules = [{ host: "shared.example.com" }, { host: "market.example.com" }];
      await expect(patch({ spec: { rules } })).rejects.toMatchObject(refused("the host market.example.com belongs"));
      await kube.delete(INGRESSES, "web", "bank");
    });

    test("an Ingress with alias or snippet annotations is refused, unless they are allowed by name", async () => {
      const aliased = ingress("bank", "free.example.com", { [ALIAS]: "market.example.com" });
      await expect(create(aliased)).rejects.toMatchObject(
        refused(`the annotation ${ALIAS} can ask for hosts of others`),
      );
      await create(ingress("bank", "free.example.com", { "cert-manager.io/cluster-issuer": "x" }));
      await install({}, CHART, ["--set-json", `ingressAnnotations=${JSON.stringify([ALIAS])}`]);
      await eventually(() => create(aliased));
      await install({}, CHART, ["--set-json", "admission.create=false"]);
      await eventually(() => create(ingress("bank", "market.example.com")));
      await install();
    });

    test("an Ingress for all hosts, for a wildcard or with a path that is more than a path is refused, and what is there stays", async () => {
      const path = "/x`) || Host(`market.example.com`) || PathPrefix(`/y";
      const backend = { service: { name: "web", port: { number: 80 } } };
      const http = { paths: [{ path, pathType: "ImplementationSpecific", backend }] };
      const withRules = (rules: object[]) => ({ ...ingress("bank", "free.example.com"), spec: { rules } });
      const broad = withRules([{ http: { paths: [{ path: "/", pathType: "Prefix", backend }] } }]);
      const injected = withRules([{ host: "free.example.com", http }]);
      // The test before has installed the policy again.
      await eventually(() => expect(create(injected)).rejects.toMatchObject(refused("a path with a quote or a space")));
      await expect(create(broad)).rejects.toMatchObject(refused("an Ingress for all hosts"));
      await expect(create(ingress("bank", "*.free.example.com"))).rejects.toMatchObject(refused("broadIngresses"));
      await install({}, CHART, ["--set-json", "broadIngresses=true"]);
      await eventually(() => create(broad));
      await kube.create(broad);
      await install();
      await eventually(() =>
        expect(create({ ...broad, metadata: { ...broad.metadata, name: "new" } })).rejects.toThrow(),
      );
      await kube.patch(INGRESSES, "web", "bank", { metadata: { labels: { a: "b" } } }, { kind: "merge" });
      await kube.delete(INGRESSES, "web", "bank");
    });

    test("the operator itself may create an Ingress with the host of another project", async () => {
      const operator = await clientOfAccount();
      const ports = { kube: operator, clusterId: CLUSTER_ID, clock: realClock };
      await createProjectRights({ ...ports, account: OWN_ACCOUNT, role: PROJECTS_ROLE }).ready("bank");
      await operator.create(ingress("bank", "market.example.com"), { dryRun: true });
      await operator.close();
    });
  });

  test("[OC5] the chart grants every right that the operator needs", async () => {
    const missing: string[] = [];
    for (const [needed, place] of [
      [NEEDED, "shop"],
      [NEEDED_AT_HOME, NAMESPACE],
    ] as const) {
      for (const [verbs, group, resources, name] of needed) {
        for (const verb of verbs) {
          for (const resource of resources) {
            if (!(await may(verb, group, resource, place, name))) missing.push(rightText(verb, group, resource, name));
          }
        }
      }
    }
    expect(missing).toEqual([]);
  });

  test("[OC5] the chart grants none of the rights that the operator must not have", async () => {
    const granted: string[] = [];
    for (const [verb, group, resource, namespace, name] of REFUSED) {
      if (await may(verb, group, resource, namespace, name)) granted.push(rightText(verb, group, resource, name));
    }
    expect(granted).toEqual([]);
  });

  test("[OC12] only with `rbac.infrastructure` the operator clears nodes and what Kubernetes has made in a cloud", async () => {
    const as = await clientOfAccount();
    const infrastructure = createInfrastructure({ kube: as, clock: realClock });
    const drain = () => infrastructure({ name: "drain_nodes", nodes: ["agent-1"], timeout_seconds: 0 });
    try {
      await kube.create({ apiVersion: "v1", kind: "Node", metadata: { name: "agent-1" } });
      const spec = { nodeName: "agent-1", containers: [{ name: "main", image: "nginx" }] };
      const metadata = { name: "stays", namespace: NAMESPACE };
      await eventually(() => kube.create({ apiVersion: "v1", kind: "Pod", metadata, spec }));
      await kube.create({
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: "balanced", namespace: NAMESPACE },
        spec: { type: "LoadBalancer", ports: [{ port: 80 }] },
      });
      await expect(drain()).rejects.toMatchObject({ code: "failed", message: expect.stringContaining("forbidden") });

      await install({}, CHART, ["--set", "rbac.infrastructure=true"]);
      const left = { left: [{ kind: "Pod", namespace: NAMESPACE, name: "stays", reason: "It is being stopped." }] };
      await eventually(async () => expect(await drain()).toEqual(left));
      await infrastructure({ name: "remove_cloud_objects", timeout_seconds: 0 });
      expect(await kube.get(SERVICES, "balanced", NAMESPACE)).toBeNull();
    } finally {
      await kube.delete(PODS, "stays", NAMESPACE, { gracePeriodSeconds: 0 });
      await kube.delete(NODES, "agent-1");
      await install();
      await as.close();
    }
  });

  test("[OC5] with the chart's rights a project is created, filled and removed", { timeout: SLOW_MS }, async () => {
    const as = await clientOfAccount();
    const installed = { account: OWN_ACCOUNT, projectsRole: PROJECTS_ROLE, chartsRole: CHARTS_ROLE };
    const own = { as, clusterId: CLUSTER_ID, installed };
    const operator: TestOperator = await startTestOperator({ kubeconfig: cluster.kubeconfigPath, ...own });
    try {
      const [project, app, registries] = [applyProject(), applyApp(), applyRegistries([{ name: "quay" }])];
      expect(await operator.store.apply(project)).toBeNull();
      await reported(operator, project.key, "ready");
      expect(await operator.store.apply(app)).toBeNull();
      expect(await operator.store.apply(registries)).toBeNull();
      await reported(operator, registries.key, "ready");
      await eventually(() => expect(operator.view.inventory()).toHaveLength(3));
      await operator.store.remember({ revision: 1 });

      for (const frame of [registries, app, project]) expect(await operator.store.remove(removeOf(frame))).toBeNull();
      await reported(operator, registries.key, "gone");
      const leaving = await eventually(() => {
        const holder = operator.view.holder("app", app.key);
        if (!holder?.metadata.deletionTimestamp) throw new Error("the app is not leaving");
        return holder;
      });
      expect(await finalize(as, appKind, leaving)).toMatchObject({ state: "gone" });
      await reported(operator, project.key, "gone", SLOW_MS);
    } finally {
      await operator.stop();
      await as.close();
    }
  });

  test("[OC10] with the role of charts the objects of a database are created, changed and removed", {
    timeout: SLOW_MS,
  }, async () => {
    const as = await clientOfAccount();
    const metadata = { name: "databases", labels: ownLabels(CLUSTER_ID) };
    await kube.create({ apiVersion: "v1", kind: "Namespace", metadata });
    const ports = { kube: as, clusterId: CLUSTER_ID, clock: realClock };
    const projectRights = createProjectRights({ ...ports, account: OWN_ACCOUNT, role: PROJECTS_ROLE });
    await createChartAccounts({ ...ports, role: CHARTS_ROLE, projectRights }).ready("databases");
    await as.close();

    const access = JSON.parse(readFileSync(cluster.kubeconfigPath, "utf8"));
    const users = [{ name: access.users[0].name, user: { token: await tokenOfAccount() } }];
    const kubeconfig = join(home, "account.kubeconfig");
    writeFileSync(kubeconfig, JSON.stringify({ ...access, users }), { mode: 0o600 });
    const asAccount = helmIn(home, kubeconfig);
    const place = ["--namespace", "databases", `--kube-as-user=${projectUser("databases")}`];
    const database = writeAddonChart(home, { isClusterWide: false });
    await asAccount("upgrade", "--install", "db", database, ...place);
    await asAccount("upgrade", "--install", "db", database, ...place, "--set", "changed=yes");
    await asAccount("rollback", "db", "1", ...place);
    await asAccount("uninstall", "db", ...place);
    const controller = writeAddonChart(home, { isClusterWide: true });
    await expect(asAccount("upgrade", "--install", "controller", controller, ...place)).rejects.toThrow(
      /clusterroles.*forbidden/,
    );
    await expect(asAccount("upgrade", "--install", "db", database, "--namespace", "databases")).rejects.toThrow(
      /forbidden/,
    );
  });

  test("[OC3] an upgrade of the chart changes the custom resource definitions, and they outlive the release", async () => {
    const type = await kube.resourceTypeOf("apiextensions.k8s.io/v1", "CustomResourceDefinition");
    const name = "projects.binnacle.dev";
    const before = await kube.get(type, name);
    const columns = async () => JSON.stringify((await kube.get(type, name))?.["spec"]).match(/"name":"Message"/g) ?? [];
    expect(await columns()).toHaveLength(1);

    const earlier = join(home, "earlier");
    cpSync(CHART, earlier, { recursive: true });
    const file = join(earlier, "files/crds/projects.yaml");
    writeFileSync(file, readFileSync(file, "utf8").replace(/^ +- \{ name: Message.*\n/m, ""));
    await install({}, earlier);
    expect(await columns()).toHaveLength(0);
    await install();
    expect(await columns()).toHaveLength(1);

    await helm("uninstall", NAME, "--namespace", NAMESPACE, "--wait");
    expect(await tokenSecret()).toBeNull();
    expect((await kube.get(type, name))?.metadata.uid).toBe(before?.metadata.uid);
    await install();
  });
});
