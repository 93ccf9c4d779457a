import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, inject, onTestFinished, test, vi } from "vitest";
import { type Client, createClient } from "../../packages/client/src/index.ts";
import { makeNextRelease } from "../world/next-release.ts";
import { addressOf, administer } from "../world/postgres.ts";
import { startLoad } from "../world/request-load.ts";
import { NAMESPACE, OWN_CHART, REGISTRY, VALUES } from "./installation.ts";
import { apply, folderOf, helm, importImage, kubectl, kubectlJson, traces } from "./node.ts";
import { SOON } from "./project.ts";

/** What those who run the control plane do with it, one after the other, when everything else has been tested. */

const run = promisify(execFile);
const OPERATOR_NAMESPACE = "binnacle-system";
const OPERATOR_PODS = "app.kubernetes.io/name=binnacle-operator";
const RESTORED = "restored";
const RELEASE = ["--namespace", NAMESPACE, "--wait", "--timeout", "3m"];

const { url, clusterId } = inject("installed");
let client: Client;
beforeAll(async () => {
  client = createClient({ url });
  const { data } = await kubectlJson<{ data: { password: string } }>(
    ...["--namespace", NAMESPACE, "get", "secret", "binnacle-admin"],
  );
  const password = Buffer.from(data.password, "base64").toString();
  await client.login({ username: "admin@example.com", password });
});

interface Pod {
  readonly metadata: { readonly name: string; readonly uid: string; readonly deletionTimestamp?: string };
  readonly status: { readonly containerStatuses?: readonly { readonly imageID: string; readonly ready: boolean }[] };
}
const podsOf = async (namespace: string, selector: string): Promise<Pod[]> => {
  const { items } = await kubectlJson<{ items: Pod[] }>(
    "--namespace",
    namespace,
    "get",
    "pods",
    "--selector",
    selector,
  );
  return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
};
const isReady = ({ status }: Pod) => status.containerStatuses?.every(({ ready }) => ready) ?? false;

/** Waits until the operator's only pod has this image, or another one than this. */
async function operatorRuns(digest: string): Promise<void> {
  await vi.waitFor(async () => {
    const pods = await podsOf(OPERATOR_NAMESPACE, OPERATOR_PODS);
    // The node names any of the registries that it has had the image from.
    const digests = pods.map(({ status }) => status.containerStatuses?.[0]?.imageID.split("@")[1]);
    expect(digests).toEqual([digest]);
  }, SOON);
}

const operatorDigest = async (): Promise<string> =>
  (await client.call("getInstallInstructions", { id: clusterId })).operator_image?.split("@")[1] ?? "";

async function connected(): Promise<void> {
  await vi.waitFor(
    async () => expect((await client.call("getCluster", { id: clusterId })).status).toBe("connected"),
    SOON,
  );
}

/** The first app, as the cluster has it and as the control plane tells of it. */
async function firstApp() {
  const [project] = (await client.call("listProjects", { search: "first" })).data;
  const { phase } = await client.call("getApp", { namespace: "first", name: "page", project_id: project?.id ?? "" });
  const pods = await podsOf("first", "binnacle.dev/app=page");
  return { phase, pods: pods.map(({ metadata }) => metadata.uid) };
}

/** Requests that change something, on a cluster that never connects: nobody makes hundreds of namespaces on the node. */
async function load() {
  const name = `load ${crypto.randomUUID()}`;
  const org = await client.call("createOrg", { body: { name } });
  const absent = await client.call("createCluster", { org_id: org.id, body: { name: "absent" } });
  const running = startLoad(client, [absent.id], name);
  onTestFinished(() => running.stop());
  return running;
}

async function nothingIsLost(running: Awaited<ReturnType<typeof load>>): Promise<void> {
  await running.progress();
  await running.stop();
  expect(running.failures).toEqual([]);
  expect(await running.lost()).toEqual([]);
}

test("[IS2321] each pod of the control plane is killed in turn under load: no request fails after the client's retries, nothing is lost, and apps run on", async () => {
  const before = await firstApp();
  const running = await load();
  for (const name of ["api", "hub", "worker"]) {
    const selector = `app.kubernetes.io/component=${name}`;
    for (const { metadata } of await podsOf(NAMESPACE, selector)) {
      await running.progress();
      await kubectl("--namespace", NAMESPACE, "delete", "pod", metadata.name, "--grace-period=0", "--force");
      await vi.waitFor(async () => {
        const pods = await podsOf(NAMESPACE, selector);
        expect(pods.map((pod) => [isReady(pod), pod.metadata.uid === metadata.uid])).toEqual([
          [true, false],
          [true, false],
        ]);
      }, SOON);
    }
  }
  await nothingIsLost(running);
  await connected();
  expect(await firstApp()).toEqual(before);
});

test("[IS2323] a backup is restored by a Job into an empty database, and the cluster is connected again without its apps being touched", async () => {
  const [org] = (await client.call("listOrgs", { items_per_page: 1 })).data;
  const before = await firstApp();
  await kubectl("--namespace", NAMESPACE, "create", "job", "before-loss", "--from=cronjob/binnacle-backup");
  await kubectl("--namespace", NAMESPACE, "wait", "--for=condition=Complete", "job/before-loss", "--timeout=60s");
  // The chart keeps one file.
  const [file = ""] = readdirSync(await folderOf(NAMESPACE, "backups"));
  const late = await client.call("createOrg", { body: { name: "After the backup" } });

  const server = inject("postgresUrl");
  await administer(server, (admin) => admin.query(`create database ${RESTORED}`));
  const { data } = await kubectlJson<{ data: { uri: string } }>("--namespace", NAMESPACE, "get", "secret", "database");
  const uri = addressOf(Buffer.from(data.uri, "base64").toString(), RESTORED);
  const metadata = { name: "database-2", namespace: NAMESPACE };
  await apply({ apiVersion: "v1", kind: "Secret", metadata, stringData: { uri } });
  const values = ["--set", "database.existingSecret=database-2", "--set", "keys.existingSecret=binnacle-keys"];
  const upgrade = ["upgrade", "--install", "binnacle", OWN_CHART, ...RELEASE];
  await helm(...upgrade, "--values", VALUES, ...values, "--set", `restore.from=${file}`, "--wait-for-jobs");
  expect(await podsOf(NAMESPACE, "app.kubernetes.io/component in (api,hub,worker)")).toEqual([]);
  await helm(...upgrade, "--reuse-values", "--set", "restore.from=");

  await connected();
  await vi.waitFor(async () => expect(await firstApp()).toEqual(before), SOON);
  expect((await client.call("getOrg", { id: org?.id ?? "" })).name).toBe(org?.name);
  expect(await client.attempt("getOrg", { id: late.id })).toMatchObject({ ok: false, error: { status: 404 } });
});

test("[IS2322] under load the control plane is upgraded by its chart to the next minor release and back, and the operator with it, from images of both", async () => {
  const next = await makeNextRelease();
  onTestFinished(() => next.remove());
  const images = join(next.root, "images");
  const script = join(next.root, "scripts/images.ts");
  await run(process.execPath, [script, "--output", images, "--platform", "linux/amd64"], { cwd: next.root });
  for (const name of ["server", "registry"]) importImage(name, REGISTRY, images);
  const [former, before] = [await operatorDigest(), await firstApp()];
  const { org_id } = await client.call("getCluster", { id: clusterId });
  const running = await load();
  const upgradeOperator = async () => {
    const { id } = await client.call("startOperatorUpgrade", { org_id, body: { cluster_ids: [clusterId] } });
    await vi.waitFor(async () => {
      const { status, clusters } = await client.call("getOperatorUpgrade", { org_id, id });
      expect([status, clusters[0]?.reason]).toEqual(["succeeded", null]);
    }, SOON);
  };
  const skew = async () => (await client.call("getCluster", { id: clusterId })).operator_skew;

  await running.progress();
  const chart = join(next.root, "deploy/charts/binnacle");
  const values = ["--reset-then-reuse-values", "--set", `image.tag=${next.version}`];
  await helm("upgrade", "binnacle", chart, ...values, ...RELEASE);
  await connected();
  // The operator of the former release, by its image, works with the next control plane.
  await operatorRuns(former);
  expect([await skew(), await firstApp()]).toEqual(["outdated", before]);
  await upgradeOperator();
  const newer = await operatorDigest();
  expect(newer).not.toBe(former);
  await operatorRuns(newer);

  await running.progress();
  await helm("rollback", "binnacle", ...RELEASE);
  await connected();
  expect([await skew(), await firstApp()]).toEqual(["supported", before]);
  await upgradeOperator();
  await operatorRuns(former);
  await connected();
  await nothingIsLost(running);
});

test("[IS2324] projects and the cluster are deleted, both charts uninstalled, and nothing of Binnacle is left but what the guide names", async () => {
  const projects = async () => {
    const found: { id: string }[] = [];
    for await (const one of client.pages("listProjects")) if (one.cluster_id === clusterId) found.push(one);
    return found;
  };
  for (const { id } of await projects()) await client.call("deleteProject", { id });
  await vi.waitFor(async () => expect(await projects()).toEqual([]), SOON);
  await client.call("deleteCluster", { id: clusterId });
  await helm("uninstall", "binnacle-operator", "--namespace", OPERATOR_NAMESPACE, "--wait");
  await helm("uninstall", "binnacle", "--namespace", NAMESPACE, "--wait");
  await kubectl("delete", "leases", "--namespace", "default", "--selector", "app.kubernetes.io/managed-by=binnacle");
  const { items: definitions } = await kubectlJson<{ items: { metadata: { name: string } }[] }>("get", "crds");
  const own = definitions.map(({ metadata }) => metadata.name).filter((name) => name.endsWith(".binnacle.dev"));
  await kubectl("delete", "crd", ...own);
  for (const namespace of [OPERATOR_NAMESPACE, NAMESPACE]) await kubectl("delete", "namespace", namespace);
  await vi.waitFor(async () => expect(await traces("binnacle")).toEqual([]), SOON);
});
