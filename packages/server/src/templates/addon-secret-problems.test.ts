import type { TemplateComponent } from "@binnacle/contract";
import { expect, test } from "vitest";
import type { AddonDefinition } from "../catalog/catalog.adapter.ts";
import { definitionId } from "../catalog/definition-id.ts";
import { addonSecretProblems } from "./addon-secret-problems.ts";

const STORE = { id: definitionId("store"), secret_values: ["auth.password", "key"] } as unknown as AddonDefinition;
const find = (id: string) => (id === STORE.id ? STORE : undefined);
const store = (values: object, definition_id = STORE.id): TemplateComponent =>
  ({ name: "db", type: "addon", addon_spec: { definition_id, values } }) as TemplateComponent;

test("[TP19] a secret among the values of an addon is told where it is, and not what it is", () => {
  const problems = addonSecretProblems([store({}), store({ auth: { password: "hunter22" }, key: 5 })], find);
  expect(problems.map(({ path }) => path)).toEqual([
    ["components", 1, "addon_spec", "values", "auth", "password"],
    ["components", 1, "addon_spec", "values", "key"],
  ]);
  expect(JSON.stringify(problems)).not.toContain("hunter22");
});

test.each([
  ["what is no secret", store({ auth: { user: "app" } })],
  ["what a parameter stands for", store({ auth: { password: `\${password}` } })],
  ["an addon that is not in the catalog", store({ key: "x" }, definitionId("other"))],
  ["an addon that a parameter names", store({ key: "x" }, `\${addon}`)],
  ["a workload", { name: "web", workload_spec: { image: "nginx" } } as TemplateComponent],
])("[TP19] %s is none", (_, component) => {
  expect(addonSecretProblems([component], find)).toEqual([]);
});
