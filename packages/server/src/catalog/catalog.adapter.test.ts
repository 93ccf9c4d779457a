import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { CatalogProblems, LARGEST_FILE_BYTES, loadCatalog, MOST_FILES } from "./catalog.adapter.ts";
import { ADDON, BUNDLE, catalogFolder, TEMPLATE } from "./catalog.fixture.ts";
import { definitionId } from "./catalog-file.ts";

/** Returns the problems of a catalog with these files. */
async function problemsOf(changes: Record<string, string | null>): Promise<readonly string[]> {
  const folder = await catalogFolder(changes);
  const refusal = await loadCatalog(folder).catch((error: unknown) => error);
  if (!(refusal instanceof CatalogProblems)) throw new Error("The catalog was taken.");
  expect(refusal.message).toContain(refusal.problems.join("\n  - "));
  return refusal.problems;
}

describe("a catalog", () => {
  test("[CG1] the catalog is read with its bundles oldest first and the rest by name", async () => {
    const folder = await catalogFolder({
      "bundles/1.10.yaml": BUNDLE.replace('"1.0"', '"1.10"'),
      "bundles/1.9.yaml": BUNDLE.replace('"1.0"', '"1.9"'),
      "templates/app-two.yaml": TEMPLATE.replace("name: app\n", "name: app-two\n"),
    });
    const { bundles, addons, templates } = await loadCatalog(folder);
    expect(bundles.map(({ bundle }) => bundle)).toEqual(["1.0", "1.9", "1.10"]);
    expect(addons.map(({ id, name }) => [id, name])).toEqual([[definitionId("store"), "store"]]);
    expect(templates.map(({ name }) => name)).toEqual(["app", "app-two"]);
  });

  test("[CG1] a catalog with mistakes in several files is refused with all of them, each with file, line and place", async () => {
    const problems = await problemsOf({
      "bundles/1.0.yaml": BUNDLE.replace("[single-server]", "[single-server, tripled]").replace(
        "argo-cd: 9.1.0",
        "argo-cd: [9.1.0]",
      ),
      "addons/store.yaml": ADDON.replace("category: database", "category: hardware"),
      "templates/app.yaml": TEMPLATE.replace("type: integer", "type: whole"),
    });
    expect(problems).toEqual([
      "bundles/1.0.yaml:6: ha_tiers.1 must be equal to one of the allowed values",
      "bundles/1.0.yaml:13: profiles.gitops.components.argo-cd must be string",
      "addons/store.yaml:3: category must be equal to one of the allowed values",
      "templates/app.yaml:10: parameters.1.type must be equal to one of the allowed values",
    ]);
  });

  test.each([
    ["a key twice", `${BUNDLE}backup: {}\n`, "bundles/1.0.yaml:14: Map keys must be unique"],
    ["two documents", `${BUNDLE}---\na: 1\n`, /^bundles\/1.0.yaml:14: Source contains multiple documents/],
    ["a bracket too few", `${BUNDLE}x: [\n`, /^bundles\/1.0.yaml:\d+: Flow sequence/],
    ["nothing", "", "bundles/1.0.yaml:1: the file must be object"],
  ])("[CG1] a catalog file with %s is refused with the line", async (_, text, problem) => {
    const [first] = await problemsOf({ "bundles/1.0.yaml": text });
    if (typeof problem === "string") expect(first).toBe(problem);
    else expect(first).toMatch(problem);
  });

  test("[CG2] a catalog file with a YAML alias is refused", async () => {
    const text = BUNDLE.replace("{ max_agents: 20 }", "&all { max_agents: 20 }").replace("{ timeout: 5m }", "*all");
    expect(await problemsOf({ "bundles/1.0.yaml": text })).toEqual(["bundles/1.0.yaml:8: aliases are not supported"]);
  });

  test("[CG2] a catalog file may be as large as the limit and no larger", async () => {
    const filled = (bytes: number) => `${BUNDLE}#${"x".repeat(bytes - BUNDLE.length - 1)}`;
    const folder = await catalogFolder({ "bundles/1.0.yaml": filled(LARGEST_FILE_BYTES) });
    await expect(loadCatalog(folder)).resolves.toBeDefined();
    expect(await problemsOf({ "bundles/1.0.yaml": filled(LARGEST_FILE_BYTES + 1) })).toEqual([
      `bundles/1.0.yaml: it is larger than ${LARGEST_FILE_BYTES} bytes`,
    ]);
  });

  test("[CG2] a catalog folder without files or with more than 500 files is refused", async () => {
    const crowd = Object.fromEntries(
      Array.from({ length: MOST_FILES + 1 }, (_, index) => [`addons/${index}.yaml`, ""]),
    );
    expect(await problemsOf({ "bundles/1.0.yaml": null, "addons/store.yaml": null, ...crowd })).toEqual([
      "bundles: there must be 1 to 500 files (there are 0)",
      "addons: there must be 1 to 500 files (there are 501)",
    ]);
  });

  test("[CG2] a catalog folder with a file that is not readable YAML is refused", async () => {
    const folder = await catalogFolder({ "addons/store.yml": ADDON });
    await writeFile(join(folder, "templates/app.yaml"), new Uint8Array([0x6e, 0xff]));
    const refusal = await loadCatalog(folder).catch((error: CatalogProblems) => error.problems);
    expect(refusal).toEqual([
      "addons/store.yml: it is no .yaml file",
      expect.stringMatching(/^templates\/app.yaml: it cannot be read \(.*not valid/),
    ]);
  });

  test("[CG3] a catalog file must have the name of its entry", async () => {
    expect(
      await problemsOf({ "bundles/1.1.yaml": BUNDLE, "addons/shop.yaml": ADDON, "templates/web.yaml": TEMPLATE }),
    ).toEqual([
      "bundles/1.1.yaml:1: the file is called 1.0, so its name is 1.0.yaml",
      "addons/shop.yaml:1: the file is called store, so its name is store.yaml",
      "templates/web.yaml:1: the file is called app, so its name is app.yaml",
    ]);
  });

  test.each([
    ["a version that YAML reads as a number", ['"1.0"', "1.0"], "1: bundle must be string"],
    ["a version that is spelled otherwise", ['"1.0"', '"01.0"'], /^1: bundle must match pattern/],
    ["a pin that YAML reads as a number", ["v1.33.5+k3s1", "1.33"], "3: core.k3s must be string"],
    ["an empty version", ["v1.33.5+k3s1", '""'], /^3: core.k3s must NOT have fewer/],
    ["no timeouts", ["timeouts: { drain: 5m }, ", ""], /limits has no group timeouts/],
    ["no defaults of backups", ["defaults:", "others:"], /backup has no group defaults/],
    ["a component twice", ["argo-cd:", "k3s:"], /profiles.gitops.components.k3s is also in the core/],
    [
      "an operating system twice",
      ["[ubuntu-24.04]", "[ubuntu-24.04, ubuntu-24.04]"],
      /^5: os.supported must NOT have duplicate/,
    ],
    [
      "a setting whose name holds a dot",
      ["max_agents:", "max.agents:"],
      /limits.nodes has none of the forms|is not known/,
    ],
    ["a group without settings", ["{ timeout: 5m }", "{}"], /upgrade.drain has none of the forms/],
  ])("[CG4] a bundle with %s is refused", async (_, [before = "", after = ""], problem) => {
    const [first = ""] = await problemsOf({ "bundles/1.0.yaml": BUNDLE.replace(before, after) });
    const sentence = first.replace("bundles/1.0.yaml:", "");
    if (typeof problem === "string") expect(sentence).toBe(problem);
    else expect(sentence).toMatch(problem);
  });
});
