import { describe, expect, test } from "vitest";
import { archiveOf, chartFiles, unpackChart } from "./archive.ts";
import { packedChart } from "./chart.fixture.ts";
import { helmChart, isSelfContained } from "./helm-chart.ts";
import { ArchiveProblem } from "./problems.ts";

const METADATA = "http://169.254.169.254/latest/meta-data/";
const schema = (value: object) => ({ "values.schema.json": JSON.stringify(value) });

describe("a schema", () => {
  test.each([
    [{}],
    [{ type: "object", properties: { a: { $ref: "#/definitions/a" } }, definitions: { a: { type: "string" } } }],
    [{ $schema: "http://json-schema.org/draft-07/schema#" }],
    [{ $schema: "https://json-schema.org/draft/2020-12/schema", $id: "https://charts.example.com/values" }],
    // A value of that name is none of the schema's own words.
    [{ properties: { $ref: { type: "string" } } }],
  ])("[CS4] the schema %j is checked without another document", (value) => {
    expect(isSelfContained(JSON.stringify(value))).toBe(true);
  });

  test.each([
    [{ $ref: METADATA }],
    [{ properties: { a: { anyOf: [{ $ref: "other.json" }] } }, $id: METADATA }],
    [{ $dynamicRef: METADATA }],
    [{ $schema: METADATA }],
    [{ properties: { a: { $schema: "https://json-schema.org/draft/evil" } } }],
    [{ $ref: "file:///proc/self/environ" }],
  ])("[CS4] the schema %j refers to another document", (value) => {
    expect(isSelfContained(JSON.stringify(value))).toBe(false);
  });

  test("[CS4] a schema that cannot be read, or nests very deeply, counts as one that refers to another document", () => {
    expect(isSelfContained("{")).toBe(false);
    expect(isSelfContained(`{"\\u0024ref":"${METADATA}"}`)).toBe(false);
    expect(isSelfContained(`${'{"not":'.repeat(5_000)}{"$ref":"${METADATA}"}${"}".repeat(5_000)}`)).toBe(false);
  });
});

describe("a chart for Helm", () => {
  test("[CS3] the archive for Helm holds the files of the chart, and nothing but files", async () => {
    const original = packedChart("web", "1.0.0", { [`templates/${"deep/".repeat(25)}a.yaml`]: "a: 1" }).archive;
    const { archive, refersOutside } = await helmChart(original);
    expect(refersOutside).toBe(false);
    expect(await unpackChart(archive)).toEqual(await unpackChart(original));
    expect((await chartFiles(archive, ["values.yaml"])).get("values.yaml")?.toString()).toContain("replicaCount");
  });

  test("[CS4] a chart for Helm is searched for schemas, also in charts within, packed or not", async () => {
    const [outside, inside] = [schema({ $ref: METADATA }), schema({ $ref: "#" })];
    expect((await helmChart(packedChart("web", "1.0.0", inside).archive)).refersOutside).toBe(false);
    expect((await helmChart(packedChart("web", "1.0.0", outside).archive)).refersOutside).toBe(true);
    const beside = { "charts/inner/values.schema.json": outside["values.schema.json"] ?? "" };
    expect((await helmChart(packedChart("web", "1.0.0", beside).archive)).refersOutside).toBe(true);

    const content = packedChart("inner", "1.0.0", outside).archive;
    const outer = [
      { path: "web/Chart.yaml", content: Buffer.from("name: web\nversion: 1.0.0\n") },
      { path: "web/charts/inner-1.0.0.tgz", content },
    ];
    expect((await helmChart(await archiveOf(outer))).refersOutside).toBe(true);
  });

  test.each([
    ["leads out of its folder", "web/../../etc/passwd"],
    ["is another one for programs that know backslashes", "web\\values.schema.json"],
  ])("[CS3] a chart is refused where a path %s", async (_, path) => {
    const archive = await archiveOf([{ path, content: Buffer.from("x") }]);
    await expect(helmChart(archive)).rejects.toThrow(ArchiveProblem);
  });

  test("[CS3] a chart is refused where charts nest too deeply", async () => {
    let content = packedChart("web", "1.0.0").archive;
    for (let depth = 0; depth < 6; depth++) content = await archiveOf([{ path: "web/charts/web.tgz", content }]);
    await expect(helmChart(content)).rejects.toThrow("charts nest too deeply in it");
  });
});
