import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { HELM } from "../helm/helm-program.fixture.ts";
import { projectUser } from "../helm/rights.ts";
import { freshNamespace } from "../kube/cluster.fixture.ts";
import { fieldsIn } from "../kube/object-fields.ts";
import { type AddonWorld, addonWorld } from "./addon-world.fixture.ts";
import { HOSTILE } from "./hostile-charts.fixture.ts";

const REFUSED = { phase: "failed", reason: "ForbiddenObject" };
const GONE = { timeout: 60_000, interval: 200 };
const CROWN = "the-crown-jewels-of-the-test";

/** Another project with a Secret, and what reaches for it. */
async function stage(options: Parameters<typeof addonWorld>[0] = {}) {
  const world = await addonWorld({ charts: HOSTILE, ...options });
  const { client } = world;
  const victim = await freshNamespace(client);
  const metadata = { name: "crown", namespace: victim.name };
  await client.create({ apiVersion: "v1", kind: "Secret", metadata, stringData: { jewels: CROWN } });
  return {
    world,
    victim: victim.name,
    /** A host that the other project serves. */
    async victimHost() {
      const host = `${victim.name}.example.com`;
      const spec = { defaultBackend: { service: { name: "web", port: { number: 80 } } }, rules: [{ host }] };
      const object = {
        apiVersion: "networking.k8s.io/v1",
        kind: "Ingress",
        metadata: { name: "shop", namespace: victim.name },
      };
      await client.apply({ ...object, spec }, { force: true });
      await vi.waitFor(() => expect(world.hosts.takenByOthers(world.namespace, [host])).toEqual([host]), GONE);
      return host;
    },
    install: (name: string, values: Readonly<Record<string, unknown>> = {}) =>
      world.tell({ victim: victim.name, ...values }, { chart: { ...world.charts.chart, name }, export_schema: {} }),
    allow: (name: string) => world.allow({ repo: `${world.charts.chart.repo}/`, name }),
    get: (apiVersion: string, kind: string, name: string, namespace: string | null = null) =>
      client.resourceTypeOf(apiVersion, kind).then((type) => client.get(type, name, namespace)),
    clusterRole: () =>
      client
        .resourceTypeOf("rbac.authorization.k8s.io/v1", "ClusterRole")
        .then((type) => client.get(type, `${world.namespace}-reader`)),
    async stop() {
      await victim.remove();
      await world.stop();
    },
  };
}
type Stage = Awaited<ReturnType<typeof stage>>;

/** None of them ever gets so far as to make a difference to the next. */
describe.skipIf(!HELM)("a chart that reaches beyond its project", { timeout: 120_000 }, () => {
  let its: Stage;
  let world: AddonWorld;
  beforeAll(async () => {
    its = await stage();
    world = its.world;
  });
  afterAll(() => its?.stop());

  test.each([
    ["thief", () => `secrets crown in the namespace ${its.victim}`],
    ["spy", () => "secrets of the whole cluster"],
  ])("[HE22] a chart that looks up Secrets of other namespaces gets none of them (%s)", async (name, named) => {
    await its.install(name);
    await world.seen({ ...REFUSED, message: expect.stringContaining(named()) });
    expect(await world.get("v1", "ConfigMap", "db-mark")).toBeNull();
    const said = JSON.stringify(world.reports) + world.logged.join("\n");
    for (const secret of [CROWN, Buffer.from(CROWN).toString("base64")]) expect(said).not.toContain(secret);
  });

  test("[HE29] a chart is refused a host that another namespace uses, by name and by a wildcard", async () => {
    const host = await its.victimHost();
    for (const wanted of [host, "*.example.com"]) {
      await its.install("hijacker", { host: wanted });
      await world.seen({ phase: "failed", reason: "HostTaken", message: expect.stringContaining(wanted) });
      expect(await world.revisions()).toEqual([]);
    }
  });

  test.each([
    ["twofold", "UnreadableManifest", "duplicated mapping key"],
    ["tagged", "UnreadableManifest", "unknown scalar tag"],
    ["alias", "ForbiddenAnnotation", "server-alias"],
  ])("[HE42] [HE43] a chart gets no host of another namespace by hiding it (%s)", async (name, reason, words) => {
    await its.install(name, { host: await its.victimHost() });
    await world.seen({ phase: "failed", reason, message: expect.stringContaining(words) });
    expect(await world.revisions()).toEqual([]);
  });

  test.each([
    ["intruder", () => `ConfigMap planted in the namespace ${its.victim}`],
    ["rootkit", () => `DaemonSet ${world.namespace}-rootkit in the namespace kube-system`],
    ["master", () => `ClusterRole ${world.namespace}-reader of the whole cluster`],
    ["founder", () => `Namespace ${world.namespace}-second of the whole cluster`],
    ["definer", () => "CustomResourceDefinition things.hostile.example.com of the whole cluster"],
    ["hooker", () => `Job db-hook in the namespace ${its.victim}`],
  ])("[HE23] a chart with objects outside its namespace creates nothing (%s)", async (name, named) => {
    await its.install(name);
    await world.seen({ ...REFUSED, message: expect.stringContaining(`${named()}. Charts have`) });
    expect(await world.revisions()).toEqual([]);
    expect(await world.get("v1", "ConfigMap", "db-mark")).toBeNull();
    const outside = await Promise.all([
      its.get("v1", "ConfigMap", "planted", its.victim),
      its.get("batch/v1", "Job", "db-hook", its.victim),
      its.get("apps/v1", "DaemonSet", `${world.namespace}-rootkit`, "kube-system"),
      its.get("v1", "Namespace", `${world.namespace}-second`),
      its.get("apiextensions.k8s.io/v1", "CustomResourceDefinition", "things.hostile.example.com"),
      its.clusterRole(),
    ]);
    expect(outside).toEqual([null, null, null, null, null, null]);
  });

  test("[HE23] a chart is refused for an object outside its namespace that stands inside a List", async () => {
    await its.install("lister");
    const named = `ConfigMap planted in the namespace ${its.victim}. Charts have`;
    await world.seen({ ...REFUSED, message: expect.stringContaining(named) });
    expect(await world.get("v1", "ConfigMap", "db-mark")).toBeNull();
    expect(await its.get("v1", "ConfigMap", "planted", its.victim)).toBeNull();
  });

  test.each(["climber", "heir"])("[HE27] a chart cannot grant rights that charts do not have (%s)", async (name) => {
    await its.install(name);
    await world.seen({ ...REFUSED, message: expect.stringContaining("would grant rights that charts do not have") });
    expect(await world.get("rbac.authorization.k8s.io/v1", "RoleBinding", "db")).toBeNull();
  });

  test("[HE45] a chart that the API server refuses halfway leaves no objects behind", async () => {
    await its.install("halfway");
    await world.seen({ ...REFUSED, message: expect.stringContaining("would grant rights that charts do not have") });
    await vi.waitFor(
      async () => expect((await world.revisions()).at(-1)?.metadata.labels).toMatchObject({ status: "uninstalled" }),
      GONE,
    );
    expect(await world.get("v1", "ConfigMap", "db-mark")).toBeNull();
    expect(await world.get("rbac.authorization.k8s.io/v1", "Role", "db")).toBeNull();
  });

  test("[HE24] a chart that is allowed cluster-wide rights fails with the setting that the operator's own chart lacks", async () => {
    its.allow("master");
    await its.install("master");
    await world.seen({ ...REFUSED, message: expect.stringContaining("rbac.clusterWideCharts=true") });
    expect(await its.clusterRole()).toBeNull();
  });
});

describe.skipIf(!HELM)("a chart with rights of the whole cluster", { timeout: 120_000 }, () => {
  let its: Stage;
  let world: AddonWorld;
  beforeEach(async () => {
    its = await stage({ clusterWideCharts: true });
    world = its.world;
  });
  afterEach(() => its?.stop());

  test("[HE24] a chart has cluster-wide rights once a platform admin allows the chart, and not before", async () => {
    await its.install("master");
    await world.seen(REFUSED);
    expect(await its.clusterRole()).toBeNull();
    its.allow("master");
    await world.seen({ phase: "ready" });
    expect(await its.clusterRole()).not.toBeNull();
    const wider = (await world.helm.calls()).filter(({ args }) => args.includes(":binnacle-cluster-charts"));
    expect(wider.map(({ args }) => args.split(" ")[0])).toEqual(["template", "upgrade"]);
    await world.forget();
    await vi.waitFor(() => expect(world.reports.at(-1)).toEqual({ state: "gone" }), GONE);
    expect(await its.clusterRole()).toBeNull();
  });

  test("[HE24] a chart that is allowed cluster-wide rights does not lend these rights to another chart", async () => {
    its.allow("master");
    await its.install("thief");
    await world.seen(REFUSED);
    await its.install("definer");
    await world.seen({ ...REFUSED, message: expect.stringContaining("things.hostile.example.com") });
  });

  test("[HE25] a release whose chart loses its cluster-wide rights stays as it is, and its report says so", async () => {
    its.allow("master");
    await its.install("master");
    await world.seen({ phase: "ready" });
    world.allow();
    world.addons.resync();
    const message = expect.stringContaining(`ClusterRole ${world.namespace}-reader of the whole cluster`);
    await world.seen({ phase: "degraded", reason: "ForbiddenObject", message });
    expect(await its.clusterRole()).not.toBeNull();
    its.allow("master");
    await world.forget();
    await vi.waitFor(() => expect(world.reports.at(-1)).toEqual({ state: "gone" }), GONE);
  });
});

describe.skipIf(!HELM)("a chart of a project", { timeout: 120_000 }, () => {
  let its: Stage;
  let world: AddonWorld;
  beforeEach(async () => {
    its = await stage();
    world = its.world;
  });
  afterEach(() => its?.stop());

  test("[HE23] a chart that deceives the operator's check is stopped by the API server, and reports the same reason", async () => {
    await its.install("sleeper", { color: "blue" });
    await world.seen({ phase: "ready" });
    await its.install("sleeper", { color: "green" });
    const message = expect.stringContaining(`${world.namespace}-reader of the whole cluster`);
    await world.seen({ phase: "degraded", reason: "ForbiddenObject", message });
    expect(await its.clusterRole()).toBeNull();
  });

  test("[HE22] every call of Helm for a chart impersonates the service account of the chart's namespace", async () => {
    await world.tell({});
    await world.seen({ phase: "ready" });
    await world.forget();
    await vi.waitFor(() => expect(world.reports.at(-1)).toEqual({ state: "gone" }), GONE);
    const calls = (await world.helm.calls()).filter(({ args }) => !args.startsWith("pull"));
    expect(new Set(calls.map(({ args }) => args.split(" ")[0]))).toEqual(new Set(["template", "upgrade", "uninstall"]));
    for (const { args } of calls) expect(args).toContain(`--kube-as-user=${projectUser(world.namespace)}`);
    const account = await world.get("v1", "ServiceAccount", "binnacle-charts");
    expect(account).toMatchObject({ automountServiceAccountToken: false });
  });

  test("[HE22] the chart rights in a namespace are restored when somebody deletes the RoleBinding", async () => {
    await world.tell({ color: "blue" });
    await world.seen({ phase: "ready" });
    const type = await world.client.resourceTypeOf("rbac.authorization.k8s.io/v1", "RoleBinding");
    await world.client.delete(type, "binnacle-charts", world.namespace);
    await world.tell({ color: "green" });
    await world.seen({ phase: "ready" });
    expect(fieldsIn((await world.get("v1", "ConfigMap", "db-tiny"))?.["data"])["color"]).toBe("green");
    expect(await world.client.get(type, "binnacle-charts", world.namespace)).not.toBeNull();
  });

  test("[HE25] a release that an admin installed before is kept, upgraded and removed with the rights of its project", async () => {
    const { repo, name } = world.charts.chart;
    await world.byAdmin({ color: "blue" }, ["install", "db", name, "--repo", repo]);
    await world.tell({ color: "blue" });
    await world.seen({ phase: "ready" });
    expect(await world.helm.calls()).toEqual([]);
    await world.tell({ color: "green" });
    await world.seen({ phase: "ready" });
    expect(fieldsIn((await world.get("v1", "ConfigMap", "db-tiny"))?.["data"])["color"]).toBe("green");
    await world.forget();
    await vi.waitFor(() => expect(world.reports.at(-1)).toEqual({ state: "gone" }), GONE);
  });

  test("[HE27] the account of charts cannot change the policy of its namespace, nor anything in other namespaces", async () => {
    await world.tell({});
    await world.seen({ phase: "ready" });
    const granted: string[] = [];
    const ask = async (verb: string, group: string, resource: string, namespace: string, name = "") => {
      const [plural = "", subresource = ""] = resource.split("/");
      const resourceAttributes = { verb, group, resource: plural, subresource, namespace, name };
      const body = {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SelfSubjectAccessReview",
        spec: { resourceAttributes },
      };
      const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
      const as = world.client.as(projectUser(world.namespace));
      const { status } = await as.raw<{ status: { allowed: boolean } }>("POST", path, { body });
      if (status.allowed) granted.push(`${verb} ${resource} in ${namespace}`);
    };
    for (const verb of ["get", "create", "update", "patch", "delete"]) {
      await ask(verb, "", "secrets", its.victim);
      await ask(verb, "", "secrets", "kube-system");
      await ask(verb, "apps", "daemonsets", "kube-system");
      await ask(verb, "rbac.authorization.k8s.io", "clusterroles", "");
      await ask(verb, "rbac.authorization.k8s.io", "clusterrolebindings", "");
      await ask(verb, "", "namespaces", world.namespace, world.namespace);
      await ask(verb, "", "resourcequotas", world.namespace);
      await ask(verb, "", "limitranges", world.namespace);
      for (const kind of ["projects", "apps", "addoninstances"]) await ask(verb, "binnacle.dev", kind, world.namespace);
    }
    await ask("create", "", "pods/exec", world.namespace);
    await ask("create", "", "serviceaccounts/token", world.namespace);
    await ask("impersonate", "", "serviceaccounts", world.namespace, "binnacle-charts");
    await ask("impersonate", "", "users", "");
    await ask("bind", "rbac.authorization.k8s.io", "clusterroles", world.namespace);
    await ask("escalate", "rbac.authorization.k8s.io", "roles", world.namespace);
    await ask("create", "", "endpoints", world.namespace);
    expect(granted).toEqual([]);
  });
});
