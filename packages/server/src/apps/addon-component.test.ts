import type { ComponentSpec } from "@binnacle/contract";
import { describe, expect, test } from "vitest";
import type { AddonDefinition } from "../catalog/catalog.adapter.ts";
import { definitionId } from "../catalog/catalog-file.ts";
import { Fault } from "../fault.ts";
import { definitionFinder, missingAddonSecrets, resolveAddonComponent } from "./addon-component.ts";
import { WEB } from "./app.fixture.ts";
import { changeComponents, changeProblems, newAppProblems } from "./component-change.ts";
import { NOTHING_ASKED } from "./project-facts.ts";

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
const rules = { findDefinition: find, chartHosts: [], project: NOTHING_ASKED };

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
    ["a secret that is not a text", { values: { auth: { password: 12 } } }, ["values", "auth", "password"]],
    ["something else on the way to a secret", { values: { auth: "x" } }, ["values", "auth"]],
  ])("[AP62] an addon component with %s is refused at the place of the problem", (_, asked, place) => {
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

  test("[AP62] an addon component is refused with all its problems at once, and is unchanged if there are none", () => {
    const wrong = resolveAddonComponent(store({ chart_version: "3", values: { size: 3, user: "a" } }), find);
    expect(wrong.problems).toHaveLength(3);
    for (const right of [store(), store({ chart_version: "1.0.0", values: { user: "me" } }), WEB]) {
      expect(resolveAddonComponent(right, find)).toEqual({ component: right, inline: {}, problems: [] });
    }
  });

  test("[AP62] the definition of an addon component may be written in capitals", () => {
    const { component } = resolveAddonComponent(store({ definition_id: STORE.id.toUpperCase() }), find);
    expect(component).toEqual(store());
  });

  test("[AP63] the secrets among the values of an addon component are taken out, and the other values stay", () => {
    const values = { user: "me", auth: { password: "s3cret", database: "shop" } };
    expect(resolveAddonComponent(store({ values }), find)).toEqual({
      component: store({ values: { user: "me", auth: { database: "shop" } } }),
      inline: { "auth.password": "s3cret" },
      problems: [],
    });
  });

  test("[AP63] an addon component with the same secret among its values and its secrets is refused", () => {
    const given = { ...store({ values: { auth: { password: "s3cret" } } }), secrets: { "auth.password": "other" } };
    expect(newAppProblems("shop", [given], rules)).toMatchObject([
      { loc: ["body", "components", 0, "addon_spec", "values", "auth", "password"], type: "value_error" },
    ]);
  });
});

describe("a value of an addon component that looks like a secret", () => {
  const LAX = {
    ...STORE,
    id: definitionId("lax"),
    values_schema: { type: "object" },
    plain_values: ["session.key"],
  } as unknown as AddonDefinition;
  const problemsWith = (values: Record<string, unknown>) =>
    resolveAddonComponent(store({ definition_id: LAX.id, values }), definitionFinder([LAX])).problems;

  test.each<[string, Record<string, unknown>, (string | number)[]]>([
    ["a password at a path that is not sealed", { replica: { password: "hunter22" } }, ["replica", "password"]],
    ["an address with a password", { upstream: "postgres://app:hunter22@db:5432/shop" }, ["upstream"]],
    ["a token in a list", { users: [{ name: "ada", token: "hunter22" }] }, ["users", 0, "token"]],
    ["a key beside one that is not a secret", { session: { key: "cn", apiKey: "hunter22" } }, ["session", "apiKey"]],
  ])("[SV316] %s is refused at its place, without being shown", (_, values, place) => {
    const problems = problemsWith(values);
    expect(problems.map(({ loc }) => loc)).toEqual([["addon_spec", "values", ...place]]);
    expect(problems[0]?.msg).toContain("looks like a secret");
    expect(JSON.stringify(problems)).not.toContain("hunter22");
  });

  test("[SV316] sealed and plain values of the definition, references to Secrets and other values are taken", () => {
    const auth = { password: "hunter22", existingSecret: "own-secret" };
    expect(problemsWith({ auth, session: { key: "cn" }, user: "me" })).toEqual([]);
  });
});

describe("the secrets that an addon component lacks", () => {
  const missing = (
    before: ComponentSpec[],
    after: ComponentSpec[],
    secretPaths: string[] = [],
    dropped: string[] = [],
  ) => Object.fromEntries(missingAddonSecrets({ before, after, secretPaths, dropped: new Set(dropped) }, find));

  test("[AP79] the secrets that a new addon component lacks are those of its definition that nobody has given", () => {
    expect(missing([], [store()])).toEqual({ db: ["auth.password"] });
    expect(missing([], [store()], ["db/auth.password"])).toEqual({});
    expect(missing([{ name: "db", workload_spec: {} }], [store()])).toEqual({ db: ["auth.password"] });
    expect(missing([], [{ name: "db", type: "addon", addon_spec: { instance: "db" } }])).toEqual({});
  });

  test("[AP79] an addon component that exists lacks no secrets, unless they are dropped in the same change", () => {
    expect(missing([store()], [store({ values: { user: "me" } })])).toEqual({});
    expect(missing([store()], [store()], [], ["db"])).toEqual({ db: ["auth.password"] });
  });
});

describe("a patch of a component of a definition", () => {
  const patched = (before: ComponentSpec, patch: object) =>
    changeComponents("shop", [before], [{ op: "patch", name: "db", ...patch }], rules);

  test("[AP63] a patch of an addon component sets the secrets among its values", () => {
    const outcome = patched(store(), { addon_spec: { values: { auth: { password: "s3cret" } } }, secrets: null });
    if (outcome instanceof Fault) throw outcome;
    expect(outcome.components).toEqual([store({ values: { auth: {} } })]);
    expect([[...outcome.secrets.dropped], outcome.secrets.values.get("db")?.get("auth.password")]).toEqual([
      ["db"],
      "s3cret",
    ]);
  });

  test("[AP62] a patch of an addon component is refused for problems of the resulting component", () => {
    expect(patched(store(), { addon_spec: { chart_version: "3" } })).toMatchObject({
      detail: [{ loc: ["body", "components", 0, "addon_spec", "chart_version"] }],
    });
  });

  test("[AP62] a patch that leaves the addon as it is needs no definition in the catalog", () => {
    const gone = store({ definition_id: definitionId("gone") });
    expect(patched(gone, { depends_on: null })).toMatchObject({ components: [gone] });
  });
});
