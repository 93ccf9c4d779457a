import type { ComponentChange, ComponentSpec } from "@binnacle/contract";
import { describe, expect, test } from "vitest";
import { Fault } from "../fault.ts";
import { WEB, workload } from "./app.fixture.ts";
import { changeComponents, changeProblems } from "./component-change.ts";
import { NOTHING_ASKED } from "./project-facts.ts";

const UNKNOWN = "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11";
const NO_RULES = { findDefinition: () => undefined, chartHosts: [], project: NOTHING_ASKED };
const change = (before: readonly ComponentSpec[], ...changes: ComponentChange[]) =>
  changeComponents("shop", before, changes, NO_RULES);

function changed(before: readonly ComponentSpec[], ...changes: ComponentChange[]) {
  const outcome = change(before, ...changes);
  if (outcome instanceof Fault) throw outcome;
  return outcome;
}

function refused(before: readonly ComponentSpec[], ...changes: ComponentChange[]) {
  const outcome = change(before, ...changes);
  if (!(outcome instanceof Fault)) throw new Error("The changes were made.");
  return outcome;
}

describe("changes of components", () => {
  test("[AP13] changes of components are made one after the other", () => {
    const { components } = changed(
      [WEB],
      { op: "add", name: "db", workload_spec: { image: "postgres:18" } },
      { op: "patch", name: "db", workload_spec: { kind: "statefulset" } },
      { op: "remove", name: "web" },
    );
    expect(components).toEqual([
      { name: "db", type: "workload", workload_spec: { kind: "statefulset", image: "postgres:18", replicas: 1 } },
    ]);
  });

  test("[AP13] a patch may turn a component into another type, if the result is complete", () => {
    const { components } = changed([WEB], {
      op: "patch",
      name: "web",
      type: "chart",
      workload_spec: null,
      chart_spec: { repo: "https://charts.example.com", name: "web" },
    });
    expect(components[0]).toMatchObject({ type: "chart", chart_spec: { name: "web" } });
    expect(components[0]?.workload_spec).toBeUndefined();
    expect(refused([WEB], { op: "patch", name: "web", workload_spec: null }).detail).toEqual([
      { loc: ["body", "components", 0, "workload_spec"], msg: "Field required", type: "missing" },
    ]);
  });

  test("[AP57] adding a component that exists is a 409, and patching or removing one that does not is a 404", () => {
    expect(refused([WEB], { op: "add", name: "web", workload_spec: {} })).toMatchObject({
      kind: "conflict",
      detail: { code: "name_taken", component: "web" },
    });
    expect(refused([WEB], { op: "patch", name: "db" }).kind).toBe("not_found");
    expect(refused([WEB], { op: "remove", name: "db" }).kind).toBe("not_found");
  });

  test("[AP15] a component that is needed may be removed together with the one that needs it, or be replaced", () => {
    const both = [workload("web", { export_refs: [{ component: "db" }] }), workload("db")];
    expect(refused(both, { op: "remove", name: "db" }).detail).toMatchObject({ code: "export_ref_in_use" });
    const third = workload("third");
    expect(changed([...both, third], { op: "remove", name: "db" }, { op: "remove", name: "web" }).components).toEqual([
      third,
    ]);
    const replaced = changed(both, { op: "remove", name: "db" }, { op: "add", name: "db", workload_spec: {} });
    expect(replaced.components.map(({ name }) => name)).toEqual(["web", "db"]);
    const released = changed(both, { op: "remove", name: "db" }, { op: "patch", name: "web", export_refs: [] });
    expect(released.components.map(({ name }) => name)).toEqual(["web"]);
  });

  test("[AP15] an export_ref of a variable prevents the removal of its component too", () => {
    const env = [{ name: "DB", export_ref: { component: "db", key: "url" } }];
    const both = [workload("web", { workload_spec: { env } }), workload("db")];
    expect(refused(both, { op: "remove", name: "db" }).detail).toMatchObject({ component: "db", referenced_by: "web" });
  });

  test("[AP54] removing a component that a depends_on names is a 422 at the removal", () => {
    const both = [workload("web", { depends_on: ["db"] }), workload("db")];
    expect(
      refused(both, { op: "patch", name: "web", exports: { a: "b" } }, { op: "remove", name: "db" }).detail,
    ).toEqual([{ loc: ["body", "components", 0, "depends_on", 0], msg: expect.any(String), type: "value_error" }]);
    expect(refused(both, { op: "remove", name: "db" }).detail).toEqual([
      {
        loc: ["body", "components", 0, "name"],
        msg: "Component web names db in depends_on, but the app has no such component.",
        type: "value_error",
      },
    ]);
  });

  test("[AP16] the result of a patch is checked, and each problem is at the change that caused it", () => {
    const outcome = refused(
      [WEB, workload("db")],
      { op: "patch", name: "db", depends_on: ["web"] },
      { op: "patch", name: "web", depends_on: ["db"] },
    );
    expect(outcome.detail).toMatchObject([
      { loc: ["body", "components", 1, "depends_on", 0] },
      { loc: ["body", "components", 0, "depends_on", 0] },
    ]);
    expect(refused([WEB], { op: "patch", name: "web", workload_spec: { ingress: { tls: true } } }).detail).toEqual([
      { loc: ["body", "components", 0, "workload_spec", "ingress", "host"], msg: "Field required", type: "missing" },
    ]);
  });

  const served = (name: string, rest: object = {}) => ({
    name,
    workload_spec: { ports: [{ name: "http", port: 80 }], ingress: { host: "a.example.com" }, ...rest },
  });
  const over = { requests: { cpu: "2" }, limits: { cpu: "1" } };

  test("[AP175] all problems of a change are in one answer, whichever of its steps caused them", () => {
    const outcome = refused(
      [WEB, workload("db")],
      { op: "patch", name: "web", workload_spec: { ingress: { host: "a.example.com" } } },
      { op: "patch", name: "db", workload_spec: { ports: [{ name: "sql" }] } },
      { op: "add", ...served("api", { resources: over }) },
      { op: "add", name: "cache", type: "addon", addon_spec: { definition_id: UNKNOWN } },
    );
    expect(outcome.detail).toMatchObject([
      { loc: ["body", "components", 3, "addon_spec", "definition_id"] },
      { loc: ["body", "components", 1, "workload_spec", "ports", 0, "port"] },
      { loc: ["body", "components", 0, "workload_spec", "ingress"], msg: expect.stringMatching(/leads to no port/) },
      { loc: ["body", "components", 2, "workload_spec", "resources", "requests", "cpu"] },
      {
        loc: ["body", "components", 2, "workload_spec", "ingress"],
        msg: expect.stringMatching(/^Components web and api/),
      },
    ]);
  });

  test("[KU373] a request that is one byte above its limit is refused, however large both are", () => {
    const resources = { requests: { memory: "9007199254740993" }, limits: { memory: "9007199254740992" } };
    const web = [workload("web")];
    expect(refused(web, { op: "patch", name: "web", workload_spec: { resources } }).detail).toMatchObject([
      { loc: ["body", "components", 0, "workload_spec", "resources", "requests", "memory"] },
    ]);
  });

  test("[AP176] an app that cannot run is changed only if the change fixes it", () => {
    const broken = workload("web", { workload_spec: { resources: over } });
    const both = [broken, workload("db")];
    expect(refused(both, { op: "patch", name: "db", workload_spec: { image: "postgres:18" } }).detail).toEqual([
      {
        loc: ["body", "components"],
        msg: "Component web requests more cpu (2) in workload_spec.resources than its limit (1).",
        type: "value_error",
      },
    ]);
    const mended = changed(both, { op: "patch", name: "web", workload_spec: { resources: null } });
    expect(mended.components).toHaveLength(2);
    expect(changed(both).components).toEqual(both);
  });

  test("[AP175] a change that removes the last component is refused", () => {
    expect(refused([WEB], { op: "remove", name: "web" }).detail).toEqual([
      { loc: ["body", "components"], msg: "The app shop has no components.", type: "value_error" },
    ]);
  });

  test("[AP16] an addition must be complete, and a removal has nothing but the name", () => {
    expect(
      changeProblems(
        [
          { op: "add", name: "web", workload_spec: { ports: [{ port: 80 }], args: null } },
          { op: "remove", name: "web", exports: {} },
          { op: "patch", name: "web", exports: null },
        ],
        NO_RULES,
      ).map(({ loc, type }) => [loc, type]),
    ).toEqual([
      [["body", "components", 0, "workload_spec", "args"], "list_type"],
      [["body", "components", 0, "workload_spec", "ports", 0, "name"], "missing"],
      [["body", "components", 1, "exports"], "extra_forbidden"],
    ]);
  });

  test("[AP41] the secrets of a removed component are dropped, and one added in its place has only its own", () => {
    const { secrets } = changed(
      [WEB],
      { op: "remove", name: "web" },
      { op: "add", name: "web", workload_spec: {}, secrets: { KEY: "v" } },
    );
    expect([...secrets.dropped]).toEqual(["web"]);
    expect(secrets.values.get("web")?.get("KEY")).toBe("v");
    const gone = changed(
      [WEB],
      { op: "add", name: "api", workload_spec: {}, secrets: { KEY: "v" } },
      { op: "remove", name: "api" },
    );
    expect([...gone.secrets.values]).toEqual([]);
  });
});
