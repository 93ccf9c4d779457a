import type { ComponentSpec } from "@binnacle/contract";
import { describe, expect, test } from "vitest";
import { definitionFinder } from "../apps/addon-component.ts";
import { someApp } from "../apps/app.fixture.ts";
import { changeComponents } from "../apps/component-change.ts";
import { NOTHING_ASKED } from "../apps/project-facts.ts";
import { rolledBack } from "../apps/transition.ts";
import { loadCatalog } from "../catalog/catalog.adapter.ts";
import { componentDowngrade, isGuarded } from "./downgrade.ts";

const ID = "01932c07-31f1-7a4e-8d8b-6f1a2f0c5d11";

test.each<[string | null, string | null, boolean | undefined, boolean]>([
  ["2.0.0", "1.9.9", true, true],
  ["0.10.0", "0.9.0", true, true],
  ["0.9.0", "0.10.0", true, false],
  ["1.0.0", "1.0.0", true, false],
  ["1.0.0", "v1.0.0", true, false],
  ["1.0.0", "1.0.0-rc.1", true, true],
  ["2.0.0", "1.0.0", false, false],
  ["2.0.0", "1.0.0", undefined, true],
  ["1.0.0", "latest", true, true],
  [null, "1.0.0", undefined, true],
  [null, null, undefined, false],
])(
  "[AD37] from version %s to %s of an addon with stateful %s, a confirmation is needed: %s",
  (from, to, stateful, expected) => {
    expect(isGuarded({ from, to }, stateful === undefined ? undefined : { stateful })).toBe(expected);
  },
);

const db = (chart_version?: string, id = ID): ComponentSpec => ({
  name: "db",
  type: "addon",
  addon_spec: chart_version === undefined ? { definition_id: id } : { definition_id: id, chart_version },
});

describe("an addon component", () => {
  const chart = { repo: "https://charts.example.com", name: "db", version: "2.0.0", versions: ["2.0.0", "1.0.0"] };
  const found = (before: ComponentSpec[], after: ComponentSpec[], stateful = true, isConfirmed = false) =>
    componentDowngrade(
      before,
      after,
      () => ({ chart, stateful }),
      () => isConfirmed,
    );

  test("[AP87] an addon component without a version has the version of its definition", () => {
    expect(found([db()], [db("1.0.0")])).toMatchObject({
      kind: "conflict",
      detail: { code: "stateful_downgrade", component: "db", from_version: "2.0.0", to_version: "1.0.0" },
    });
    expect(found([db("1.0.0")], [db()])).toBeNull();
  });

  test("[AP87] an older version of an addon component needs a confirmation only if it is stateful and existed before", () => {
    expect(found([db()], [db("1.0.0")], false)).toBeNull();
    expect(found([db()], [db("1.0.0")], true, true)).toBeNull();
    expect(found([], [db("1.0.0")])).toBeNull();
    expect(found([db("2.0.0", ID.replace("0193", "0194"))], [db("1.0.0")])).toBeNull();
  });

  test("[AP87] an older version of an addon component needs allow_downgrade in a change and in a rollback, which is not stored", async () => {
    const { addons } = await loadCatalog();
    const definition = addons.find(({ name }) => name === "postgresql");
    if (!definition) throw new Error("The catalog has no postgresql.");
    const rules = { findDefinition: definitionFinder(addons), chartHosts: [], project: NOTHING_ASKED };
    const oldest = definition.chart.versions.at(-1) ?? "";
    const [now, before] = [db(definition.chart.version, definition.id), db(oldest, definition.id)];
    const patch = { op: "patch" as const, name: "db", addon_spec: { chart_version: oldest } };
    const refused = { kind: "conflict", detail: { code: "stateful_downgrade", component: "db" } };
    expect(changeComponents("shop", [now], [patch], rules)).toMatchObject(refused);
    const replaced = [
      { op: "remove" as const, name: "db" },
      { op: "add" as const, ...before },
    ];
    expect(changeComponents("shop", [now], replaced, rules)).toMatchObject(refused);
    const confirmed = changeComponents("shop", [now], [{ ...patch, allow_downgrade: true }], rules);
    expect(confirmed).toMatchObject({ components: [before] });
    expect(JSON.stringify(confirmed)).not.toContain("allow_downgrade");
    const deployment = { revision: 1, spec: { components: [before], paused: false } };
    const app = someApp({ components: [now] });
    expect(rolledBack(app, deployment, rules)).toMatchObject(refused);
    expect(rolledBack(app, deployment, rules, { allow_downgrade: true })).toMatchObject({
      app: { components: [before] },
    });
  });
});
