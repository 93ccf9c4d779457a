import { type ComponentSpec, createApp, problemsOf, type WorkloadSpec } from "@binnacle/contract";
import { describe, expect, test } from "vitest";
import { bodyProblems } from "../http/checked.fixture.ts";
import { WEB, workload } from "./app.fixture.ts";

const CHART = { repo: "https://charts.example.com", name: "web" };
const ID = "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11";

/** The locations of all problems, of the schema and of the code. */
function locs(components: readonly ComponentSpec[], name = "shop") {
  const malformed = bodyProblems(createApp, { name, project_id: ID, components }).map(({ loc }) => loc.slice(2));
  return malformed.length > 0 ? malformed : problemsOf({ name, components }).map(({ path }) => path.slice(1));
}
const of = (spec: WorkloadSpec) => locs([{ name: "web", workload_spec: spec }]);

describe("the components of an app", () => {
  test("[AP50] components have unique names, which together with the app's name have at most 52 characters", () => {
    expect(locs([WEB, workload("db"), WEB])).toEqual([[2, "name"]]);
    expect(locs([workload("x".repeat(20))], "y".repeat(32))).toEqual([]);
    expect(locs([workload("x".repeat(20))], "y".repeat(33))).toEqual([[0, "name"]]);
  });

  test.each<[string, Omit<ComponentSpec, "name">, readonly string[]]>([
    ["without ports", { workload_spec: {} }, ["host", "port", "url", "http_port", "ref", "addon"]],
    ["with a port", { workload_spec: { ports: [{ name: "http", port: 80 }] } }, ["ref", "addon"]],
    [
      "of a job",
      { workload_spec: { kind: "job", ports: [{ name: "http", port: 80 }] } },
      ["host", "port", "url", "http_port", "ref", "addon"],
    ],
    ["of a chart", { type: "chart", chart_spec: CHART }, ["host", "port", "url", "http_port", "ref", "addon"]],
    [
      "of an addon",
      { type: "addon", addon_spec: { instance: "db" } },
      ["host", "port", "url", "http_port", "secret", "ref", "addon"],
    ],
  ])(
    "[AP85] exports may use only the placeholders that their component has a value for: %s",
    (_, component, unknown) => {
      const exports = {
        literal: `/v1/$\${host}/\${`,
        host: `\${host}`,
        port: `\${port|uri}`,
        url: `\${url}/v1`,
        http_port: `\${http_port}`,
        secret: `\${secret.A.b-c|uri}`,
        ref: `\${exports.url}`,
        addon: `\${secret.}\${toString}`,
      };
      const found = locs([{ name: "web", ...component, exports }]);
      expect(found).toEqual(unknown.map((key) => [0, "exports", key]));
    },
  );

  test("[AP85] an unknown placeholder in an export is refused with a list of those that it may use", () => {
    const spec = { ports: [{ name: "sql", port: 5432 }] };
    const db = { name: "db", workload_spec: spec, exports: { dsn: `\${hots}` } };
    expect(problemsOf({ name: "shop", components: [db] })[0]?.message).toBe(
      `Component db uses \${hots} in exports.dsn, but its exports may use host, port, url, sql_port, sql_url, secret.KEY; $\${ is the text itself.`,
    );
  });

  test("[AP72] components whose Services or volumes would have the same name are refused", () => {
    const volume = (name: string) => ({ name, mount_path: "/data", size_gb: 1 });
    const web = (name: string, spec: WorkloadSpec = {}) => ({ name, workload_spec: spec });
    const [b, bc] = [web("b", { volumes: [volume("c-d")] }), web("b-c", { volumes: [volume("d")] })];
    expect(locs([b, WEB, bc])).toEqual([
      [0, "name"],
      [2, "name"],
    ]);
    expect(locs([b, web("b-c", { volumes: [volume("e")] })])).toEqual([]);
    expect(locs([web("b", { kind: "statefulset" }), web("b-headless")])).toEqual([
      [0, "name"],
      [1, "name"],
    ]);
    expect(locs([web("b"), web("b-headless")])).toEqual([]);
  });

  test.each<[string, Omit<ComponentSpec, "name">, unknown[]]>([
    ["a workload without its specification", {}, [[0, "workload_spec"]]],
    ["a workload with a chart", { workload_spec: {}, chart_spec: CHART }, [[0, "chart_spec"]]],
    ["an addon without its specification", { type: "addon" }, [[0, "addon_spec"]]],
    [
      "an addon with a workload",
      { type: "addon", addon_spec: { instance: "db" }, workload_spec: {} },
      [[0, "workload_spec"]],
    ],
    ["an addon of nothing", { type: "addon", addon_spec: {} }, [[0, "addon_spec"]]],
    [
      "an instance with values",
      { type: "addon", addon_spec: { instance: "db", values: {} } },
      [[0, "addon_spec", "values"]],
    ],
    ["a chart without its specification", { type: "chart" }, [[0, "chart_spec"]]],
    ["a chart", { type: "chart", chart_spec: CHART }, []],
    ["an instance", { type: "addon", addon_spec: { instance: "db" } }, []],
    ["a definition", { type: "addon", addon_spec: { definition_id: ID, values: {} } }, []],
  ])("[AP51] a component has the specification of its type and no other: %s", (_, component, expected) => {
    expect(locs([{ name: "web", ...component }])).toEqual(expected);
  });

  const env = (...vars: NonNullable<WorkloadSpec["env"]>) => of({ env: vars });

  test("[AP52] a variable has exactly one of value and export_ref, and its name is unique", () => {
    expect(env({ name: "A", value: "" }, { name: "B", export_ref: { component: "db", key: "url" } })).toEqual([]);
    expect(env({ name: "A" })).toEqual([[0, "workload_spec", "env", 0]]);
    expect(env({ name: "A", value: "1", export_ref: { component: "db", key: "url" } })).toEqual([
      [0, "workload_spec", "env", 0],
    ]);
    expect(env({ name: "A", value: "1" }, { name: "A", value: "2" })).toEqual([[0, "workload_spec", "env", 1, "name"]]);
  });

  test("[AP52] names of ports and volumes, ports and mount paths are unique", () => {
    const ports = [
      { name: "http", port: 80 },
      { name: "dns", port: 80, protocol: "UDP" as const },
      { name: "http", port: 80 },
    ];
    expect(of({ ports })).toEqual([
      [0, "workload_spec", "ports", 2, "name"],
      [0, "workload_spec", "ports", 2, "port"],
    ]);
    const volumes = [
      { name: "a", mount_path: "/data", size_gb: 1 },
      { name: "b", mount_path: "/data", size_gb: 1 },
    ];
    expect(of({ volumes })).toEqual([[0, "workload_spec", "volumes", 1, "mount_path"]]);
  });

  test("[AP53] a cronjob needs a schedule, and nothing else has one", () => {
    expect(of({ kind: "cronjob" })).toEqual([[0, "workload_spec", "schedule"]]);
    expect(of({ kind: "cronjob", schedule: "0 3 * * *" })).toEqual([]);
    expect(of({ schedule: "0 3 * * *" })).toEqual([[0, "workload_spec", "schedule"]]);
  });

  test("[AP53] autoscale has a maximum of at least its minimum, and is not for jobs", () => {
    expect(of({ autoscale: { min: 3, max: 2, cpu_percent: 70 } })).toEqual([[0, "workload_spec", "autoscale", "max"]]);
    expect(of({ kind: "job", autoscale: { min: 1, max: 2, cpu_percent: 70 } })).toEqual([
      [0, "workload_spec", "autoscale"],
    ]);
  });

  test("[AP53] a probe has either a port or a command", () => {
    expect(of({ probes: { liveness: { port: 80, path: "/" }, readiness: { command: ["true"] } } })).toEqual([]);
    expect(
      of({ probes: { liveness: {}, readiness: { port: 80, command: ["true"] }, startup: { path: "/" } } }),
    ).toEqual([
      [0, "workload_spec", "probes", "liveness"],
      [0, "workload_spec", "probes", "readiness"],
      [0, "workload_spec", "probes", "startup"],
    ]);
  });
});

describe("what components need of each other", () => {
  test("[AP54] depends_on may name only components of the app", () => {
    expect(locs([workload("web", { depends_on: ["db"] })])).toEqual([[0, "depends_on", 0]]);
    expect(locs([workload("web", { depends_on: ["db"] }), workload("db")])).toEqual([]);
  });

  test("[AP5] an export_ref that names no component of the app is accepted", () => {
    expect(locs([workload("web", { export_refs: [{ component: "db" }] })])).toEqual([]);
  });

  test("[AP55] a cycle of dependencies is refused at each place that closes it, by depends_on or export_ref", () => {
    const components = [
      workload("a", { depends_on: ["b"] }),
      workload("b", { export_refs: [{ component: "c", key: "url" }] }),
      workload("c", { workload_spec: { env: [{ name: "A", export_ref: { component: "a", key: "url" } }] } }),
      workload("d", { depends_on: ["a"] }),
      workload("e", { export_refs: [{ component: "e" }] }),
    ];
    expect(locs(components)).toEqual([
      [0, "depends_on", 0],
      [1, "export_refs", 0, "component"],
      [2, "workload_spec", "env", 0, "export_ref", "component"],
      [4, "export_refs", 0, "component"],
    ]);
  });
});
