import { beforeAll, expect, test, vi } from "vitest";
import { kubectlJson } from "./node.ts";
import { Project, SOON } from "./project.ts";

const PORTS = [{ name: "http", port: 8080 }];
let shop: Project;

beforeAll(async () => {
  shop = await Project.open("shop");
  const address = { name: "PAGE", export_ref: { component: "web", key: "url" } };
  const probes = { readiness: { path: "/", port: 8080, period_seconds: 1 } };
  await shop.create("page", [
    { name: "web", workload_spec: { image: "page:1", ports: PORTS, probes } },
    { name: "caller", workload_spec: { image: "page:1", env: [address] } },
  ]);
  await shop.reaches("page", { phase: "running" });
});

test("[IS3] an app is reached under the address of its Service", async () => {
  expect(await shop.page("page-web")).toBe("here\n");
});

test.each([
  ["the address that it exports", "$PAGE"],
  ["the name of its Service", "http://page-web:8080"],
  ["its full name in the cluster", "http://page-web.shop.svc.cluster.local:8080"],
])("[IS2311] another component reaches an app by DNS under %s", async (_, address) => {
  const got = await shop.exec("page", "caller", ["/bin/sh", "-c", `wget -q -O - "${address}"`]);
  expect(got).toEqual({ code: 0, stdout: "here\n", stderr: "" });
});

test("[IS4] logs come from the container, through two processes of the control plane", async () => {
  const logs = await shop.api.follow(shop.path("page", "/logs", "&component=web"));
  expect(logs.status).toBe(200);
  await logs.until(({ data }) => JSON.stringify(data).includes("ready"));
  logs.leave();
});

test("[IS2312] a command in a container has its output, its error output and its exit code", async () => {
  const script = "echo out; echo oops >&2; exit 7";
  expect(await shop.exec("page", "web", ["/bin/sh", "-c", script])).toEqual({
    code: 7,
    stdout: "out\n",
    stderr: "oops\n",
  });
});

test("[IS2313] a volume keeps its data when the pod is another one", async () => {
  const volumes = [{ name: "data", mount_path: "/data", size_gb: 1 }];
  await shop.createOne("store", { kind: "statefulset", image: "page:1", volumes });
  await shop.reaches("store", { phase: "running" });
  const write = await shop.exec("store", "web", ["/bin/sh", "-c", "echo kept >/data/file"]);
  expect(write).toEqual({ code: 0, stdout: "", stderr: "" });
  await shop.change("POST", shop.path("store", "/pause"), {});
  await shop.reaches("store", { phase: "paused" });
  const pods = ["--namespace", "shop", "get", "pods", "--selector", "binnacle.dev/app=store"];
  await vi.waitFor(async () => expect((await kubectlJson<{ items: object[] }>(...pods)).items).toEqual([]), SOON);
  await shop.change("POST", shop.path("store", "/resume"), {});
  await shop.reaches("store", { phase: "running" });
  expect((await shop.exec("store", "web", ["cat", "/data/file"])).stdout).toBe("kept\n");
});

test("[IS2314] a rollback brings back what ran before, after a change that works and after one that does not", async () => {
  await shop.createOne("back", { image: "page:1", ports: PORTS });
  await shop.reaches("back", { phase: "running" });
  const to = (image: string) => ({ components: [{ op: "patch", name: "web", workload_spec: { image } }] });
  await shop.change("PATCH", shop.path("back"), to("page:2"));
  await vi.waitFor(async () => expect(await shop.page("back-web")).toBe("there\n"), SOON);
  await shop.reaches("back", { phase: "running" });
  await shop.change("PATCH", shop.path("back"), to("images.example/none:1"));
  await shop.reaches("back", { phase_reason: "ImagePullBackOff" });
  // The old pod serves while the new one cannot.
  expect(await shop.page("back-web")).toBe("there\n");
  await shop.change("POST", shop.path("back", "/rollback"), { revision: -1 });
  await shop.reaches("back", { phase: "running" });
  await shop.change("POST", shop.path("back", "/rollback"), { revision: 1 });
  await vi.waitFor(async () => expect(await shop.page("back-web")).toBe("here\n"), SOON);
  await shop.reaches("back", { phase: "running" });
});
