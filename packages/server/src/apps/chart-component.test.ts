import type { ComponentSpec } from "@binnacle/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { someApp, WEB } from "./app.fixture.ts";
import { appBody } from "./app-sync.ts";
import { resolveChartComponent, shownChart } from "./chart-component.ts";
import { changeComponents, changeProblems, newAppProblems } from "./component-change.ts";
import { NOTHING_ASKED } from "./project-facts.ts";

type ChartSpec = NonNullable<ComponentSpec["chart_spec"]>;
const chart = (spec: Partial<ChartSpec> = {}): ComponentSpec => ({
  name: "db",
  type: "chart",
  chart_spec: { repo: "https://charts.example.com", name: "postgres", ...spec },
});
const RULES = { findDefinition: () => undefined, chartHosts: ["charts.internal"], project: NOTHING_ASKED };
const SECRET = ["auth.password"];
const ref = (path: string, name = "shop-db-secrets") => ({ secret_ref: { name, key: path } });
const settle = (spec: Partial<ChartSpec>, held: readonly string[] = [], given: readonly string[] = []) =>
  resolveChartComponent(chart(spec), { app: "shop", chartHosts: RULES.chartHosts, held, given });
const places = (spec: Partial<ChartSpec>, held?: readonly string[], given?: readonly string[]) =>
  settle(spec, held, given).problems.map(({ loc }) => loc.join("."));

describe("the repository of a chart component", () => {
  test.each([
    ["http://169.254.169.254/latest/meta-data/", "The address is not a public one"],
    ["https://169.254.169.254/latest", "The address is not a public one"],
    ["oci://0x7f.1/charts", "The address is not a public one"],
    ["http://charts.example.com", "http:// is for hosts on the allow-list"],
    ["https://ada:s3cret@charts.example.com", "must not hold a user name or a password"],
  ])("[CS1] the chart repository %s is refused in a new app, an addition and a patch", (repo, problem) => {
    const loc = ["chart_spec", "repo"];
    expect(settle({ repo }).problems).toMatchObject([{ loc, msg: expect.stringContaining(problem) }]);
    expect(newAppProblems("shop", [WEB, chart({ repo })], RULES)).toMatchObject([
      { loc: ["body", "components", 1, ...loc] },
    ]);
    expect(changeProblems([{ op: "add", ...chart({ repo }) }], RULES)).toMatchObject([
      { loc: ["body", "components", 0, ...loc] },
    ]);
    const patch = { op: "patch", name: "db", chart_spec: { repo } } as const;
    expect(changeComponents("shop", [chart()], [patch], RULES)).toMatchObject({
      kind: "invalid",
      detail: [{ loc: ["body", "components", 0, ...loc] }],
    });
  });

  test("[CS1] a chart repository on the allow-list is accepted, and a patch of other fields does not check it", () => {
    expect(places({ repo: "http://charts.internal/x" })).toEqual([]);
    const before = chart({ repo: "http://10.0.0.1" });
    const patch = { op: "patch", name: "db", exports: { path: "/" } } as const;
    expect(changeComponents("shop", [before], [patch], RULES)).not.toHaveProperty("kind");
  });
});

describe("the secret values of a chart component", () => {
  test("[SV1] secret values of a chart are taken out of the values and become secrets, by their paths", () => {
    const values = { auth: { password: "s3cret", user: "app" }, replicas: 2 };
    const { component, inline, problems } = settle({ values, secret_values: SECRET });
    expect(problems).toEqual([]);
    expect(inline).toEqual({ "auth.password": "s3cret" });
    expect(component.chart_spec).toEqual({
      ...chart().chart_spec,
      values: { auth: { user: "app" }, replicas: 2 },
      secret_values: SECRET,
    });
  });

  test("[SV1] secret values of a chart are nowhere in the stored component, whatever the values are", () => {
    const key = fc.constantFrom("a", "b", "__proto__", "constructor");
    const path = fc.array(key, { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(path, fc.dictionary(key, fc.jsonValue()), (steps, others) => {
        const values = steps.reduceRight<unknown>((inner, step) => ({ ...others, [step]: inner }), "THE-SECRET");
        const { component, inline, problems } = settle({ values: values as never, secret_values: [steps.join(".")] });
        // Other values that look like secrets and cannot be sealed are refused, and then nothing is stored.
        fc.pre(problems.length === 0);
        expect(JSON.stringify(component)).not.toContain("THE-SECRET");
        // Other values may look like secrets by their name and are sealed too.
        expect(Object.entries(inline)).toContainEqual([steps.join("."), "THE-SECRET"]);
      }),
    );
  });

  test("[SV5] more secret values than a component may have are refused at once, and many other values cost little", () => {
    const many = (count: number, text: string) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`${text}${index}`, "x"]));
    const values = { db: many(40_000, "password") };
    const startMs = process.cpuUsage();
    expect(settle({ values }).problems).toMatchObject([{ loc: ["chart_spec", "values"] }]);
    const mixed = { db: { ...many(40_000, "color"), ...many(200, "password") } };
    expect(Object.keys(settle({ values: mixed }).inline)).toHaveLength(200);
    const { user, system } = process.cpuUsage(startMs);
    // It took a minute when every path copied the map.
    expect((user + system) / 1_000).toBeLessThan(5_000);
  });

  test.each<[string, Partial<ChartSpec>, string]>([
    ["no text", { values: { auth: { password: 5 } } }, "chart_spec.values.auth.password"],
    ["a map", { values: { auth: { password: { a: 1 } } } }, "chart_spec.values.auth.password"],
    ["behind a text", { values: { auth: "x" } }, "chart_spec.values.auth"],
    ["behind a list", { values: { auth: ["x"] } }, "chart_spec.values.auth"],
    ["on the way to another", { secret_values: ["auth", "auth.password"] }, "chart_spec.secret_values.0"],
  ])("[SV5] secret values of a chart that are %s are refused", (_, spec, place) => {
    expect(places({ secret_values: SECRET, ...spec })).toContain(place);
  });

  test("[SV5] a secret value of a chart that is also given among the secrets is refused", () => {
    const values = { auth: { password: "s3cret" } };
    expect(places({ values, secret_values: SECRET }, [], SECRET)).toEqual(["chart_spec.values.auth.password"]);
  });

  test("[SV2] stored secret values of a chart are shown as references, and a reference that is sent back keeps the secret", () => {
    const kept = settle({ values: { auth: { password: "s3cret", user: "app" } }, secret_values: SECRET }).component;
    const shown = shownChart("shop", kept, SECRET);
    expect(shown.chart_spec?.values).toEqual({ auth: { user: "app", password: ref("auth.password") } });
    expect(shownChart("shop", kept, [])).toEqual(kept);
    expect(shownChart("shop", kept, ["OTHER"])).toEqual(kept);
    expect(settle(shown.chart_spec ?? {}, SECRET)).toEqual({ component: kept, inline: {}, problems: [] });
  });

  test.each<[string, object, readonly string[], readonly string[]]>([
    ["nothing is held", ref("auth.password"), [], SECRET],
    ["it is of another component", ref("auth.password", "shop-cache-secrets"), SECRET, SECRET],
    ["it is of another path", ref("auth.token"), SECRET, SECRET],
    ["it holds more", { ...ref("auth.password"), value: "x" }, SECRET, SECRET],
    ["its path is no longer a secret", ref("auth.password"), SECRET, []],
  ])("[SV3] a reference to a secret value of a chart is refused where %s", (_, password, held, secret_values) => {
    const spec = { values: { auth: { password } }, secret_values: [...secret_values] };
    expect(places(spec, held)).toEqual(["chart_spec.values.auth.password"]);
  });

  test.each<[string, Record<string, unknown>, string]>([
    ["where a secret would be", { auth: { password: ref("auth.password", "other-db-secrets") } }, "auth.password"],
    ["at a path that is not secret", { auth: { other: ref("auth.password") } }, "auth.other"],
    ["in a list", { users: [{ name: "a" }, { login: ref("auth.password") }] }, "users.1.login"],
    ["in place of a list's item", { users: [ref("auth.password")] }, "users.0"],
    ["with more beside it", { db: { ...ref("auth.password"), value: "x" } }, "db"],
  ])("[SV3] a reference in the values of a chart that lists no secret is refused %s", (_, values, place) => {
    expect(places({ values })).toEqual([`chart_spec.values.${place}`]);
    expect(places({ values, secret_values: SECRET }, SECRET)).toEqual([`chart_spec.values.${place}`]);
  });

  test("[SV4] a patch that omits a secret value or sends its reference keeps it, and a text replaces it", () => {
    const before = settle({ values: { auth: { password: "s3cret" } }, secret_values: SECRET }).component;
    const patched = (chart_spec: object) => {
      const change = { op: "patch", name: "db", chart_spec } as const;
      const changed = changeComponents("shop", [before], [change], RULES, ["db/auth.password"]);
      if (!("components" in changed)) throw changed;
      return { spec: changed.components[0]?.chart_spec, secrets: changed.secrets.values.get("db") };
    };
    const untouched = patched({ values: { color: "red" } });
    expect(untouched.secrets).toBeUndefined();
    expect(untouched.spec?.values).toEqual({ auth: {}, color: "red" });
    const back = patched({ values: { auth: { password: ref("auth.password") }, color: "red" } });
    expect(back).toEqual(untouched);
    const other = patched({ values: { auth: { password: "an0ther" } } });
    expect(other.secrets).toEqual(new Map([["auth.password", "an0ther"]]));
    expect(JSON.stringify(other.spec)).not.toContain("an0ther");
  });

  test("[SV315] a name with a dot in it is not sealed by listing the path that it looks like", () => {
    const values = { "auth.password": "s3cret" };
    expect(places({ values, secret_values: SECRET })).toEqual(["chart_spec.values.auth.password"]);
  });

  test.each<[string, Partial<ChartSpec>, object]>([
    ["sealed and becomes plain", {}, { plain_values: SECRET }],
    ["listed and becomes plain", { secret_values: SECRET }, { secret_values: null, plain_values: SECRET }],
    ["listed and no longer is", { secret_values: SECRET }, { secret_values: null }],
  ])("[SV12] a stored secret value that was %s must be given again or removed", (_, spec, chart_spec) => {
    const before = settle({ values: { auth: { password: "s3cret" } }, ...spec }).component;
    const changed = (change: object, secrets?: object) =>
      changeComponents("shop", [before], [{ op: "patch", name: "db", chart_spec: change, ...secrets }], RULES, [
        "db/auth.password",
      ]);
    expect(changed(chart_spec)).toMatchObject({
      kind: "invalid",
      detail: [{ loc: ["body", "components", 0, "chart_spec", "values", "auth", "password"] }],
    });
    expect(changed({ ...chart_spec, values: { auth: { password: "s3cret" } } })).not.toHaveProperty("kind");
    expect(changed(chart_spec, { secrets: { "auth.password": null } })).not.toHaveProperty("kind");
  });

  test("[SV4] a secret value that an earlier change of the same request has set counts as stored", () => {
    const add = { op: "add", ...chart({ values: { auth: { password: "s3cret" } }, secret_values: SECRET }) } as const;
    const patch = {
      op: "patch",
      name: "db",
      chart_spec: { values: { auth: { password: ref("auth.password") } } },
    } as const;
    expect(changeComponents("shop", [], [add, patch], RULES)).not.toHaveProperty("kind");
    const cleared = { ...patch, secrets: null };
    expect(changeComponents("shop", [], [add, cleared], RULES)).toMatchObject({ kind: "invalid" });
  });

  test("[SV6] secret values of a chart are in the secret part of the body that the cluster gets, and nowhere else", () => {
    const kept = settle({ values: { auth: { password: "s3cret" }, color: "red" }, secret_values: SECRET }).component;
    const app = someApp({ name: "shop", components: [kept] });
    const secrets = new Map([
      ["auth.password", "s3cret"],
      ["OTHER", "not a value"],
    ]);
    const body = appBody(app, () => undefined, new Map([["db", secrets]]));
    expect(body.secret.values).toEqual({ db: { auth: { password: "s3cret" }, color: "red" } });
    expect(JSON.stringify(body.spec)).not.toContain("s3cret");
    expect(body.spec.components[0]?.release).toEqual({
      chart: { repo: "https://charts.example.com", name: "postgres" },
      export_schema: {},
    });
    const without = appBody(app, () => undefined, new Map());
    expect(without.secret.values).toEqual({ db: { auth: {}, color: "red" } });
  });
});
