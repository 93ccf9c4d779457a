import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test, vi } from "vitest";
import { HELM } from "../../packages/operator/src/helm/helm-program.fixture.ts";
import type { KubeObject } from "../../packages/operator/src/kube/kube-client.ts";
import { describeInBrowser, type Visitor } from "../console/browser.ts";
import { pagesOf } from "../console/everything.ts";
import { everyView, settled } from "../console/views.ts";
import { simulateLog } from "../kube/pod-logs.ts";
import type { OperatorProcess } from "../world/operator-process.ts";
import { type ConsoleStage, openConsoleStage } from "./console-stage.ts";
import { type RegisteredCluster, SOON } from "./stage.ts";

/** Pictures of every view, for people who want to judge the layout. */
const PICTURES = process.env["BINNACLE_PICTURES"];

/** What the pages for devices and for clusters on a cloud always say. */
const ADVICE = [/^Approve only a code from your own terminal/, /^One machine of type/];
/** The addon of the walk says so where nobody has built Helm. */
const WITHOUT_HELM = /Helm is needed for charts and addons/;

/** Each of them starts processes, waits for a cluster and has a browser beside it. */
const TAKES_ITS_TIME = { timeout: 120_000 };

const WEB = { name: "web", workload_spec: { image: "nginx:1.29", ports: [{ name: "http", port: 80 }] } };

describeInBrowser(
  "the console of a real cluster",
  (visit) => {
    let stage: ConsoleStage;
    let cluster: RegisteredCluster;
    beforeAll(async () => {
      stage = await openConsoleStage();
      cluster = await stage.register();
      await stage.connectWithCharts(cluster);
    });
    afterAll(() => stage?.close());

    /** An administrator, and every answer of the API that was a refusal. */
    async function signedIn(): Promise<Visitor & { readonly refused: readonly string[] }> {
      const visitor = await visit({ url: stage.server.url });
      const refused: string[] = [];
      await visitor.signInByForm("admin", "binnacle");
      visitor.page.on("response", (response) => {
        if (response.status() >= 400) refused.push(`${response.status()} ${response.url()}`);
      });
      return { ...visitor, refused };
    }

    const appPage = (project: { id: string; namespace: string }, name: string) =>
      `/o/${stage.org.slug}/apps/${project.namespace}/${name}?project=${project.id}`;
    const clusterPage = ({ id }: { id: string }) => `/o/${stage.org.slug}/clusters/${id}`;
    const inCluster = async (apiVersion: string, kind: string, namespace?: string): Promise<readonly KubeObject[]> =>
      (await stage.kube.list(await stage.kube.resourceTypeOf(apiVersion, kind), namespace ? { namespace } : {})).items;
    const deployment = async (name: string, namespace: string) =>
      stage.kube.get(await stage.kube.resourceTypeOf("apps/v1", "Deployment"), name, namespace);

    test("[JO16] the console shows every page and tab whole, and without an error", async () => {
      const visitor = await signedIn();
      const { page } = visitor;
      const places = await stage.everything(cluster);
      const metrics = `/apps/${places.namespace}/${places.app}/metrics?project_id=${places.projectId}`;
      // The first sample comes within ten seconds of the operator's start; until then usage is a 503.
      await vi.waitFor(async () => expect((await stage.admin.get(metrics)).status).toBe(200), SOON);
      const alerts: Record<string, readonly string[]> = {};
      const seen: string[] = [];
      for await (const view of everyView(page, pagesOf(places))) {
        seen.push(view);
        const expected = HELM ? ADVICE : [...ADVICE, WITHOUT_HELM];
        const texts = await page.getByRole("alert").allInnerTexts();
        const errors = texts.filter((text) => !expected.some((each) => each.test(text)));
        if (errors.length > 0) alerts[view] = errors;
        if (PICTURES) await page.screenshot({ path: join(PICTURES, `${pictureName(seen.length, view)}.png`) });
      }
      expect(alerts).toEqual({});
      expect(seen.length).toBeGreaterThan(50);
      expectClean(visitor);
    }, 300_000);

    test("[JO17] the console says of the cluster what its API server says", async () => {
      const visitor = await signedIn();
      const { page } = visitor;
      const { gitVersion } = await stage.kube.raw<{ gitVersion: string }>("GET", "/version");
      const nodes = await inCluster("v1", "Node");
      await visitor.goTo(clusterPage(cluster));
      await settled(page);
      const fact = (name: string) => page.locator("dt", { hasText: new RegExp(`^${name}$`) }).locator("+ dd");
      expect(await fact("Kubernetes").innerText()).toBe(gitVersion);
      expect(await fact("Nodes").innerText()).toBe(String(nodes.length));
      const { capacity } = (nodes[0]?.["status"] ?? {}) as { capacity?: Record<string, string> };
      expect(await fact("Pods").innerText()).toBe((Number(capacity?.["pods"]) * nodes.length).toLocaleString("en-US"));

      await visitor.goTo(`/o/${stage.org.slug}/clusters`);
      const { name } = (await stage.admin.get(`/clusters/${cluster.id}`)).body;
      const row = page.getByRole("row").filter({ hasText: name });
      await row.getByText("Connected").waitFor();
      expect(await row.innerText()).toContain(gitVersion);
      expectClean(visitor);
    });

    test("[JO18] the console scales an app on the cluster, and shows its pods and what Kubernetes says about them", async () => {
      const project = await stage.readyProject(cluster.id);
      await stage.runningApp(project, "shop", [WEB]);
      const visitor = await signedIn();
      const { page } = visitor;
      await visitor.goTo(appPage(project, "shop"));
      await says(page, "1/1 ready");
      await choose(page, "Scale");
      await page.getByRole("dialog").getByLabel("Replicas").fill("3");
      await page.getByRole("dialog").getByRole("button", { name: "Scale" }).click();
      await says(page, "3/3 ready");
      expect((await deployment("shop-web", project.namespace))?.["spec"]).toMatchObject({ replicas: 3 });

      await page.getByText("Resources", { exact: true }).click();
      const pods = (await inCluster("v1", "Pod", project.namespace)).map(({ metadata }) => metadata.name).sort();
      expect(pods).toHaveLength(3);
      const resources = page.getByRole("list", { name: "Resources" }).getByRole("listitem");
      const shown = async () =>
        (await resources.allInnerTexts()).flatMap((text) => /^Pod (\S+)/.exec(text)?.[1] ?? []).sort();
      await expect.poll(shown, SOON).toEqual(pods);

      await tab(page, "Activity");
      const events = (await inCluster("v1", "Event", project.namespace)) as readonly (KubeObject & Spoken)[];
      const scaled = events.filter(({ reason }) => reason === "ScalingReplicaSet").map(({ message }) => message);
      expect(scaled.length).toBeGreaterThan(0);
      for (const message of scaled) await says(page, message);
      expectClean(visitor);
    });

    test.skipIf(!inject("isSimulated"))("[JO18] the console shows log lines as a pod writes them", async () => {
      const project = await stage.readyProject(cluster.id);
      await stage.runningApp(project, "chatty", [WEB]);
      const log = await simulateLog(stage.kube, project.namespace);
      const visitor = await signedIn();
      const { page } = visitor;
      await log.write(["level=info msg=first"]);
      await visitor.goTo(`${appPage(project, "chatty")}&tab=logs`);
      await page.getByRole("log").getByText("level=info msg=first").waitFor(SOON);
      await log.write(["level=error msg=second"]);
      await page.getByRole("log").getByText("level=error msg=second").waitFor(SOON);
      const [pod] = await inCluster("v1", "Pod", project.namespace);
      expect(await page.getByRole("log").innerText()).toContain(pod?.metadata.name);
      await log.remove();
      expectClean(visitor);
    });

    test("[JO19] the console says why an image does not run, and a rollback in the browser repairs it on the cluster", async () => {
      const project = await stage.readyProject(cluster.id);
      await stage.runningApp(project, "till", [WEB]);
      const visitor = await signedIn();
      const { page } = visitor;
      await visitor.goTo(`${appPage(project, "till")}&tab=configuration`);
      await page.getByLabel("Image", { exact: true }).fill("docker.io/acme/does-not-exist:1");
      await page.getByRole("button", { name: "Review changes" }).click();
      await page
        .getByRole("dialog")
        .getByRole("button", { name: /Deploy/ })
        .click();
      await tab(page, "Overview");
      await says(page, /does-not-exist:1.*(cannot be pulled|not found|ImagePull|ErrImage)/i);
      expect(JSON.stringify(await deployment("till-web", project.namespace))).toContain("does-not-exist:1");
      await picture(page, "broken");

      await choose(page, "Roll back");
      await page.getByRole("button", { name: "Roll back" }).first().click();
      await page
        .getByRole("dialog")
        .getByRole("button", { name: /^Roll back to/ })
        .click();
      await tab(page, "Overview");
      await page.locator('h1 ~ [data-tone="good"]').waitFor(SOON);
      const spec = JSON.stringify((await deployment("till-web", project.namespace))?.["spec"]);
      expect([spec.includes('"nginx:1.29"'), spec.includes("does-not-exist")]).toEqual([true, false]);
      expectClean(visitor);
    });

    test("[JO20] the console confirms nothing while the operator is gone, and everything when the operator is back", async () => {
      const own = await stage.register();
      const operator: OperatorProcess = await stage.connect(own);
      const project = await stage.readyProject(own.id);
      await stage.runningApp(project, "shop", [WEB]);
      const visitor = await signedIn();
      const { page } = visitor;
      await visitor.goTo(appPage(project, "shop"));
      const status = page.locator("h1 ~ [data-tone]");
      await status.getByText("Running", { exact: true }).waitFor(SOON);
      operator.signal("SIGKILL");
      await status.getByText("Running, not confirmed").waitFor(SOON);
      await says(page, /last seen/);
      await picture(page, "not-confirmed");
      await visitor.goTo(clusterPage(own));
      await status.getByText("Disconnected", { exact: true }).waitFor(SOON);
      await picture(page, "disconnected");
      await stage.connect(own);
      await status.getByText("Connected", { exact: true }).waitFor(SOON);
      await visitor.goTo(appPage(project, "shop"));
      await status.getByText("Running", { exact: true }).waitFor(SOON);
      // Without an operator the usage of its cluster is refused, as the page says.
      expectClean({ ...visitor, refused: [] });
    });

    test.skipIf(!HELM)("[JO21] the console adds an addon, and shows its workloads and exports", async () => {
      const project = await stage.readyProject(cluster.id);
      const visitor = await signedIn();
      const { page } = visitor;
      await visitor.goTo(`/o/${stage.org.slug}/addons?tab=catalog`);
      await page.getByRole("button", { name: "Add Tiny store" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByRole("combobox", { name: "Project" }).fill(project.namespace);
      await page.getByRole("option", { name: project.namespace }).click();
      await dialog.getByLabel("Name").fill("basket");
      await dialog.getByLabel("Replicas").fill("2");
      await dialog.getByRole("button", { name: "Add", exact: true }).click();
      await page.locator('h1 ~ [data-tone="good"]').waitFor(SOON);
      await says(page, `basket-tiny.${project.namespace}.svc`);
      await says(page, "2 of 2 ready");
      await picture(page, "addon");
      expect((await deployment("basket-tiny", project.namespace))?.["status"]).toMatchObject({ readyReplicas: 2 });
      const releases = await inCluster("v1", "Secret", project.namespace);
      expect(releases.filter(({ type }) => type === "helm.sh/release.v1")).toHaveLength(1);
      expectClean(visitor);
    });
  },
  TAKES_ITS_TIME,
);

/** Of an event of Kubernetes. */
interface Spoken {
  readonly reason: string;
  readonly message: string;
}

const says = (page: Page, words: string | RegExp) => page.getByRole("main").getByText(words).first().waitFor(SOON);
const tab = (page: Page, name: string) => page.getByRole("tab", { name }).click();

async function choose(page: Page, action: string): Promise<void> {
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: action }).click();
}

const pictureName = (number: number, view: string) =>
  `${String(number).padStart(2, "0")} ${view.replace(/[0-9a-f-]{36}/g, "").replace(/[^a-zA-Z]+/g, "-")}`;

async function picture(page: Page, name: string): Promise<void> {
  if (PICTURES) await page.screenshot({ path: join(PICTURES, `${name}.png`) });
}

function expectClean({ problems, undocumented, refused }: Visitor & { readonly refused: readonly string[] }): void {
  expect({ problems, undocumented, refused }).toEqual({ problems: [], undocumented: [], refused: [] });
}
