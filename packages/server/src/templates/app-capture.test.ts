// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are what is tested
import type { ComponentSpec } from "@binnacle/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { captureApp } from "./app-capture.ts";
import { patternsHere } from "./pattern.ts";
import { renderComponents } from "./render.ts";
import { templateProblems } from "./template-problems.ts";

const web: ComponentSpec = {
  name: "web",
  type: "workload",
  depends_on: ["db"],
  workload_spec: {
    image: "shop:1",
    env: [
      { name: "PLAIN", value: "a" },
      { name: "DB", export_ref: { component: "db", key: "url" } },
    ],
  },
  export_refs: [
    { component: "db", key: "host" },
    { component: "db", env: "DB_PORT", key: "port" },
    { component: "db" },
  ],
};
const db: ComponentSpec = { name: "db", workload_spec: { image: "postgres:17" } };

test("[AP107] variables of sidecars become parameters of a captured template, or must name its components", () => {
  const env = [{ name: "DB", export_ref: { component: "db", key: "url" } }];
  const component: ComponentSpec = {
    name: "web",
    workload_spec: {
      image: "shop:1",
      sidecars: [
        { name: "proxy", image: "x", env },
        { name: "bare", image: "x" },
      ],
    },
  };
  const { components, parameters } = captureApp({ components: [component], secret_paths: [] }, false);
  expect(components).toMatchObject([
    { workload_spec: { sidecars: [{ env: [{ name: "DB", value: "${web_DB}" }] }, { name: "bare" }] } },
  ]);
  expect(parameters).toMatchObject([{ name: "web_DB" }]);
  const kept = captureApp({ components: [component], secret_paths: [] }, true);
  expect(templateProblems(kept, patternsHere)).toMatchObject([{ message: "mentions db, which is not a component" }]);
});

describe("a captured app", () => {
  test("[TP25] an app of any texts is captured as a valid template that makes the same components again", () => {
    const text = fc.string({ unit: fc.constantFrom("$", "{", "}", "a") });
    fc.assert(
      fc.property(text, text, (arg, value) => {
        const component: ComponentSpec = {
          name: "web",
          workload_spec: { args: [arg], env: [{ name: "A", value }] },
          chart_spec: { repo: "r", name: "c", values: { deep: [{ arg }] } },
        };
        const captured = captureApp({ components: [component], secret_paths: [] }, true);
        expect(templateProblems(captured, patternsHere)).toEqual([]);
        expect(renderComponents(captured.components, new Map())).toEqual([component]);
      }),
    );
  });

  test("[TP26] a captured template asks for each secret, by parameters with distinct names", () => {
    const secret_paths = ["web/API_KEY", "web/API.KEY", "web/0", "db/API_KEY"];
    const captured = captureApp({ components: [web, db], secret_paths }, true);
    expect(templateProblems(captured, patternsHere)).toEqual([]);
    expect(captured.parameters.map(({ name, type, required }) => [name, type, required])).toEqual([
      ["web_API_KEY", "secret", true],
      ["web_API_KEY_2", "secret", true],
      ["web_0", "secret", true],
      ["db_API_KEY", "secret", true],
    ]);
    expect(captured.components[0]?.["secrets"]).toEqual({
      API_KEY: "${web_API_KEY}",
      "API.KEY": "${web_API_KEY_2}",
      "0": "${web_0}",
    });
  });

  test("[TP26] parameters of a captured app with long names have distinct names within the limit of a parameter's name", () => {
    const key = "K".repeat(100);
    const captured = captureApp({ components: [db], secret_paths: [`db/${key}1`, `db/${key}2`] }, true);
    expect(captured.parameters.map(({ name }) => name.length)).toEqual([63, 63]);
    expect(templateProblems(captured, patternsHere)).toEqual([]);
  });

  test("[TP27] a captured template keeps the export_refs of its app, or asks for what they brought", () => {
    const kept = captureApp({ components: [web, db], secret_paths: [] }, true);
    expect(kept).toEqual({ components: [web, db], parameters: [] });

    const asked = captureApp({ components: [web, db], secret_paths: [] }, false);
    expect(templateProblems(asked, patternsHere)).toEqual([]);
    expect(asked.parameters.map(({ name, type, required }) => [name, type, required])).toEqual([
      ["web_db", "string", true],
      ["web_DB", "string", true],
      ["web_DB_HOST", "string", true],
      ["web_DB_PORT", "string", true],
    ]);
    expect(asked.components[0]).toEqual({
      name: "web",
      type: "workload",
      depends_on: ["db"],
      workload_spec: {
        image: "shop:1",
        env: [
          { name: "PLAIN", value: "a" },
          { name: "DB", value: "${web_DB}" },
          { name: "DB_HOST", value: "${web_DB_HOST}" },
          { name: "DB_PORT", value: "${web_DB_PORT}" },
        ],
      },
      export_refs: [{ component: "${web_db}" }],
    });
  });

  test("[TP27] a captured template asks for the component of a reference without a key, also for a chart", () => {
    const chart: ComponentSpec = {
      name: "api",
      type: "chart",
      chart_spec: { repo: "https://charts.example.com", name: "api" },
      export_refs: [{ component: "db" }, { component: "db", key: "host" }],
    };
    const asked = captureApp({ components: [chart, db], secret_paths: [] }, false);
    expect(templateProblems(asked, patternsHere)).toEqual([]);
    expect(asked.parameters).toMatchObject([{ name: "api_db", type: "string", required: true }]);
    expect(asked.components[0]?.["export_refs"]).toEqual([{ component: "${api_db}" }]);
  });
});
