import { type Person, startWorld } from "@binnacle/world";
import { afterAll, expect, test } from "vitest";
import { rowsOf } from "../http/rows.fixture.ts";
import { someName } from "./app.fixture.ts";

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const { org, cluster, project, admin } = await world.projectWithPeople();
afterAll(() => world.stop());

const repo = "https://charts.example.com";

/** Every request that takes the name of a chart, and where the name is in it. */
const TAKERS: readonly [string, (name: string) => ReturnType<Person["api"]["post"]>, readonly (string | number)[]][] = [
  [
    "an app",
    (name) => {
      const component = { name: "db", type: "chart", chart_spec: { repo, name } };
      return admin.api.post("/apps", { name: someName(), project_id: project, components: [component] });
    },
    ["body", "components", 0, "chart_spec", "name"],
  ],
  [
    "an inspection",
    (name) =>
      admin.api.get(`/stack-templates/inspect-chart?${new URLSearchParams({ repo, name, org_id: org }).toString()}`),
    ["query", "name"],
  ],
  [
    "a template of a chart",
    (name) =>
      admin.api.post("/stack-templates/from-chart", {
        namespace: "shop",
        name: someName(),
        org_id: org,
        scope: "organization",
        repo,
        chart: name,
      }),
    ["body", "chart"],
  ],
  [
    "the settings of a cluster",
    (name) => admin.api.patch(`/clusters/${cluster}/settings`, { cluster_wide_charts: [{ repo, name }] }),
    ["body", "cluster_wide_charts", 0, "name"],
  ],
];

test.each(TAKERS)(
  "[AP125] %s accepts the name of a chart as Helm allows it, and nothing else",
  async (_, take, loc) => {
    const before = await rowsOf(world);
    for (const name of ["../secrets", "a/../b", "a//b", "a/", "/a", "-a", "a b", "a?b"]) {
      const refused = await take(name);
      expect([name, refused.status]).toEqual([name, 422]);
      expect(refused.body.detail).toEqual([
        { loc, msg: expect.stringContaining("name of a chart"), type: "string_pattern_mismatch" },
      ]);
    }
    expect(await rowsOf(world)).toEqual(before);
  },
);
