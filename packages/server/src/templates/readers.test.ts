import { gzipSync } from "node:zlib";
import { ArchiveProblem, ChartUnusable, type Fetch, type Given, ReadingProblem } from "@binnacle/charts";
import { packedChart, tarOf } from "@binnacle/charts/fixture";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { NO_SHARED_CACHE } from "../bus/shared-cache.adapter.ts";
import { createCharts } from "./chart-inspection.adapter.ts";
import { askPatterns, createReaders, type Readers } from "./readers.adapter.ts";
import type { READINGS } from "./reading.ts";

const readers = createReaders();
const read = <K extends keyof typeof READINGS>(kind: K, given: Given<typeof READINGS, K>) =>
  readers.read("somebody", kind, given);

/** Keeps the parser busy for longer than anybody would wait. */
const endlessEntries = `  - { version: 1.0.0, urls: [${"x,".repeat(4000)}] }\n`.repeat(5000);
const slowValues = `a: [${"1,".repeat(90_000)}]`;
const endless = () => ({ index: Buffer.from(`entries:\n  web:\n${endlessEntries}`), chart: "web" });

describe("reading apart", () => {
  test("[TP60] a text that is read in another thread gives its content, or its problem", async () => {
    expect(await read("template", "a: [1, b]")).toEqual({ kind: "value", value: { a: [1, "b"] } });
    expect(await read("template", "a: [")).toMatchObject({ kind: "malformed" });
    expect(await read("patterns", [{ pattern: "^a+$", texts: ["aa", "b"] }])).toEqual([
      { problem: null, accepted: [true, false] },
    ]);
    expect(await read("versions", { versions: ["1.0.0", "2.0.0-rc.1"] })).toEqual({
      versions: ["2.0.0-rc.1", "1.0.0"],
      version: "1.0.0",
    });
    expect(await read("templateCatalog", Buffer.from("- a\n- b: 1\n"))).toEqual(["a", { b: 1 }]);
  });

  test("[TP60] reading in another thread ends at a deadline, and other texts are read as usual", async () => {
    const impatient = createReaders({
      template: 50,
      patterns: 50,
      templateCatalog: 50,
      index: 50,
      versions: 50,
      chart: 50,
    });
    const late = impatient.read("somebody", "index", endless());
    await expect(late).rejects.toThrow(new ReadingProblem("it takes too long to read"));
    expect(await read("template", "a: 1")).toEqual({ kind: "value", value: { a: 1 } });
  });

  test.each([
    ["a template", 5_000, () => read("template", `a:\n${endlessEntries}`)],
    ["patterns", 5_000, () => read("patterns", [{ pattern: "(a?){900}b", texts: Array(5000).fill("a".repeat(5000)) }])],
    ["an index", 10_000, () => read("index", endless())],
    ["a chart", 10_000, () => read("chart", packedChart("web", "1.0.0", { "values.yaml": slowValues }).archive)],
  ] as const)("[TP60] reading %s has a deadline of %i ms", async (_, deadlineMs, start) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const earlier = vi.getTimerCount();
    let outcome = "none yet";
    const ended = start().then(
      () => (outcome = "read"),
      ({ message }: Error) => (outcome = message),
    );
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    while (vi.getTimerCount() === earlier) await turn();
    vi.advanceTimersByTime(deadlineMs - 1);
    await turn();
    expect(outcome).toBe("none yet");
    vi.advanceTimersByTime(1);
    await ended;
    expect(outcome).toBe("it takes too long to read");
  });

  test("[TP60] what takes too long to read is invalid where the caller wrote it, and a failure of the repository otherwise", async () => {
    const late: Readers = { read: () => Promise.reject(new ReadingProblem("it takes too long to read")) };
    const parameters = [{ name: "image", type: "string", pattern: "^a$" } as const];
    await expect(askPatterns(late, { id: "somebody" }, parameters)).rejects.toMatchObject({ kind: "invalid" });
    const fetch: Fetch = async (url) => ({ status: 200, headers: {}, body: Buffer.from("entries: {}"), url });
    const charts = createCharts(fetch, () => new Date(0), late, NO_SHARED_CACHE);
    const inspected = charts.inspect("somebody", { repo: "https://a.test", name: "web" });
    await expect(inspected).rejects.toThrow(new ChartUnusable("its index is not usable: it takes too long to read"));
  });

  test("[TP63] the reads of one caller leave a thread to the others", async () => {
    const busy = createReaders({
      template: 20_000,
      patterns: 1,
      templateCatalog: 1,
      index: 4000,
      versions: 1,
      chart: 1,
    });
    const ended: string[] = [];
    const hostile = ["first", "second"].map((name) =>
      busy.read("hostile", "index", endless()).catch((error: Error) => ended.push(`${name}: ${error.message}`)),
    );
    expect(await busy.read("other", "template", "a: 1")).toMatchObject({ kind: "value" });
    expect(ended).toEqual([]);
    await Promise.all(hostile);
    expect(ended).toEqual(["first", "second"].map((name) => `${name}: it takes too long to read`));
  });
});

describe("the YAML of a chart", () => {
  const chart = (files: Record<string, string>) => read("chart", packedChart("web", "1.0.0", files).archive);

  test("[TP37] the YAML of a chart may have the few aliases that people write", async () => {
    const { defaults } = await chart({ "values.yaml": "a: &a { b: 1 }\nc: *a" });
    expect(defaults).toEqual({ a: { b: 1 }, c: { b: 1 } });
    expect((await chart({ "values.yaml": "" })).defaults).toEqual({});
  });

  test.each([
    ["is not YAML", "a: [", "its YAML cannot be read"],
    ["is not a map", "- a", "its YAML is not a map"],
    [
      "is a bomb",
      Array.from({ length: 20 }, (_, n) => `a${n}: &a${n} [${`*a${n - 1},`.repeat(n && 9)}]`).join("\n"),
      "its YAML holds too much",
    ],
    ["nests without end", `a: ${"[".repeat(90_000)}`, "its YAML nests too deeply"],
    ["nests deeply", `a: ${"[".repeat(70)}${"]".repeat(70)}`, "its YAML nests too deeply"],
    ["has too many nodes", `a: [${"1,".repeat(100_000)}]`, "its YAML holds too much"],
    ["says too much by aliases", `a: &a ${"x".repeat(90_000)}\nb: [${"*a, ".repeat(50)}]`, "its YAML holds too much"],
  ])("[TP61] a YAML file of a chart that %s is refused", async (_, text, problem) => {
    await expect(chart({ "values.yaml": text })).rejects.toThrow(new ReadingProblem(problem));
  });

  test("[TP61] the other files of a chart have limits too", async () => {
    const large = `# ${"x".repeat(600_000)}\n`;
    await expect(chart({ "values.yaml": large })).rejects.toThrow(new ArchiveProblem("values.yaml is too large"));
    expect((await chart({ "README.md": large })).readme).toHaveLength(256 * 1024);
    const deep = `{"a":${"[".repeat(100)}${"]".repeat(100)}}`;
    expect(await chart({ "values.schema.json": deep })).toMatchObject({ has_schema: false });
    expect(await chart({ "values.schema.json": `{"a":[${"1,".repeat(60_000)}1]}` })).toMatchObject({
      has_schema: false,
    });
  });

  test("[TP37] an archive that holds no chart is refused", async () => {
    const archive = gzipSync(tarOf({ "web/values.yaml": "a: 1" }));
    await expect(read("chart", archive)).rejects.toThrow(new ArchiveProblem("it holds no chart"));
  });
});

describe("an index", () => {
  test("[TP62] an index is read for one chart, and entries that are of no use are passed over", async () => {
    const index = [
      "entries:",
      "  web:",
      `  - { version: ${"1".repeat(200)}, urls: [x] }`,
      `  - { version: 1.0.0, urls: [${"x".repeat(3000)}] }`,
      `  - { version: 1.1.0, urls: [x], junk: ${"y".repeat(70_000)} }`,
      "  - { version: 1.2.0, urls: [z], digest: abc }",
    ].join("\n");
    expect(await read("index", { index: Buffer.from(index), chart: "web" })).toEqual({
      versions: ["1.2.0"],
      version: "1.2.0",
      entry: { version: "1.2.0", urls: ["z"], digest: "abc" },
    });
  });

  test.each([
    ["has a line without end", `entries:\n  web: ${"x".repeat(2_000_000)}\n`, "it has a line that is too long"],
    [
      "lists too many versions",
      `entries:\n  web:\n${"  - { version: 1, urls: [x] }\n".repeat(10_001)}`,
      "it lists too many versions",
    ],
    ["is too much JSON", `{"entries":{"web":[${"1,".repeat(5_000_000)}1]}}`, "it is too large for JSON"],
  ])("[TP62] an index that %s is refused", async (_, text, problem) => {
    const patient = createReaders({
      template: 1,
      patterns: 1,
      templateCatalog: 1,
      index: 60_000,
      versions: 1,
      chart: 1,
    });
    const reading = patient.read("somebody", "index", { index: Buffer.from(text), chart: "web" });
    await expect(reading).rejects.toThrow(new ReadingProblem(problem));
  });
});
