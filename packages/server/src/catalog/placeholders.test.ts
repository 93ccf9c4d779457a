// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are what is tested
import { fillExportTemplate, fillPlaceholders, helmFullname, placeholdersIn } from "@binnacle/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

const values: Record<string, unknown> = { name: "web", port: 8080, tls: true };
const fill = (value: unknown) => fillPlaceholders(value, (name) => values[name]);

describe("a placeholder", () => {
  test.each([
    ["${port}", 8080],
    ["${tls}", true],
    [":${port}", ":8080"],
    ["${name}-${port}", "web-8080"],
    ["$${name}", "${name}"],
    ["$$${name}", "$${name}"],
    ["$${${name}}", "${web}"],
    ["$5, $name, ${", "$5, $name, ${"],
    ["", ""],
  ])("[CG10] the text %j is filled in as %j", (text, filled) => {
    expect(fill(text)).toBe(filled);
  });

  test("[CG10] placeholders are found and filled at every depth, and not in the names of fields", () => {
    const value = { a: [{ b: "${port}" }, null, 1], "${c}": "x ${name} $${no}" };
    expect([...placeholdersIn(value)]).toEqual(["port", "name"]);
    expect(fill(value)).toEqual({ a: [{ b: 8080 }, null, 1], "${c}": "x web ${no}" });
  });

  test("[CG10] a text without a dollar sign stays as it is", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        const plain = text.replaceAll("$", "");
        expect(fill(plain)).toBe(plain);
      }),
    );
  });

  test("[CG10] reading placeholders in one pass gives the result of a regular expression", () => {
    /** As it reads most simply. On a text of nothing but beginnings it takes the square of its length. */
    const searched = (text: string) =>
      text.replace(/\$\$\{|\$\{([^}]*)\}/g, (_, name: string | undefined) => (name === undefined ? "${" : `<${name}>`));
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("$", "{", "}", "a") }), (text) => {
        const filled = fillPlaceholders(`:${text}`, (name) => `<${name}>`);
        expect(filled).toBe(searched(`:${text}`));
      }),
      { numRuns: 2000 },
    );
  });

  test("[CV41] placeholders are found in time that grows linearly with the text, also where none ends", () => {
    const startedAt = process.threadCpuUsage();
    expect(placeholdersIn("${".repeat(500_000)).size).toBe(0);
    expect(placeholdersIn("$${".repeat(300_000)).size).toBe(0);
    expect(process.threadCpuUsage(startedAt).user).toBeLessThan(1_000_000);
  });

  test("[CG10] any text can be written literally by escaping its placeholders", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("$", "{", "}", "a") }), (text) => {
        expect(fill(text.replaceAll("${", () => "$${"))).toBe(text);
      }),
    );
  });
});

describe("an exported text", () => {
  const facts = {
    release: "db",
    namespace: "shop",
    chart: "postgres",
    values: { auth: { user: "app", port: 5432, list: [1] } },
    exports: { password: "p@ss/word" },
  };

  test.each([
    ["${fullname}.${namespace}.svc", "db-postgres.shop.svc"],
    ["${release}", "db"],
    ["${values.auth.user}:${values.auth.port}", "app:5432"],
    ["${exports.password}", "p@ss/word"],
    ["a://${exports.password|uri}@", "a://p%40ss%2Fword@"],
    ["$${release}", "${release}"],
  ])("[CG15] the exported text %j is %j", (template, text) => {
    expect(fillExportTemplate(template, facts)).toBe(text);
  });

  test.each([
    "${exports.host}",
    "x${values.auth.name}",
    "${values.auth}",
    "${values.auth.list}",
    "${exports.constructor}",
  ])("[CG15] the exported text %j is not known yet", (template) => {
    expect(fillExportTemplate(template, facts)).toBeNull();
  });

  test.each([
    ["db", "postgres", "db-postgres"],
    ["my-postgres", "postgres", "my-postgres"],
    ["postgres", "postgres", "postgres"],
    ["x".repeat(63), "postgres", "x".repeat(63)],
    ["x".repeat(62), "postgres", "x".repeat(62)],
    ["x".repeat(60), "postgres", `${"x".repeat(60)}-po`],
  ])("[CG15] the Helm release %s of the chart %s has the full name %s", (release, chart, fullname) => {
    expect(helmFullname(release, chart)).toBe(fullname);
  });
});
