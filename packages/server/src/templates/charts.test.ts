import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { stringify } from "yaml";
import type { Fetch } from "../outbound/fetch.adapter.ts";
import { packedChart, tarOf } from "./chart.fixture.ts";
import { ArchiveProblem, chartFiles } from "./chart-archive.ts";
import { ChartUnknown } from "./chart-source.ts";
import { newestFirst, newestStable } from "./chart-version.ts";
import { createCharts } from "./charts.adapter.ts";
import { entriesOf, IndexProblem, parseEntry } from "./helm-index.ts";
import { createReaders } from "./readers.adapter.ts";

describe("versions", () => {
  test("[TP34] are in the order of Semantic Versioning", () => {
    const order = ["1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1"];
    const ascending = [...order, "1.0.0", "v1.2", "1.10.0"];
    fc.assert(
      fc.property(fc.shuffledSubarray(ascending, { minLength: ascending.length }), (shuffled) => {
        expect(newestFirst([...shuffled, "not a version"])).toEqual(ascending.toReversed());
      }),
    );
  });

  test("[TP34] are stable first of all, and the newest where none is", () => {
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

  test("[TP32] is read in part, with the same outcome as in whole, in every layout", () => {
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

  test("[TP35] that is none is a problem", () => {
    expect(() => [...entriesOf(Buffer.from("hello"), "web")]).toThrow(IndexProblem);
    expect(() => [...entriesOf(Buffer.from("{"), "web")]).toThrow(IndexProblem);
    expect(() => [...entriesOf(Buffer.from("{}"), "web")]).toThrow(IndexProblem);
    expect(parseEntry("version: &v [*v]")).toBeNull();
    expect(parseEntry("version: 1.0.0")).toBeNull();
  });

  test("[TP32] of tens of megabytes is read at once", () => {
    const other = Array.from({ length: 200_000 }, (_, count) => `  - version: 1.0.${count}\n    urls: [x]\n`).join("");
    const index = `entries:\n  other:\n${other}  web:\n  - version: 2.0.0\n    urls: [y]\n`;
    expect([...entriesOf(Buffer.from(index), "web")].map(parseEntry)).toEqual([
      { version: "2.0.0", urls: ["y"], digest: null },
    ]);
  });
});

describe("an archive", () => {
  const files = (tar: Buffer) => chartFiles(gzipSync(tar), ["values.yaml"]);

  test("[TP32] gives the chart's own files, and none of the charts within", async () => {
    const found = await chartFiles(packedChart("web", "1.0.0").archive, ["values.yaml", "README.md", "nothing"]);
    expect([...found.keys()].toSorted()).toEqual(["README.md", "values.yaml"]);
    expect(found.get("values.yaml")?.toString()).toContain("replicaCount: 2");
  });

  test("[TP32] may have long names", async () => {
    const path = `${"long/".repeat(30)}name`;
    expect((await files(tarOf({ [`web/${path}`]: "x", "web/values.yaml": "a: 1" }))).size).toBe(1);
  });

  test.each<[string, Buffer, string]>([
    ["is not packed", Buffer.from("hello"), "it is no gzip archive"],
    ["is no tar", gzipSync(Buffer.alloc(1024, "x")), "it is no tar archive"],
    ["breaks off", gzipSync(tarOf({ "web/a": "x".repeat(5000) }).subarray(0, 1024)), "it breaks off"],
    ["unpacks to too much", gzipSync(tarOf({ "web/a": "x".repeat(65 * 1024 * 1024) })), "it unpacks to too much"],
    [
      "holds too many files",
      gzipSync(tarOf(Object.fromEntries(Array.from({ length: 10_001 }, (_, count) => [`web/${count}`, ""])))),
      "it holds too many files",
    ],
    ["nests too deeply", gzipSync(tarOf({ [`web/${"d/".repeat(40)}x`]: "" })), "its folders nest too deeply"],
  ])("[TP37] that %s is refused", async (_, archive, problem) => {
    await expect(chartFiles(archive, ["values.yaml"])).rejects.toThrow(new ArchiveProblem(problem));
  });
});

describe("a hostile repository", () => {
  test("[TP62] keeps nobody waiting with its index", async () => {
    const hostile = Array.from(
      { length: 20 },
      (_, version) => `  - ${"}".repeat(60_000)}\n    version: 1.0.${version}\n`,
    );
    const index = Buffer.from(`entries:\n  web:\n${hostile.join("")}`);
    const fetch: Fetch = async (url) => ({ status: 200, headers: {}, body: index, url });
    const startedAt = process.threadCpuUsage();
    const reading = createCharts(fetch, () => new Date(0), createReaders()).inspect(
      "somebody",
      "https://a.test",
      "web",
    );
    await expect(reading).rejects.toThrow(ChartUnknown);
    const { user, system } = process.threadCpuUsage(startedAt);
    expect((user + system) / 1000).toBeLessThan(200);
  });

  test("[TP63] is asked for a few charts of one caller at a time", async () => {
    let asked = 0;
    const never: Fetch = () => {
      asked++;
      return new Promise(() => undefined);
    };
    const charts = createCharts(never, () => new Date(0), createReaders());
    for (let version = 0; version < 10; version++)
      void charts.inspect("hostile", "https://a.test", "web", `${version}`);
    await expect(charts.inspect("hostile", "https://a.test", "web", "10")).rejects.toMatchObject({
      kind: "rate_limited",
    });
    expect(asked).toBe(2);
    void charts.inspect("other", "https://a.test", "web", "11");
    await vi.waitFor(() => expect(asked).toBe(3));
  });
});

describe("what was read of a chart", () => {
  const HOUR_MS = 60 * 60 * 1000;
  const { archive } = packedChart("web", "1.0.0");
  const index = "entries:\n  web:\n  - { version: 1.0.0, urls: [web.tgz] }\n";

  test("[TP38] is kept for an hour, and asked for once by many at a time", async () => {
    let now = 0;
    let fetched = 0;
    const fetch: Fetch = async (url) => {
      fetched++;
      return { status: 200, headers: {}, body: url.endsWith("index.yaml") ? Buffer.from(index) : archive, url };
    };
    const charts = createCharts(fetch, () => new Date(now), createReaders());
    const read = () => charts.inspect("somebody", "https://charts.test", "web");
    await Promise.all([read(), read(), read()]);
    now = HOUR_MS - 1;
    await read();
    expect(fetched).toBe(2);
    now = HOUR_MS;
    await read();
    expect(fetched).toBe(4);
  });
});
