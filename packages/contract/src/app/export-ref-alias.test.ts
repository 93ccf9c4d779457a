import { expect, test } from "vitest";
import { renameExportRefs, renameInComponents } from "./export-ref-alias.ts";

const ref = { component: "db", key: "url" };
const variable = { name: "URL", exportRef: ref };
const renamed = { name: "URL", export_ref: ref };

test("[AP182] exportRef is renamed wherever export_ref is accepted, and nowhere else", () => {
  const container = { name: "x", image: "x", env: [variable] };
  const values = { exportRef: "a value of the chart" };
  const body = structuredClone({
    components: [
      {
        name: "web",
        exportRefs: [{ component: "db" }],
        workload_spec: {
          env: [variable, { name: "A", value: "1" }],
          init_containers: [container],
          sidecars: [container],
        },
        chart_spec: { values },
      },
    ],
  });
  renameInComponents(body);
  const inside = { name: "x", image: "x", env: [renamed] };
  expect(body.components).toEqual([
    {
      name: "web",
      export_refs: [{ component: "db" }],
      workload_spec: { env: [renamed, { name: "A", value: "1" }], init_containers: [inside], sidecars: [inside] },
      chart_spec: { values },
    },
  ]);
});

test("[AP182] a body with both spellings keeps them, so that it is refused", () => {
  const both = { name: "web", exportRefs: [], export_refs: [] };
  renameExportRefs(both);
  expect(both).toEqual({ name: "web", exportRefs: [], export_refs: [] });
});

test.each([
  null,
  1,
  "x",
  [],
  { components: 1 },
  { components: [null, { workload_spec: [] }, { workload_spec: { env: {} } }] },
])("[AP182] a body of another form is left to the schema: %j", (body) => {
  const before = structuredClone(body);
  renameInComponents(body);
  expect(body).toEqual(before);
});
