import type { App, ComponentInput } from "@binnacle/client";
import { withCoveredSecrets } from "@binnacle/manifest/cover";
import { changeBetween, mergePatchBetween } from "@binnacle/manifest/patch";
import { placesIn } from "@binnacle/manifest/read";
import fc from "fast-check";
import { expect, test } from "vitest";
import openapi from "../../../../../openapi.json" with { type: "json" };
import { readDocument } from "../../../../../test/fuzz/document.ts";
import { schemaValues } from "../../../../../test/fuzz/schema-values.ts";
import { mergePatch } from "../../../../contract/src/merge-patch.ts";
import { type AppForm, formText, fromYaml, problemsOf, toForm } from "./app-form.ts";

const document = readDocument(openapi);
const body = document.operations.find(({ id }) => id === "createApp")?.body?.schema ?? {};
const bodies = schemaValues(document, () => [])(body) as fc.Arbitrary<{
  name: string;
  description?: string | null;
  components: readonly ComponentInput[];
}>;

/** Apps of every shape that the API accepts, as they are read back: the keys of their secrets, and never the values. */
const apps = bodies.map((given) => {
  // What JSON does not write does not reach the server.
  const { name, description = null, components } = JSON.parse(JSON.stringify(given)) as typeof given;
  const unique = components.filter((each, index) => components.findIndex((it) => it.name === each.name) === index);
  return {
    name,
    description,
    paused: false,
    components: unique.map(({ secrets = {}, ...rest }) => ({
      ...rest,
      secrets: Object.keys(secrets),
      ready_replicas: null,
    })),
  } as unknown as App;
});
const forms = apps.map(toForm);
const NUM_RUNS = 200;

test("[WC42] a form that is written as YAML and read again is the same, for any app", () => {
  fc.assert(
    fc.property(forms, (form) => {
      expect(fromYaml(formText(form))).toEqual({ form, problems: [] });
    }),
    { numRuns: NUM_RUNS },
  );
});

test("[WC42] neither the form nor the YAML of an app contains read-only fields", () => {
  fc.assert(
    fc.property(apps, (app) => {
      for (const component of toForm(app).components) {
        expect(component).not.toHaveProperty("secrets");
        expect(component).not.toHaveProperty("ready_replicas");
      }
    }),
    { numRuns: NUM_RUNS },
  );
});

/** Of two versions of one app: the second has some components of the first, changed, and others. */
const versions = fc
  .tuple(forms, forms, fc.array(fc.boolean(), { maxLength: 4 }))
  .map(([first, second, taken]): readonly [AppForm, AppForm] => {
    const names = first.components.map(({ name }) => name);
    const components = second.components.map((component, index) => ({
      ...component,
      name: taken[index] ? (names[index] ?? component.name) : component.name,
    }));
    const unique = components.filter((each, index) => components.findIndex((it) => it.name === each.name) === index);
    return [first, { ...second, name: first.name, components: unique }];
  });

test("[WC43] the change between two versions of an app, applied as the API applies it, gives the second version", () => {
  fc.assert(
    fc.property(versions, ([before, after]) => {
      const { body: sent, problems } = changeBetween(before, after);
      fc.pre(problems.length === 0);
      const components = new Map(before.components.map((component) => [component.name, component as object]));
      for (const { op, ...given } of (sent?.components ?? []) as readonly { op: string; name: string }[]) {
        if (op === "remove") components.delete(given.name);
        else if (op === "add") components.set(given.name, given);
        else components.set(given.name, mergePatch(components.get(given.name), given) as object);
      }
      const named = new Map(after.components.map((component) => [component.name, component as object]));
      expect(Object.fromEntries(components)).toEqual(Object.fromEntries(named));
      expect(sent && "description" in sent ? sent.description : before.description).toEqual(after.description);
    }),
    { numRuns: NUM_RUNS },
  );
});

test("[WC43] a form that was not changed sends nothing", () => {
  fc.assert(
    fc.property(forms, (form) => {
      expect(changeBetween(form, structuredClone(form))).toEqual({ body: null, indexes: [], problems: [] });
    }),
    { numRuns: 50 },
  );
});

const SHOP: AppForm = {
  name: "shop",
  description: null,
  components: [
    { name: "web", workload_spec: { image: "nginx:1", replicas: 2 } },
    { name: "db", workload_spec: { image: "postgres:17" } },
  ],
};
const web = SHOP.components[0] as ComponentInput;

test("[WC227] the YAML of an app may write exportRef for export_ref", () => {
  const text = "name: shop\ncomponents:\n  - name: web\n    exportRefs: [{ component: db }]\n";
  expect(fromYaml(text).form?.components).toEqual([{ name: "web", export_refs: [{ component: "db" }] }]);
});

test("[WC43] an edited app sends only what differs", () => {
  const changed = { ...web, workload_spec: { image: "nginx:2" } };
  const added = { name: "api", workload_spec: { image: "api:1" } };
  expect(changeBetween(SHOP, { ...SHOP, description: "The shop", components: [changed, added] })).toEqual({
    body: {
      components: [
        { op: "remove", name: "db" },
        { op: "patch", name: "web", workload_spec: { replicas: null, image: "nginx:2" } },
        { op: "add", ...added },
      ],
      description: "The shop",
    },
    indexes: [null, 0, 1],
    problems: [],
  });
});

test("[WC43] a change that the API cannot make is reported at its place", () => {
  const chart = (values: Record<string, unknown>): AppForm => ({
    ...SHOP,
    components: [{ name: "c", chart_spec: { repo: "https://charts.example.com", name: "c", values } }],
  });
  const { problems } = changeBetween(chart({ a: 1, b: null }), {
    ...chart({ a: { x: null }, b: null }),
    name: "other",
  });
  expect(problems.map(({ path }) => path)).toEqual([["name"], ["components", 0, "chart_spec", "values", "a", "x"]]);
});

test("[WC43] a confirmation is sent with every patch of a component, and with nothing else", () => {
  const after = { ...SHOP, components: [{ ...web, workload_spec: {} }, { name: "new" }] };
  const { body: sent } = changeBetween(SHOP, after, { recreate: true });
  expect(sent?.components).toEqual([
    { op: "remove", name: "db" },
    { op: "patch", name: "web", workload_spec: { image: null, replicas: null }, recreate: true },
    { op: "add", name: "new" },
  ]);
});

test("[WC44] the form of a paused app has no replica counts, because they come back by themselves", () => {
  const component = { ...web, secrets: [], ready_replicas: 0, workload_spec: { image: "nginx:1", replicas: 0 } };
  const paused = { name: "shop", description: null, paused: true, components: [component] } as unknown as App;
  expect(toForm(paused).components[0]?.workload_spec).toEqual({ image: "nginx:1" });
});

test.each([
  "",
  "a: b",
  "name: shop\ncomponents: []\n---\nname: back\ncomponents: []",
  "- a",
  "name: shop\ncomponents: []\nreplicas: 2",
  "name: 7\ncomponents: {}",
  "name: shop\ndescription: [a]\nproject: 1\ncomponents: []",
])("[WC45] the YAML %j is refused, and the problem has its place in the text", (text) => {
  const { form, problems } = fromYaml(text);
  expect(form).toBeNull();
  expect(problems.length).toBeGreaterThan(0);
  for (const { from, to } of problems) expect(from).toBeLessThanOrEqual(to);
});

test("[WC45] mistakes in the YAML of an app are marked where they are", () => {
  const text = "name: shop\ncomponents:\n  - name: web\n  - name: web\n  - image: x\n";
  const marked = fromYaml(text).problems.map(({ from, to, message }) => [text.slice(from, to).split("\n")[0], message]);
  expect(marked).toEqual([
    ["name", "Another component has this name already."],
    ["image: x", "A component is a mapping with a name."],
  ]);
  expect(fromYaml("name: [").problems[0]?.from).toBe(7);
});

test("[WC45] YAML aliases that would fill the memory are refused", () => {
  const bomb = [
    "a: &a [x,x,x,x,x,x,x,x,x]",
    ..."bcdefgh".split("").map((key, index) => {
      const before = "abcdefg"[index];
      return `${key}: &${key} [${Array.from({ length: 9 }, () => `*${before}`).join(",")}]`;
    }),
  ].join("\n");
  expect(fromYaml(bomb).form).toBeNull();
});

test("[WC46] a field that the API names is found in the text, or the nearest one around it", () => {
  const text = formText(SHOP);
  const at = placesIn(text);
  const word = (path: readonly (string | number)[]) => {
    const { from, to } = at(path);
    return `${text.slice(0, from).split("\n").length}:${text.slice(from, to).split("\n")[0]}`;
  };
  expect(word(["components", 1, "workload_spec", "image"])).toBe("9:image");
  expect(word(["components", 1, "workload_spec", "env", 0, "name"])).toBe("8:workload_spec");
  expect(word([])).toBe("1:name: shop");
});

test("[WC47] new secrets are covered where versions are compared", () => {
  const form = { ...SHOP, components: [{ ...web, secrets: { TOKEN: "hush" } }] };
  expect(formText(withCoveredSecrets(form))).not.toContain("hush");
  expect(formText(withCoveredSecrets(form))).toContain("TOKEN");
});

test("[WC46] an error that names no field is marked nowhere in the text", () => {
  expect(problemsOf(new Error("x"), null)).toEqual([]);
});

test("[WC43] a merge patch removes fields that the new version does not have", () => {
  expect(mergePatchBetween({ a: 1, b: { c: 1, d: [1] } }, { b: { d: [2] }, e: {} })).toEqual({
    a: null,
    b: { c: null, d: [2] },
    e: {},
  });
});
