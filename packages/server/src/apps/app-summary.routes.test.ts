import { startWorld } from "@binnacle/world";
import { afterAll, describe, expect, test } from "vitest";
import { insertCluster, insertProject } from "../access/bindings.fixture.ts";
import { openShop, WEB, workload } from "./app.fixture.ts";

const world = await startWorld();
const shop = await openShop(world);
const images = ["registry.example.com/team_a/front:1", "nginx:1.29", "nginx:1.28"];
const names: string[] = [];
for (const image of images) {
  names.push(await shop.app([workload("web", { workload_spec: { image, replicas: 2 } })], { description: "x" }));
  world.clock.advance(1_000);
}
afterAll(() => world.stop());

type Summary = { name: string; [field: string]: unknown };
const named = (body: { data: Summary[] }) => body.data.map(({ name }) => name);
const list = async (query: string, api = shop.viewer.api) => {
  const { status, body } = await api.get(`/app-summaries?project_id=${shop.project}${query}`);
  expect({ query, status }).toEqual({ query, status: 200 });
  expect(body.total_count).toBe(body.data.length);
  return named(body);
};
const set = (name: string, columns: object) =>
  world.database.kysely.updateTable("apps").set(columns).where("name", "=", name).execute();

describe("GET /app-summaries", () => {
  test("[AP109] GET /app-summaries has the names around an app and its newest deployment with the name of the user", async () => {
    const { body } = await shop.viewer.api.get(`/app-summaries?search=${names[1]}`);
    const app = (await shop.viewer.api.get(shop.path(names[1] ?? ""))).body;
    const deployments = (await shop.viewer.api.get(shop.path(names[1] ?? "", "/deployments"))).body.data;
    const same = Object.fromEntries(
      [
        "id",
        "namespace",
        "phase",
        "phase_since",
        "phase_reason",
        "phase_message",
        "stale",
        "observed_at",
        "updated_at",
      ].map((field) => [field, app[field]]),
    );
    expect(body.data).toEqual([
      {
        ...same,
        suspended: false,
        name: names[1],
        project_id: shop.project,
        project_name: shop.namespace,
        cluster_id: shop.cluster,
        cluster_name: `cluster ${shop.cluster}`,
        org_id: shop.org,
        paused: false,
        drift_state: "unknown",
        generation: 1,
        observed_generation: null,
        images: ["nginx:1.29"],
        ready: 0,
        desired: 2,
        last_deployment: {
          id: deployments[0].deployment_id,
          revision: 1,
          operation: "create",
          status: "pending",
          created_at: deployments[0].created_at,
          created_by: "Somebody",
        },
      },
    ]);
  });

  test("[AP109] GET /app-summaries keeps the recorded address of a user who is deleted", async () => {
    const { api, email, id, password } = await world.person({ org: shop.org, role: "admin" });
    const name = `gone-${names[0]}`;
    await api.post("/apps", { name, project_id: shop.project, components: [WEB] });
    await api.send("DELETE", `/user/${id}`, { body: { current_password: password } });
    await world.database.kysely.deleteFrom("users").where("id", "=", id).execute();
    const { body } = await shop.viewer.api.get(`/app-summaries?search=${name}`);
    expect(body.data[0].last_deployment.created_by).toBe(email);
    await world.database.kysely.deleteFrom("apps").where("name", "=", name).execute();
  });

  test("[AP110] GET /app-summaries combines its filters, and the total counts what they leave", async () => {
    const [first = "", second = "", third = ""] = names;
    await set(first, { phase: "failed" });
    await set(second, { phase: "failed", drift_state: "drifted" });
    expect((await list("&phase=failed")).sort()).toEqual([first, second].sort());
    expect((await list("&phase=failed&phase=pending")).sort()).toEqual([...names].sort());
    expect(await list("&phase=failed&drift=drifted")).toEqual([second]);
    expect(await list(`&phase=failed&search=${third}`)).toEqual([]);
    expect(await list(`&org_id=${shop.org}&cluster_id=${shop.cluster}&phase=pending`)).toEqual([third]);
    const page = await shop.viewer.api.get(`/app-summaries?org_id=${shop.org}&phase=failed&items_per_page=1&page=2`);
    expect(page.body).toMatchObject({ total_count: 2, has_more: false, page: 2 });
    const past = await shop.viewer.api.get("/app-summaries?phase=failed&page=9");
    expect(past.body).toMatchObject({ total_count: 2, data: [] });
  });

  test("[AP110] GET /app-summaries has nothing of a project that the caller cannot see", async () => {
    const other = await insertProject(world.database.kysely, shop.org, shop.cluster);
    await world.admin.api.post("/apps", { name: "hidden", project_id: other, components: [WEB] });
    for (const api of [shop.viewer.api, shop.stranger.api, shop.member.api]) {
      const { body } = await api.get(`/app-summaries?project_id=${other}`);
      expect(body).toMatchObject({ data: [], total_count: 0 });
      expect(named((await api.get("/app-summaries?search=hidden")).body)).toEqual([]);
    }
    expect(named((await world.admin.api.get("/app-summaries?search=hidden")).body)).toEqual(["hidden"]);
  });

  test.each([
    ["phase=broken", "phase", "enum"],
    ["phase=", "phase", "enum"],
    ["phase=failed&phase=failed", "phase", "value_error"],
    ["drift=no", "drift", "enum"],
    ["drift=unknown&drift=drifted", "drift", "enum"],
    ["sort=age", "sort", "enum"],
    ["org_id=x", "org_id", "uuid_parsing"],
    ["cluster_id=x", "cluster_id", "uuid_parsing"],
    [`search=${"x".repeat(101)}`, "search", "string_too_long"],
    ["search=a%0Ab", "search", "string_pattern_mismatch"],
    ["search=a%00", "search", "value_error"],
    ["items_per_page=101", "items_per_page", "less_than_equal"],
    ["colour=red", "colour", "extra_forbidden"],
  ])("[AP110] GET /app-summaries with %s is a 422", async (query, field, type) => {
    const { status, body } = await shop.viewer.api.get(`/app-summaries?${query}`);
    expect(status).toBe(422);
    expect(body.detail).toMatchObject([
      { loc: ["query", field, ...(query.endsWith("broken") || query === "phase=" ? [0] : [])], type },
    ]);
  });

  test("[AP111] the search of GET /app-summaries finds a text in names, namespaces and images, without wildcards", async () => {
    const [first = "", second = "", third = ""] = names;
    expect(await list("&search=TEAM_a/FRONT")).toEqual([first]);
    expect((await list("&search=nginx")).sort()).toEqual([second, third].sort());
    expect(await list("&search=nginx:1.28")).toEqual([third]);
    expect(await list(`&search=${second.toUpperCase()}`)).toEqual([second]);
    expect((await list(`&search=${shop.namespace}`)).length).toBe(3);
    expect((await list("&search=")).length).toBe(3);
    for (const wildcard of ["%25", "n_inx", "nginx%25", "\\", "*", "'", "%5Cnginx", "nginx:1.29\u2028"]) {
      const { body } = await shop.viewer.api.get(`/app-summaries?search=${wildcard}`);
      expect({ wildcard, found: body.data?.length ?? 0 }).toEqual({ wildcard, found: 0 });
    }
  });

  test("[AP111] the search of GET /app-summaries follows a change of the components", async () => {
    const [name = ""] = names;
    const sidecars = [{ name: "proxy", image: "envoy:1.33" }];
    const components = [{ op: "patch", name: "web", workload_spec: { image: "caddy:2", sidecars } }];
    expect((await shop.editor.api.patch(shop.path(name), { components })).status).toBe(200);
    expect(await list("&search=caddy")).toEqual([name]);
    expect(await list("&search=envoy:1.33")).toEqual([name]);
    expect(await list("&search=front")).toEqual([]);
  });

  test("[AP112] GET /app-summaries sorts by name, phase and newest deployment, and back by name and deployment", async () => {
    const [first = "", second = "", third = ""] = names;
    await set(first, { phase: "running" });
    await set(second, { phase: "failed" });
    await set(third, { phase: "degraded" });
    const byName = [...names].sort();
    expect(await list("")).toEqual(byName);
    expect(await list("&sort=-name")).toEqual(byName.toReversed());
    expect(await list("&sort=phase")).toEqual([second, third, first]);
    // A report is not a deployment.
    world.clock.advance(1_000);
    await set(second, { phase: "degraded", updated_at: world.clock.now() });
    await shop.editor.api.post(shop.path(first, "/redeploy"), {});
    expect(await list("&sort=deployed_at")).toEqual([second, third, first]);
    expect(await list("&sort=-deployed_at")).toEqual([first, third, second]);
  });

  test.each(["project", "cluster"] as const)(
    "[AP112] GET /app-summaries sorts by the name of the %s, and equal ones by name and id",
    async (sort) => {
      const { org, admin } = await world.projectWithPeople();
      const { kysely: db } = world.database;
      const clusters = [await insertCluster(db, org), await insertCluster(db, org)];
      const projects = await Promise.all([1, 0, 1].map((at) => insertProject(db, org, clusters[at] ?? "")));
      const rename = (table: "projects" | "clusters", id = "", name: string) =>
        db.updateTable(table).set({ name }).where("id", "=", id).execute();
      // The order of the names is not that of the ids.
      await rename("clusters", clusters[0], "z-east");
      await rename("clusters", clusters[1], "a-west");
      for (const [at, name] of ["zebra", "mango", "apple"].entries()) await rename("projects", projects[at], name);
      const made: { id: string; name: string; at: number }[] = [];
      for (const at of [2, 0, 1, 2, 0]) {
        const name = ["same", "same", "web", "early", "web"][made.length] ?? "";
        const body = { name, project_id: projects[at], components: [WEB] };
        made.push({ id: (await admin.api.post("/apps", body)).body.id, name, at });
      }
      const rank = { project: [2, 1, 0], cluster: [0, 1, 0] }[sort];
      const expected = made.toSorted(
        (a, b) => (rank[a.at] ?? 0) - (rank[b.at] ?? 0) || a.name.localeCompare(b.name) || (a.id < b.id ? -1 : 1),
      );
      const page = (number: number) => admin.api.get(`/app-summaries?sort=${sort}&items_per_page=2&page=${number}`);
      const pages = [await page(1), await page(2), await page(3)];
      expect(pages.flatMap(({ body }) => body.data.map(({ id }: { id: string }) => id))).toEqual(
        expected.map(({ id }) => id),
      );
    },
  );

  test("[AP112] a later page of GET /app-summaries goes on where the earlier one ended", async () => {
    const pages = await Promise.all(
      [1, 2, 3].map((page) =>
        shop.viewer.api.get(`/app-summaries?project_id=${shop.project}&sort=project&items_per_page=1&page=${page}`),
      ),
    );
    expect(pages.flatMap(({ body }) => named(body))).toEqual([...names].sort());
  });
});
