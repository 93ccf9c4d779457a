import type { DesiredComponent } from "@binnacle/contract";
import { expect, test } from "vitest";
import { problem, standing, workload } from "./rendered.fixture.ts";
import type { Workload } from "./rendering.ts";

const HTTP = [{ name: "http", port: 80 }];
const at = (name: string, host: string, path?: string) =>
  workload(name, { ports: HTTP, ingress: path === undefined ? { host } : { host, path } });
const web = (spec: Workload, rest: Partial<DesiredComponent> = {}) => [workload("web", spec, rest)];
const asking = (component: string, key: string) => web({ env: [{ name: "URL", export_ref: { component, key } }] });

test.each<[string, DesiredComponent[], RegExp]>([
  [
    "TooManyComponents",
    Array.from({ length: 101 }, (_, index) => workload(`c${index}`)),
    /has 101 components; 100 are/,
  ],
  ["NoComponents", [], /^The app shop has no components\.$/],
  ["NameTooLong", [workload("x".repeat(49))], /app shop and component x{49} .* 52 characters/],
  ["DuplicateName", [workload("web"), workload("web")], /^Two components have the name web\.$/],
  [
    "DuplicateName",
    [workload("a", { kind: "statefulset" }), workload("a-headless", { ports: HTTP })],
    /^Components a and a-headless would both have an object shop-a-headless/,
  ],
  ["MissingImage", [{ name: "web", type: "workload", workload_spec: {} }], /^Component web has no image/],
  ["MissingImage", [{ name: "web", type: "workload" }], /^Component web has no image in workload_spec\.image\.$/],
  ["MissingChart", [{ name: "db", type: "chart" }], /^Component db has neither/],
  [
    "UnknownAddonInstance",
    [{ name: "db", type: "addon", addon_instance: "main" }],
    /^Component db names the addon instance main in addon_spec\.instance/,
  ],
  ["UnknownComponent", web({}, { depends_on: ["db"] }), /^Component web names db in depends_on/],
  ["UnknownComponent", web({}, { export_refs: [{ component: "db" }] }), /^Component web names db in export_refs\[0\]/],
  ["UnknownComponent", asking("db", "url"), /^Component web names db in the export_ref of variable URL/],
  [
    "UnknownExport",
    [workload("api", { ports: HTTP }), ...asking("api", "uri")],
    /asks for uri of api .* exports host, http_port/,
  ],
  ["UnknownExport", [workload("api"), ...asking("api", "url")], /but api exports nothing\.$/],
  ["UnknownExport", [workload("api"), ...asking("api", "toString")], /but api exports nothing\.$/],
  [
    "DependencyCircle",
    [workload("a", {}, { depends_on: ["b"] }), workload("b", {}, { export_refs: [{ component: "a" }] })],
    /: a → b → a\.$/,
  ],
  ["UnknownPort", web({ ingress: { host: "a.example.com" } }), /^The ingress of component web leads to no port/],
  ["UnknownPort", web({ ports: HTTP, ingress: { host: "a.example.com", port: 81 } }), /web leads to port 81/],
  [
    "UnknownPort",
    web({ ports: [{ name: "dns", port: 53, protocol: "UDP" }], ingress: { host: "a.example.com" } }),
    /no port/,
  ],
  ["UnknownPort", web({ kind: "job", ports: HTTP, ingress: { host: "a.example.com" } }), /a job serves none\.$/],
  [
    "InvalidHost",
    [at("web", "a..example.com")],
    /^Component web has a\.\.example\.com in workload_spec\.ingress\.host/,
  ],
  ["InvalidHost", [at("web", `${"a".repeat(64)}.example.com`)], /is not the name of a host/],
  ["InvalidPath", [at("web", "a.example.com", "/a//b")], /^Component web has \/a\/\/b in workload_spec\.ingress\.path/],
  ["InvalidPath", [at("web", "a.example.com", "/a/../b")], /no step is empty, \. or \.\.,/],
  ["InvalidPath", [at("web", "a.example.com", "/a/.")], /does not take/],
  ["InvalidPath", [at("web", "a.example.com", "/a%2Fb")], /none has %2f\.$/],
  [
    "IngressConflict",
    [at("a", "x.example.com"), at("b", "x.example.com", "/")],
    /^Components a and b both have x\.example\.com\/ /,
  ],
  ["IngressConflict", [at("a", "x.example.com", "/v1"), at("b", "x.example.com", "/v1/")], /x\.example\.com\/v1 in/],
  [
    "InvalidResources",
    web({ resources: { requests: { memory: "1Gi" }, limits: { memory: "1000Mi" } } }),
    /^Component web requests more memory \(1Gi\) .* limit \(1000Mi\)\.$/,
  ],
  [
    "AppTooLarge",
    web({ env: [{ name: "A", value: "ü".repeat(600_000) }] }),
    /^The components of the app shop have 12\d{5} bytes as JSON/,
  ],
])("[RN25] an app is invalid with the reason %s", (invalid, components, message) => {
  expect(problem(components)).toMatchObject({ invalid, message: expect.stringMatching(message) });
});

test.each<[string, DesiredComponent[], string | undefined]>([
  ["of a component that stands for one", [{ name: "db", type: "addon", addon_instance: "main" }], "main"],
  ["of no export_ref, which means components", web({}, { export_refs: [{ component: "db" }] }), undefined],
  ["of nothing where something else is wrong too", [...asking("db", "url"), workload("b", { image: "" })], undefined],
])("[AO38] the addon instance that would make an app valid is named: %s", (_, components, instance) => {
  expect(problem(components)?.awaits).toBe(instance);
});

test("[RN18] the problem of an export_ref without such a component says how to use an addon instance", () => {
  const found = problem(web({}, { export_refs: [{ component: "db" }] }));
  expect(found).toEqual({
    invalid: "UnknownComponent",
    message:
      "Component web names db in export_refs[0], but the app has no such component. Add it; for an addon instance db, add " +
      "a component db of type addon with addon_spec.instance db.",
  });
});

test("[RN25] a problem with the size of secrets does not show the secrets", () => {
  const secrets = { web: { A: "hunter2".repeat(100_000), B: "hunter2".repeat(100_000) } };
  const found = problem(web({}), { secrets });
  expect(found).toMatchObject({
    invalid: "TooLarge",
    message: "The secrets of component web are larger than 1 MiB together.",
  });
});

test("[RN25] components that look alike but do not collide are valid", () => {
  const components = [
    at("a", "x.example.com", "/v1"),
    at("b", "x.example.com", "/v10"),
    at("c", "*.example.com"),
    workload("d", {
      resources: { requests: { cpu: "500m", memory: "1Gi" }, limits: { cpu: "0.5", memory: "1024Mi" } },
    }),
    workload("x".repeat(48)),
  ];
  expect(problem(components)).toBeNull();
});

test("[RN25] an object name counts as taken also while its component waits", () => {
  const waiting = workload("a", { kind: "statefulset" }, { export_refs: [{ component: "db" }] });
  const instances = new Map([["db", { keys: ["url"], exports: {} }]]);
  const components = [standing("db"), waiting, workload("a-headless", { ports: HTTP })];
  expect(problem(components, { instances })).toMatchObject({ invalid: "DuplicateName" });
});
