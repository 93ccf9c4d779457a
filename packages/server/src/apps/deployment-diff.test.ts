import type { ComponentSpec } from "@binnacle/contract";
import fc from "fast-check";
import { expect, test } from "vitest";
import { WEB, workload } from "./app.fixture.ts";
import { diffDeployments } from "./deployment-diff.ts";

const deployment = (components: ComponentSpec[], paused = false, revision = 1) => ({
  id: `id-${revision}`,
  revision,
  spec: { components, paused },
});
const changes = (before: ComponentSpec[], after: ComponentSpec[], secrets: readonly string[] = []) =>
  diffDeployments(deployment(before), deployment(after, false, 2), secrets).changes;

const chart = (values: Record<string, unknown>, secret_values?: string[]): ComponentSpec => ({
  name: "db",
  type: "chart",
  chart_spec: {
    repo: "https://charts.example.com",
    name: "db",
    version: "1.0.0",
    values,
    ...(secret_values ? { secret_values } : {}),
  },
});

test("[AP82] a diff has both deployments and every field that differs, by the names of components and variables", () => {
  const before = workload("web", {
    workload_spec: {
      image: "nginx:1.29",
      replicas: 2,
      env: [
        { name: "A", value: "1" },
        { name: "B", value: "1" },
      ],
    },
  });
  const after = workload("web", {
    workload_spec: {
      image: "nginx:1.30",
      replicas: 2,
      env: [
        { name: "B", value: "2" },
        { name: "a/b~c", value: "3" },
      ],
    },
  });
  expect(diffDeployments(deployment([before]), deployment([after, workload("api")], true, 2), [])).toEqual({
    deployment_id: "id-2",
    revision: 2,
    against: { deployment_id: "id-1", revision: 1 },
    changes: [
      { path: "/components/api", change: "added", after: workload("api") },
      { path: "/components/web/workload_spec/env/A", change: "removed", before: { name: "A", value: "1" } },
      { path: "/components/web/workload_spec/env/B/value", change: "changed", before: "1", after: "2" },
      { path: "/components/web/workload_spec/env/a~1b~0c", change: "added", after: { name: "a/b~c", value: "3" } },
      { path: "/components/web/workload_spec/image", change: "changed", before: "nginx:1.29", after: "nginx:1.30" },
      { path: "/paused", change: "changed", before: false, after: true },
    ],
  });
});

test("[AP82] a list whose members have no names is one value in a diff", () => {
  const args = (...list: string[]) => workload("web", { workload_spec: { image: "nginx:1.29", args: list } });
  expect(changes([args("a")], [args("a", "b")])).toEqual([
    { path: "/components/web/workload_spec/args", change: "changed", before: ["a"], after: ["a", "b"] },
  ]);
});

const withFile = (file: { path: string; content?: string; secret?: string }) =>
  workload("web", { workload_spec: { image: "nginx:1.29", files: [{ path: "/etc/other", content: "same" }, file] } });

test("[AP106] a diff compares files by their paths", () => {
  const path = "/etc/app.yaml";
  expect(changes([withFile({ path, content: "a: 1" })], [withFile({ path, content: "a: 2" })])).toEqual([
    {
      path: "/components/web/workload_spec/files/~1etc~1app.yaml/content",
      change: "changed",
      before: "a: 1",
      after: "a: 2",
    },
  ]);
});

test.each([
  ["becomes", 0],
  ["is no more", 1],
])("[AP106] the diff of a file that %s a secret does not show its content", (_, first) => {
  const path = "/etc/token";
  const states = [withFile({ path, content: "hunter2" }), withFile({ path, secret: "TOKEN" })];
  const [before, after] = first === 0 ? states : states.toReversed();
  const found = changes([before ?? WEB], [after ?? WEB]);
  expect(found).toMatchObject([{ path: "/components/web/workload_spec/files/~1etc~1token/secret" }]);
  expect(JSON.stringify(found)).not.toContain("hunter2");
});

test("[AP83] a diff says of a secret that it has changed and nothing else", () => {
  expect(changes([WEB], [WEB], ["web/API_KEY", "gone/"])).toEqual([
    { path: "/components/gone/secrets", change: "changed" },
    { path: "/components/web/secrets/API_KEY", change: "changed" },
  ]);
});

test.each([
  ["becomes secret", chart({ auth: { password: "hunter2" } }), chart({}, ["auth.password"])],
  ["is secret no more", chart({}, ["auth.password"]), chart({ auth: { password: "hunter2" } })],
])("[AP83] the diff of a chart value that %s does not show the value", (_, before, after) => {
  const found = changes([before], [after]);
  expect(JSON.stringify(found)).not.toContain("hunter2");
  expect(found).toContainEqual({ path: "/components/db/secrets/auth.password", change: "changed" });
});

test("[AP82] a diff is empty exactly if the deployments are equal, and both directions have the same paths", () => {
  const value = fc.constantFrom<unknown>(1, "x", ["a"], { deep: { er: 1 } }, { deep: { er: 2 } }, [
    { name: "n", v: 1 },
  ]);
  const spec = fc.array(fc.record({ name: fc.constantFrom("a", "b", "c"), x: value, y: value }), { maxLength: 3 });
  const unique = spec.map(
    (list) => [...new Map(list.map((one) => [one.name, one])).values()] as unknown as ComponentSpec[],
  );
  fc.assert(
    fc.property(unique, unique, (one, other) => {
      const there = changes(one, other).map(({ path }) => path);
      expect(changes(other, one).map(({ path }) => path)).toEqual(there);
      expect(changes(one, structuredClone(one))).toEqual([]);
      const sorted = (list: ComponentSpec[]) => list.toSorted((a, b) => (a.name < b.name ? -1 : 1));
      if (there.length === 0) expect(sorted(one)).toEqual(sorted(other));
    }),
  );
});
