import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { chartFiles } from "./archive.ts";
import { packedChart, tarOf } from "./chart.fixture.ts";
import { newestFirst, newestStable } from "./chart-version.ts";
import { entriesOf, parseEntry } from "./helm-index.ts";
import { ArchiveProblem, ReadingProblem } from "./problems.ts";
import { createChartReader } from "./pull.adapter.ts";

describe("versions", () => {
  test("[TP34] versions of a chart are in the order of Semantic Versioning", () => {
    const order = ["1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1"];
    const ascending = [...order, "1.0.0", "v1.2", "1.10.0"];
    fc.assert(
      fc.property(fc.shuffledSubarray(ascending, { minLength: ascending.length }), (shuffled) => {
        expect(newestFirst([...shuffled, "not a version"])).toEqual(ascending.toReversed());
      }),
    );
  });

  test("[TP34] the newest stable version of a chart is chosen, or the newest one where none is stable", () => {
    expect(newestStable(["2.0.0-rc.1", "1.0.0"])).toBe("1.0.0");
    expect(newestStable(["2.0.0-rc.1", "2.0.0-rc.2"])).toBe("2.0.0-rc.2");
    expect(newestStable([])).toBeUndefined();
  });
});

describe("an index", () => {
  const entry = fc.record({
    version: fc.constantFrom("1.0.0", "2.0.0", "3.1.4-rc.1"),
    urls: fc.array(fc.webUrl(), { minLength: 1, maxLength: 2 }),
    description: fc.string({ unit: fc.constantFrom("a", " ", "\n", ":", "-", "#", "'", '"') }),
    keywords: fc.array(fc.constantFrom("web:", "- x", "entries:"), { maxLength: 2 }),
  });

  test("[TP32] reading an index in part gives the same entries as reading it whole, in every layout", () => {
    const charts = fc.dictionary(fc.constantFrom("web", "we", "web-2", "0"), fc.array(entry, { maxLength: 3 }));
    const layout = fc.record({
      indentSeq: fc.boolean(),
      indent: fc.constantFrom(2, 4),
      lineWidth: fc.constantFrom(0, 20),
    });
    fc.assert(
      fc.property(charts, layout, (entries, options) => {
        const aliasDuplicateObjects = false;
        const index = stringify({ apiVersion: "v1", entries, generated: "x" }, { ...options, aliasDuplicateObjects });
        fc.pre(!/^entries: \{/m.test(index) && !/^\s+"?web"?: \[/m.test(index));
        const read = (text: string) => [...entriesOf(Buffer.from(text), "web")].map((one) => parseEntry(one));
        const expected = (entries["web"] ?? []).map(({ version, urls }) => ({ version, urls, digest: null }));
        expect(read(index)).toEqual(expected);
        expect(read(JSON.stringify({ entries }))).toEqual(expected);
      }),
      { numRuns: 300 },
    );
  });

  test("[TP35] a text that is not an index is refused, and entries that cannot be read are left out", () => {
    expect(() => [...entriesOf(Buffer.from("hello"), "web")]).toThrow(ReadingProblem);
    expect(() => [...entriesOf(Buffer.from("{"), "web")]).toThrow(ReadingProblem);
    expect(() => [...entriesOf(Buffer.from("{}"), "web")]).toThrow(ReadingProblem);
    expect(parseEntry("version: &v [*v]")).toBeNull();
    expect(parseEntry("version: 1.0.0")).toBeNull();
  });

  test("[TP32] an index of tens of megabytes is read at once", () => {
    const other = Array.from({ length: 200_000 }, (_, count) => `  - version: 1.0.${count}\n    urls: [x]\n`).join("");
    const index = `entries:\n  other:\n${other}  web:\n  - version: 2.0.0\n    urls: [y]\n`;
    expect([...entriesOf(Buffer.from(index), "web")].map(parseEntry)).toEqual([
      { version: "2.0.0", urls: ["y"], digest: null },
    ]);
  });
});

describe("an archive", () => {
  const files = (tar: Buffer) => chartFiles(gzipSync(tar), ["values.yaml"]);

  test("[TP32] an archive gives the chart's own files, and none of the charts within", async () => {
    const found = await chartFiles(packedChart("web", "1.0.0").archive, ["values.yaml", "README.md", "nothing"]);
    expect([...found.keys()].toSorted()).toEqual(["README.md", "values.yaml"]);
    expect(found.get("values.yaml")?.toString()).toContain("replicaCount: 2");
  });

  test("[TP32] an archive of a chart may have long names", async () => {
    const path = `${"long/".repeat(30)}name`;
    expect((await files(tarOf({ [`web/${path}`]: "x", "web/values.yaml": "a: 1" }))).size).toBe(1);
  });

  test.each<[string, Buffer, string]>([
    ["is not packed", Buffer.from("hello"), "it is not a gzip archive"],
    ["is not a tar", gzipSync(Buffer.alloc(1024, "x")), "it is not a tar archive"],
    ["is incomplete", gzipSync(tarOf({ "web/a": "x".repeat(5000) }).subarray(0, 1024)), "it is incomplete"],
    ["unpacks to too much", gzipSync(tarOf({ "web/a": "x".repeat(65 * 1024 * 1024) })), "it unpacks to too much"],
    [
      "holds too many files",
      gzipSync(tarOf(Object.fromEntries(Array.from({ length: 10_001 }, (_, count) => [`web/${count}`, ""])))),
      "it holds too many files",
    ],
    ["nests too deeply", gzipSync(tarOf({ [`web/${"d/".repeat(40)}x`]: "" })), "its folders nest too deeply"],
  ])("[TP37] an archive that %s is refused", async (_, archive, problem) => {
    await expect(chartFiles(archive, ["values.yaml"])).rejects.toThrow(new ArchiveProblem(problem));
  });
});

describe("an index that a stranger wrote", () => {
  const reader = createChartReader();
  const read = (index: string, apart = reader) => apart.index({ index: Buffer.from(index), chart: "web" });

  test("[TP32] an index is read in another thread", async () => {
    const index = "entries:\n  web:\n  - { version: 1.0.0, urls: [a] }\n  - { version: 2.0.0, urls: [b] }\n";
    expect(await read(index)).toEqual({
      versions: ["2.0.0", "1.0.0"],
      version: "2.0.0",
      entry: { version: "2.0.0", urls: ["b"], digest: null },
    });
    expect(await reader.versions({ versions: ["1.0.0"], wanted: "2.0.0" })).toMatchObject({ version: null });
  });

  test("[TP37] reading an index has one deadline for all of its entries", async () => {
    // Each entry is within the limits; all of them together take seconds.
    const entry = `  - { version: 1.0.0, urls: [${"x,".repeat(4000)}] }\n`;
    const index = `entries:\n  web:\n${entry.repeat(2000)}`;
    await expect(read(index, createChartReader(50))).rejects.toThrow(new ReadingProblem("it takes too long to read"));
  });

  test("[TP37] an index without entries is refused in Binnacle's own words", async () => {
    await expect(read("nothing: here")).rejects.toThrow(new ReadingProblem("it has no entries"));
  });
});
