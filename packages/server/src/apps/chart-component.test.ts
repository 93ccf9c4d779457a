import type { ComponentSpec } from "@binnacle/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { someApp, WEB } from "./app.fixture.ts";
import { appBody } from "./app-sync.ts";
import { resolveChartComponent, shownChart } from "./chart-component.ts";
import { changeComponents, changeProblems, newAppProblems } from "./component-change.ts";

type ChartSpec = NonNullable<ComponentSpec["chart_spec"]>;
const chart = (spec: Partial<ChartSpec> = {}): ComponentSpec => ({
  name: "db",
  type: "chart",
  chart_spec: { repo: "https://charts.example.com", name: "postgres", ...spec },
});
const RULES = { findDefinition: () => undefined, chartHosts: ["charts.internal"] };
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
  ])("[CS1] %s is refused wherever a component is written", (repo, problem) => {
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

  test("[CS1] is taken where its host is on the list, and is not asked about by a change of something else", () => {
    expect(places({ repo: "http://charts.internal/x" })).toEqual([]);
    const before = chart({ repo: "http://10.0.0.1" });
    const patch = { op: "patch", name: "db", exports: { path: "/" } } as const;
    expect(changeComponents("shop", [before], [patch], RULES)).not.toHaveProperty("kind");
  });
});

describe("the secret values of a chart component", () => {
  test("[SV1] leave the values and become secrets, by their paths", () => {
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

  test("[SV1] are nowhere in what is kept, whatever the values are", () => {
    const key = fc.constantFrom("a", "b", "__proto__", "constructor");
    const path = fc.array(key, { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(path, fc.dictionary(key, fc.jsonValue()), (steps, others) => {
        const values = steps.reduceRight<unknown>((inner, step) => ({ ...others, [step]: inner }), "THE-SECRET");
        const { component, inline } = settle({ values: values as never, secret_values: [steps.join(".")] });
        expect(JSON.stringify(component)).not.toContain("THE-SECRET");
        expect(inline).toEqual({ [steps.join(".")]: "THE-SECRET" });
      }),
    );
  });

  test.each<[string, Partial<ChartSpec>, string]>([
    ["no text", { values: { auth: { password: 5 } } }, "chart_spec.values.auth.password"],
    ["a map", { values: { auth: { password: { a: 1 } } } }, "chart_spec.values.auth.password"],
    ["behind a text", { values: { auth: "x" } }, "chart_spec.values.auth"],
    ["behind a list", { values: { auth: ["x"] } }, "chart_spec.values.auth"],
    ["on the way to another", { secret_values: ["auth", "auth.password"] }, "chart_spec.secret_values.0"],
  ])("[SV5] that are %s are refused", (_, spec, place) => {
    expect(places({ secret_values: SECRET, ...spec })).toContain(place);
  });

  test("[SV5] are not given twice", () => {
    const values = { auth: { password: "s3cret" } };
    expect(places({ values, secret_values: SECRET }, [], SECRET)).toEqual(["chart_spec.values.auth.password"]);
  });

  test("[SV2] are shown as references where they are held, and given back so they stay", () => {
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
    ["its path is no secret any more", ref("auth.password"), SECRET, []],
  ])("[SV3] given back as references are refused where %s", (_, password, held, secret_values) => {
    const spec = { values: { auth: { password } }, secret_values: [...secret_values] };
    expect(places(spec, held)).toEqual(["chart_spec.values.auth.password"]);
  });

  test("[SV4] stay where a patch leaves them out or gives the reference back, and a text replaces them", () => {
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

  test("[SV4] that an earlier change of the same request has set count as held", () => {
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

  test("[SV6] are among the values that the cluster is told in secret, and in nothing else of what it is told", () => {
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
