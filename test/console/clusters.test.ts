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

  test("[WC72] a cluster name that is taken is refused with an alert, and the form keeps it", async () => {
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

  test("[WC73] a rotated token is shown once, in the dialog alone", async () => {
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

  test("[WC74] a member is not offered what only administrators may do", async () => {
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

  test("[WC75] a hostile cluster name is shown as text on the overview and on the pages of clusters", async () => {
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

  test("[WC62] the keyboard moves over the map of the fleet, which names each tile, and opens a cluster", async () => {
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

  test("[WC76] a project is created, its page shows that it becomes ready, and follows its deletion to the end", async () => {
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

  test("[WC121] before a cluster is destroyed, its dialog shows what goes, with a dated estimate, and then asks for that alone", async () => {
    const { id, name, provisioning_job_id } = await provisionedCluster(world.admin.api, world.demoOrgId);
    const db = world.database.kysely;
    await bringJob(db, provisioning_job_id, "succeeded");
    const ended = { finished_at: world.clock.now() };
    await db.updateTable("provisioning_jobs").set(ended).where("id", "=", provisioning_job_id).execute();
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
      .set({
        status: "succeeded",
        plan: JSON.stringify(plan),
        plan_digest: "digest",
        started_at: world.clock.now(),
      })
      .where("cluster_id", "=", id)
      .where("dry_run", "=", true)
      .execute();
    await dialog.getByText("vpc-0abc").waitFor();
    await dialog.getByText("0 to add, 0 to change, 1 to remove.").waitFor();
    await dialog.getByText("Estimate: about 0.00 USD a month, by prices of 2026-11-01.").waitFor();
    await dialog.getByText("Only this is changed.").waitFor();
    const deletion = dialog.getByRole("button", { name: "Delete the cluster" });
    expect(await deletion.isDisabled()).toBe(true);
    await dialog.getByRole("textbox").fill(name);
    await deletion.click();
    await page.getByText("The cluster is being destroyed.").waitFor();
    const jobs = db.selectFrom("provisioning_jobs").select(["id", "plan_job_id"]).where("cluster_id", "=", id);
    const [destroy, seen] = await jobs.where("action", "=", "destroy").orderBy("id", "desc").execute();
    expect([destroy?.plan_job_id, seen?.plan_job_id]).toEqual([seen?.id, null]);
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

  test("[WC2021] the forms for a further cloud are drawn from what the API says of it", async () => {
    const fields = [
      { name: "region", label: "Location", secret: false, example: "europe-west3" },
      { name: "access_key_id", label: "Project id", secret: false, example: "shop-4711" },
      { name: "secret_access_key", label: "Service account key", secret: true, example: "<KEY>" },
    ];
    const machines = { instance_types: ["e2-small", "e2-large"], default_instance_type: "e2-small" };
    const visitor = await signedIn();
    const { page } = visitor;
    await page.route("**/api/v1/cloud-providers", async (route) => {
      const { data } = await (await route.fetch()).json();
      const further = { provider: "gcp", name: "Further Cloud", fields, ...machines };
      await route.fulfill({ json: { data: [...data, further], total_count: data.length + 1 } });
    });
    await visitor.goTo("/o/demo/credentials");
    await page.getByRole("button", { name: "Add credential" }).click();
    const dialog = page.getByRole("dialog");
    const secret = dialog.getByRole("textbox", { name: "Service account key" });
    expect(await dialog.getByLabel("Access key id").count()).toBe(1);
    await dialog.getByLabel("Provider").click();
    await page.getByRole("option", { name: "Further Cloud" }).click();
    await dialog.getByLabel("Name").fill("further");
    await dialog.getByLabel("Location").fill("not a location");
    await dialog.getByLabel("Project id").fill("shop-4711");
    await secret.fill("never-shown");
    expect(await secret.getAttribute("type")).toBe("password");
    await dialog.getByRole("button", { name: "The same by command" }).click();
    expect(await dialog.locator("pre").allInnerTexts()).toEqual([
      expect.stringContaining("--secret-access-key-file secret-access-key.txt"),
      expect.stringContaining('"secret_access_key":"…"'),
    ]);
    await dialog.getByRole("button", { name: "Add credential" }).click();
    await dialog.getByText("See the fields that are marked.").waitFor();
    expect(await dialog.getByLabel("Location").getAttribute("aria-invalid")).toBe("true");
    await dialog.getByLabel("Location").fill("europe-west3");
    await dialog.getByRole("button", { name: "Add credential" }).click();
    const row = page.getByRole("row").filter({ hasText: "further" });
    await row.getByText("Further Cloud").waitFor();
    await row.getByText("Project id").waitFor();
    await row.getByText("****4711").waitFor();
    await visitor.goTo("/o/demo/clusters/new");
    await page.getByRole("button", { name: "Create on Further Cloud" }).click();
    expect(await page.getByRole("combobox", { name: "Machines" }).inputValue()).toBe("e2-small");
    expectNoProblems(visitor);
  });

  test("[WC2021] the form for a cloud with a document, several secrets and no regions is drawn from what the API says", async () => {
    const fields = [
      { name: "project_id", label: "Project id", secret: false, masked: false, multiline: false, example: "shop" },
      { name: "service_account", label: "Account", secret: true, masked: false, multiline: true, example: "{}" },
      { name: "passphrase", label: "Passphrase", secret: true, masked: false, multiline: false, example: "<SECRET>" },
    ];
    const cloud = { provider: "gcp", name: "Further Cloud", fields, instance_types: ["n"], default_instance_type: "n" };
    await world.admin.api.post(`/orgs/${world.demoOrgId}/credentials`, { name: "regionless", provider: "gcp" });
    const visitor = await signedIn();
    const { page } = visitor;
    await page.route("**/api/v1/cloud-providers", (route) =>
      route.fulfill({ json: { data: [cloud], total_count: 1 } }),
    );
    await visitor.goTo("/o/demo/credentials");
    await page.getByRole("button", { name: "Add credential" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("two-secrets");
    await dialog.getByLabel("Project id").fill("shop");
    const account = dialog.getByLabel("Account");
    await account.fill('{\n  "key": "never-shown"\n}');
    expect(await account.getAttribute("style")).toContain("text-security: disc");
    await dialog.getByRole("textbox", { name: "Passphrase" }).fill("never-shown");
    await dialog.getByRole("button", { name: "The same by command" }).click();
    const commands = (await dialog.locator("pre").allInnerTexts()).join("\n");
    expect(commands).toContain('"service_account":"…"');
    expect(commands).not.toContain("never-shown");
    const sent = page.waitForRequest(
      (request) => request.method() === "POST" && request.url().endsWith("/credentials"),
    );
    await dialog.getByRole("button", { name: "Add credential" }).click();
    expect((await sent).postDataJSON()).toEqual({
      name: "two-secrets",
      provider: "gcp",
      project_id: "shop",
      service_account: '{\n  "key": "never-shown"\n}',
      passphrase: "never-shown",
    });
    await visitor.goTo("/o/demo/clusters/new?way=gcp");
    await page.getByRole("combobox", { name: "Machines" }).waitFor();
    expect(await page.getByLabel("Region").count()).toBe(0);
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

  test("[WC67] a page compares two bundles, and its address contains the choice", async () => {
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
