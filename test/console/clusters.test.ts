import { afterAll, beforeAll, expect, test } from "vitest";
import { bringJob, provisionedCluster, WELCOMING_CLOUD } from "../../packages/server/src/clusters/clusters.fixture.ts";
import { PROVISIONING_TOPIC } from "../../packages/server/src/provisioning/provisioning.ts";
import { type SimulatedOperator, simulateOperator } from "../world/simulated-operator.ts";
import { type Person, startWorld, type World } from "../world/world.ts";
import { describeInBrowser, type VisitOptions, type Visitor } from "./browser.ts";

const HOSTILE = `<img src=x onerror="document.title='taken over'">`;

describeInBrowser("the pages of clusters and projects", (visit) => {
  let world: World;
  let member: Person;
  const operators: SimulatedOperator[] = [];

  beforeAll(async () => {
    world = await startWorld({ clouds: { aws: WELCOMING_CLOUD } });
    member = await world.person({ org: world.demoOrgId });
  });
  afterAll(async () => {
    await Promise.all(operators.map((operator) => operator.stop()));
    await world.stop();
  });

  const connect = (token: string) => void operators.push(simulateOperator({ url: world.url, token }));

  async function newCluster(name: string): Promise<{ id: string; connection_token: string }> {
    return (await world.admin.api.post(`/orgs/${world.demoOrgId}/clusters`, { name })).body;
  }

  async function signedIn(
    person: { username: string; password: string } = world.admin,
    given: Partial<VisitOptions> = {},
  ): Promise<Visitor> {
    const visitor = await visit({ url: world.url, ...given });
    await visitor.signIn(person.username, person.password);
    return visitor;
  }

  function expectNoProblems(visitor: Visitor): void {
    expect(visitor.problems).toEqual([]);
    expect(visitor.undocumented).toEqual([]);
  }

  test("[WC72] a registered cluster turns connected by itself, and its command is shown once", async () => {
    const visitor = await signedIn();
    const { page } = visitor;
    await visitor.goTo("/o/demo/clusters/new");
    await page.getByRole("button", { name: "I have a cluster" }).click();
    await page.getByLabel("Name").and(page.locator("input")).fill("edge");
    await page.getByRole("button", { name: "Register" }).click();
    const command = await page.getByText("helm upgrade --install").textContent();
    const token = /cluster\.token=(\S+)/.exec(command ?? "")?.[1] ?? "";
    // The clock of the server stands still, so a slow machine may already be past the first minute.
    await page.getByText(/edge: (Waiting for the operator|The operator has not connected yet)/).waitFor();
    const stored = await page.evaluate("JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href])");
    expect(stored).not.toContain(token);

    connect(token);
    await page.getByText("edge: The operator has connected.").waitFor();

    await page.reload();
    await page.getByText("The command was shown once").waitFor();
    expect(await page.content()).not.toContain(token);
    expectNoProblems(visitor);
  });

  test("[WC72] a name that is taken is refused in the API's own words, and nothing is lost", async () => {
    await newCluster("taken");
    const { page, goTo } = await signedIn();
    await goTo("/o/demo/clusters/new?way=own");
    await page.getByLabel("Name").and(page.locator("input")).fill("taken");
    await page.getByRole("button", { name: "Register" }).click();
    await page.getByRole("alert").waitFor();
    expect(await page.getByLabel("Name").and(page.locator("input")).inputValue()).toBe("taken");
  });

  test("[WC73] a cluster with projects is not deleted: the projects are named before, and by the API's refusal", async () => {
    const cluster = await newCluster("busy");
    await world.admin.api.post("/projects", { name: "shop", cluster_id: cluster.id });
    const visitor = await signedIn();
    const { page } = visitor;
    await visitor.goTo(`/o/demo/clusters/${cluster.id}?tab=settings`);
    await page.getByRole("button", { name: "Delete…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("link", { name: "shop" }).waitFor();
    const button = dialog.getByRole("button", { name: "Delete the cluster" });
    expect(await button.isDisabled()).toBe(true);
    await dialog.getByLabel("Type busy to confirm").fill("busy");
    await button.click();
    await dialog.getByText("The cluster still has projects: shop.").waitFor();
    expect((await world.admin.api.get(`/clusters/${cluster.id}`)).status).toBe(200);
    expectNoProblems(visitor);
  });

  test("[WC207] an abandoned cluster says so on its page and its projects' pages, and is offered for deletion alone", async () => {
    const { id } = await newCluster("lost");
    const { body: project } = await world.admin.api.post("/projects", { name: "adrift", cluster_id: id });
    const visitor = await signedIn();
    const { page } = visitor;
    await visitor.goTo(`/o/demo/clusters/${id}?tab=settings`);
    await page.getByRole("button", { name: "Abandon…" }).click();
    await page.getByRole("dialog").getByRole("textbox").fill("lost");
    await page.getByRole("button", { name: "Abandon the cluster" }).click();
    await page.getByText("Given up: 1 projects (adrift)").waitFor();
    await page.getByRole("button", { name: "Close", exact: true }).last().click();
    await page.getByText("The cluster was given up").waitFor();
    await page.getByText("Ends its record and those of its projects.").waitFor();
    for (const name of ["Abandon…", "Rotate…", "Save the policy"]) {
      expect(await page.getByRole("button", { name }).count(), name).toBe(0);
    }
    expect(await page.getByRole("link", { name: "Create project" }).count()).toBe(0);

    await visitor.goTo(`/o/demo/projects/${project.id}`);
    await page.getByText("The project was given up with its cluster.").waitFor();
    await visitor.goTo("/o/demo/clusters?status=abandoned");
    await page.getByRole("link", { name: "lost" }).waitFor();
    expectNoProblems(visitor);
  });

  test("[WC73] a rotated token is shown once, by the dialog alone", async () => {
    const cluster = await newCluster("rotated");
    const visitor = await signedIn();
    const { page } = visitor;
    await visitor.goTo(`/o/demo/clusters/${cluster.id}?tab=settings`);
    await page.getByRole("button", { name: "Rotate…" }).click();
    await page.getByRole("button", { name: "Rotate the token" }).click();
    await page.getByText("helm upgrade --install").waitFor();
    await page.getByRole("button", { name: "I have copied it" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await page.content()).not.toContain("cluster.token=");
    expectNoProblems(visitor);
  });

  test("[WC74] a member is offered nothing that only administrators may do", async () => {
    const cluster = await newCluster("watched");
    const visitor = await signedIn(member);
    const { page } = visitor;
    await visitor.goTo(`/o/demo/clusters/${cluster.id}?tab=settings`);
    await page.getByText("Ingress namespaces").waitFor();
    expect(await page.getByText("Danger zone").count()).toBe(0);
    expect(await page.getByRole("tab", { name: "Roles" }).count()).toBe(0);
    expect(await page.getByRole("button", { name: /Save|Create project/ }).count()).toBe(0);
    await visitor.goTo("/o/demo/clusters");
    await page.getByRole("link", { name: "watched" }).waitFor();
    expect(await page.getByRole("link", { name: "Add cluster" }).count()).toBe(0);
    await visitor.goTo("/o/demo/clusters/new");
    await page.getByText("Only administrators of the organization add clusters").waitFor();
    await visitor.goTo("/o/demo/overview");
    await page.getByRole("heading", { name: "Clusters" }).waitFor();
    expect(await page.getByText("Recent activity").count()).toBe(0);
    expectNoProblems(visitor);
  });

  test("[WC75] a hostile name is text, on every page that shows it", async () => {
    const cluster = await newCluster(HOSTILE);
    await world.admin.api.post(`/clusters/${cluster.id}/install-events`, {
      stage: "verify",
      status: "failed",
      reason_code: "BROKEN",
    });
    const visitor = await signedIn();
    const { page } = visitor;
    for (const path of ["overview", "clusters", `clusters/${cluster.id}`, `clusters/${cluster.id}?tab=install`]) {
      await visitor.goTo(`/o/demo/${path}`);
      await page.getByText(HOSTILE).first().waitFor();
      expect(await page.locator("img").count()).toBe(0);
    }
    expectNoProblems(visitor);
  });

  test("[WC62] the map of the fleet is walked with the keyboard, names each tile, and opens it", async () => {
    await newCluster("aaa-first");
    await newCluster("aab-second");
    const visitor = await signedIn();
    const { page } = visitor;
    await visitor.goTo("/o/demo/clusters?view=map&q=aa");
    const map = page.getByRole("listbox", { name: /Map of 2 clusters/ });
    await map.focus();
    expect(await page.getByRole("option").textContent()).toBe("aaa-first: Pending, 0 apps");
    await page.keyboard.press("ArrowRight");
    expect(await page.getByRole("option").textContent()).toBe("aab-second: Pending, 0 apps");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "aab-second" }).waitFor();
    expectNoProblems(visitor);
  });

  test("[WC76] a project is created, becomes ready by itself, and is followed until it is gone", async () => {
    const cluster = await newCluster("home");
    connect(cluster.connection_token);
    const visitor = await signedIn();
    const { page } = visitor;
    await visitor.goTo(`/o/demo/projects?new=${cluster.id}`);
    const creating = page.getByRole("dialog");
    await creating.getByLabel("Name").fill("Not A Name");
    await creating.getByRole("button", { name: "Create" }).click();
    // The refusal is shown at the field.
    await creating.locator("[aria-invalid=true]").first().waitFor();
    await creating.getByLabel("Name").fill("bakery");
    await creating.getByRole("button", { name: "Create" }).click();
    await page.getByRole("heading", { level: 1, name: "bakery" }).waitFor();
    await page.locator("[data-tone=good]").getByText("Ready").waitFor();

    await page.getByRole("button", { name: "Delete" }).click();
    const deleting = page.getByRole("dialog");
    await deleting.getByText("No app is in it.").waitFor();
    await deleting.getByLabel("Type bakery to confirm").fill("bakery");
    await deleting.getByRole("button", { name: "Delete the project" }).click();
    await page.getByText("The project is gone").waitFor();
    expectNoProblems(visitor);
  });

  test("[WC71] the overview leads from a failed installation to its journal", async () => {
    const cluster = await newCluster("broken");
    await world.admin.api.post(`/clusters/${cluster.id}/install-events`, {
      stage: "platform-storage",
      component: "longhorn",
      status: "failed",
      reason_code: "TIMEOUT",
    });
    const visitor = await signedIn();
    const { page } = visitor;
    await visitor.goTo("/o/demo/overview");
    const row = page.getByRole("listitem").filter({ hasText: "Cluster broken" });
    await row.getByRole("link", { name: "Read the journal" }).click();
    await page.getByRole("heading", { level: 1, name: "broken" }).waitFor();
    await page.getByText("TIMEOUT").waitFor();
    expectNoProblems(visitor);
  });

  test("[WC122] a job's output is followed as it comes; an administrator cancels it, is told what to do, and retries it", async () => {
    const { id, provisioning_job_id: job } = await provisionedCluster(world.admin.api, world.demoOrgId);
    const path = `/o/demo/clusters/${id}/jobs/${job}`;
    const print = async (line: string) => {
      await world.database.kysely
        .insertInto("provisioning_log_lines")
        .values({ job_id: job, at: world.clock.now(), line })
        .execute();
      world.bus.publish(PROVISIONING_TOPIC, { job_id: job });
    };
    await print("Initializing the backend...");
    const [visitor, watcher] = [await signedIn(), await signedIn(member)];
    for (const { page, goTo } of [visitor, watcher]) {
      await goTo(path);
      await page.getByRole("log").getByText("Initializing the backend...").waitFor();
    }
    await print(HOSTILE);
    for (const { page } of [visitor, watcher]) await page.getByRole("log").getByText(HOSTILE).waitFor();
    expect(await watcher.page.getByRole("button", { name: "Cancel the job" }).count()).toBe(0);

    const { page } = visitor;
    await page.getByRole("button", { name: "Cancel the job" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel the job" }).click();
    await page.getByText("What it has made so far stays; another try continues from there.").waitFor();
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Try again" }).click();
    await page.getByText("The job was accepted").waitFor();
    expect(await watcher.page.getByRole("button", { name: "Try again" }).count()).toBe(0);
    for (const each of [visitor, watcher]) expectNoProblems(each);
  });

  test("[WC121] before a cluster is destroyed its dialog shows what goes, with an estimate that has a date", async () => {
    const { id, name, provisioning_job_id } = await provisionedCluster(world.admin.api, world.demoOrgId);
    const db = world.database.kysely;
    await bringJob(db, provisioning_job_id, "succeeded");
    const visitor = await signedIn();
    const { page } = visitor;
    await visitor.goTo(`/o/demo/clusters/${id}?tab=settings`);
    await page.getByRole("button", { name: "Delete…" }).click();
    const dialog = page.getByRole("dialog", { name: `Delete ${name}?` });
    await dialog.getByRole("button", { name: "Show what changes" }).click();
    await dialog.getByText("The plan is being made. Nothing is changed.").waitFor();
    const plan = {
      planned_at: world.clock.now().toISOString(),
      summary: { add: 0, change: 0, remove: 1 },
      changes: [{ action: "delete", address: "aws_vpc.main", type: "aws_vpc", id: "vpc-0abc" }],
      estimate: { monthly: 0, currency: "USD", prices_of: "2026-11-01", note: "On demand.", items: [] },
    };
    await db
      .updateTable("provisioning_jobs")
      .set({ status: "succeeded", plan: JSON.stringify(plan) })
      .where("cluster_id", "=", id)
      .where("dry_run", "=", true)
      .execute();
    await dialog.getByText("vpc-0abc").waitFor();
    await dialog.getByText("0 to add, 0 to change, 1 to remove.").waitFor();
    await dialog.getByText("Estimate: about 0.00 USD a month, by prices of 2026-11-01.").waitFor();
    expect(await dialog.getByRole("button", { name: "Delete the cluster" }).isDisabled()).toBe(true);
    expectNoProblems(visitor);
  });

  test("[WC123] a credential is checked from its menu", async () => {
    const credential = {
      name: "to-check",
      provider: "aws",
      region: "eu-central-1",
      access_key_id: "AKIAIOSFODNN7EXAMPLE",
    };
    const secret_access_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
    await world.admin.api.post(`/orgs/${world.demoOrgId}/credentials`, { ...credential, secret_access_key });
    const visitor = await signedIn();
    const { page } = visitor;
    await visitor.goTo("/o/demo/credentials");
    await page.getByRole("button", { name: "Actions for to-check" }).click();
    await page.getByRole("menuitem", { name: "Check" }).click();
    await page.getByRole("button", { name: "Check now" }).click();
    await page.getByText("The credential suffices").waitFor();
    await page.getByText("arn:aws:iam::123456789012:user/binnacle").waitFor();
    expectNoProblems(visitor);
  });

  test("[WC65] a cluster on AWS is created by a job, whose page says what the API has answered", async () => {
    await world.admin.api.post(`/orgs/${world.demoOrgId}/credentials`, {
      name: "aws-main",
      provider: "aws",
      region: "eu-central-1",
      access_key_id: "AKIAIOSFODNN7EXAMPLE",
      secret_access_key: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    });
    const visitor = await signedIn();
    const { page } = visitor;
    await visitor.goTo("/o/demo/clusters/new?way=aws");
    await page.getByLabel("Name").and(page.locator("input")).fill("cloud");
    await page.getByRole("button", { name: "Create the cluster" }).click();
    await page.getByRole("heading", { level: 1, name: "Creation of cloud" }).waitFor();
    await page.getByText("The job was accepted").waitFor();
    expect(await page.getByRole("button", { name: "Try again" }).count()).toBe(0);
    expectNoProblems(visitor);
  });

  test("[WC67] two bundles are compared, and the choice is in the address", async () => {
    const visitor = await signedIn(member);
    const { page } = visitor;
    await visitor.goTo("/o/demo/bundles?from=1.2&to=1.4");
    const table = page.getByRole("table", { name: "Changes from 1.2 to 1.4" });
    await table.getByText("It cannot be taken back without a restore.").first().waitFor();
    await page.getByRole("link", { name: "Show the pins" }).first().click();
    await page.getByRole("heading", { name: "Pins of 1.4" }).waitFor();
    expect(new URL(page.url()).searchParams.get("from")).toBe("1.2");
    expectNoProblems(visitor);
  });

  test("[WC165] an object that is opened under another organization is shown under its own", async () => {
    const other = (await world.admin.api.post("/orgs", { name: "Other owner" })).body;
    const cluster = (await world.admin.api.post(`/orgs/${other.id}/clusters`, { name: "theirs" })).body;
    const project = (await world.admin.api.post("/projects", { name: "theirs", cluster_id: cluster.id })).body;
    const visitor = await signedIn();
    for (const path of [`clusters/${cluster.id}?tab=settings`, `projects/${project.id}?tab=policy`]) {
      await visitor.goTo(`/o/demo/${path}`);
      await visitor.page.getByRole("heading", { level: 1, name: "theirs" }).waitFor();
      expect(visitor.page.url()).toBe(`${world.url}/o/${other.slug}/${path}`);
    }
    expectNoProblems(visitor);
  });
});
