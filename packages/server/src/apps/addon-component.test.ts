import type { ComponentSpec } from "@binnacle/contract";
import { describe, expect, test } from "vitest";
import type { AddonDefinition } from "../catalog/catalog.adapter.ts";
import { definitionId } from "../catalog/catalog-file.ts";
import { Fault } from "../fault.ts";
import { definitionFinder, missingAddonSecrets, resolveAddonComponent } from "./addon-component.ts";
import { WEB } from "./app.fixture.ts";
import { changeComponents, changeProblems, newAppProblems } from "./component-change.ts";

const text = { type: "string", minLength: 2 };
const STORE = {
  id: definitionId("store"),
  chart: { repo: "https://charts.example.com", name: "store", version: "2.0.0", versions: ["2.0.0", "1.0.0"] },
  default_values: { user: "app" },
  secret_values: ["auth.password"],
  values_schema: {
    type: "object",
    additionalProperties: false,
    properties: {
      user: text,
      auth: { type: "object", required: ["password"], properties: { password: text, database: text } },
    },
  },
} as unknown as AddonDefinition;
const find = definitionFinder([STORE]);
const rules = { findDefinition: find, chartHosts: [] };

const store = (asked: NonNullable<ComponentSpec["addon_spec"]> = {}): ComponentSpec => ({
  name: "db",
  type: "addon",
  addon_spec: { definition_id: STORE.id, ...asked },
});

describe("a component of a definition", () => {
  test.each<[string, NonNullable<ComponentSpec["addon_spec"]>, string[]]>([
    ["a definition that is not in the catalog", { definition_id: definitionId("other") }, ["definition_id"]],
    ["a version that the definition does not offer", { chart_version: "3.0.0" }, ["chart_version"]],
    ["a value that the definition does not know", { values: { size: 3 } }, ["values", "size"]],
    ["a value that does not fit", { values: { user: "a" } }, ["values", "user"]],
    ["a secret that does not fit", { values: { auth: { password: "a" } } }, ["values", "auth", "password"]],
    ["a secret that is no text", { values: { auth: { password: 12 } } }, ["values", "auth", "password"]],
    ["something else on the way to a secret", { values: { auth: "x" } }, ["values", "auth"]],
  ])("[AP62] with %s is refused where that is", (_, asked, place) => {
    const loc = ["addon_spec", ...place];
    expect(resolveAddonComponent(store(asked), find).problems.map((item) => item.loc)).toEqual([loc]);
    const written = { ...store(asked), type: "addon" as const };
    expect(newAppProblems("shop", [WEB, written], rules).map((item) => item.loc)).toEqual([
      ["body", "components", 1, ...loc],
    ]);
    expect(changeProblems([{ op: "add", ...written }], rules).map((item) => item.loc)).toEqual([
      ["body", "components", 0, ...loc],
    ]);
  });

  test("[AP62] is refused with all that is wrong at once, and left as it is where nothing is", () => {
    const wrong = resolveAddonComponent(store({ chart_version: "3", values: { size: 3, user: "a" } }), find);
    expect(wrong.problems).toHaveLength(3);
    for (const right of [store(), store({ chart_version: "1.0.0", values: { user: "me" } }), WEB]) {
      expect(resolveAddonComponent(right, find)).toEqual({ component: right, inline: {}, problems: [] });
    }
  });

  test("[AP62] may name it in capitals", () => {
    const { component } = resolveAddonComponent(store({ definition_id: STORE.id.toUpperCase() }), find);
    expect(component).toEqual(store());
  });

  test("[AP63] gives up the secrets among its values and keeps the rest", () => {
    const values = { user: "me", auth: { password: "s3cret", database: "shop" } };
    expect(resolveAddonComponent(store({ values }), find)).toEqual({
      component: store({ values: { user: "me", auth: { database: "shop" } } }),
      inline: { "auth.password": "s3cret" },
      problems: [],
    });
  });

  test("[AP63] does not have a secret twice", () => {
    const given = { ...store({ values: { auth: { password: "s3cret" } } }), secrets: { "auth.password": "other" } };
    expect(newAppProblems("shop", [given], rules)).toMatchObject([
      { loc: ["body", "components", 0, "addon_spec", "values", "auth", "password"], type: "value_error" },
    ]);
  });
});

describe("the secrets that an addon component lacks", () => {
  const missing = (
    before: ComponentSpec[],
    after: ComponentSpec[],
    secretPaths: string[] = [],
    dropped: string[] = [],
  ) => Object.fromEntries(missingAddonSecrets({ before, after, secretPaths, dropped: new Set(dropped) }, find));

  test("[AP79] are those of a new one that nobody has given", () => {
    expect(missing([], [store()])).toEqual({ db: ["auth.password"] });
    expect(missing([], [store()], ["db/auth.password"])).toEqual({});
    expect(missing([{ name: "db", workload_spec: {} }], [store()])).toEqual({ db: ["auth.password"] });
    expect(missing([], [{ name: "db", type: "addon", addon_spec: { instance: "db" } }])).toEqual({});
  });

  test("[AP79] are none of one that is already there, unless its secrets go in the same change", () => {
    expect(missing([store()], [store({ values: { user: "me" } })])).toEqual({});
    expect(missing([store()], [store()], [], ["db"])).toEqual({ db: ["auth.password"] });
  });
});

describe("a patch of a component of a definition", () => {
  const patched = (before: ComponentSpec, patch: object) =>
    changeComponents("shop", [before], [{ op: "patch", name: "db", ...patch }], rules);

  test("[AP63] sets the secrets among its values", () => {
    const outcome = patched(store(), { addon_spec: { values: { auth: { password: "s3cret" } } }, secrets: null });
    if (outcome instanceof Fault) throw outcome;
    expect(outcome.components).toEqual([store({ values: { auth: {} } })]);
    expect([[...outcome.secrets.dropped], outcome.secrets.values.get("db")?.get("auth.password")]).toEqual([
      ["db"],
      "s3cret",
    ]);
  });

  test("[AP62] is refused for what it makes of the component", () => {
    expect(patched(store(), { addon_spec: { chart_version: "3" } })).toMatchObject({
      detail: [{ loc: ["body", "components", 0, "addon_spec", "chart_version"] }],
    });
  });

  test("[AP62] that leaves the addon as it is asks for no definition", () => {
    const gone = store({ definition_id: definitionId("gone") });
    expect(patched(gone, { depends_on: null })).toMatchObject({ components: [gone] });
  });
});
