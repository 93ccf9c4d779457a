import { ChartUnknown, type Fetch } from "@binnacle/charts";
import { packedChart } from "@binnacle/charts/fixture";
import { describe, expect, test, vi } from "vitest";
import { createCharts } from "./chart-inspection.adapter.ts";
import { createReaders } from "./readers.adapter.ts";

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
    const read = () => charts.inspect("somebody", { repo: "https://charts.test", name: "web" });
    await Promise.all([read(), read(), read()]);
    now = HOUR_MS - 1;
    await read();
    expect(fetched).toBe(2);
    now = HOUR_MS;
    await read();
    expect(fetched).toBe(4);
  });
});

describe("a hostile repository", () => {
  const at = (version?: string) => ({ repo: "https://a.test", name: "web", ...(version ? { version } : {}) });

  test("[TP62] keeps nobody waiting with its index", async () => {
    const hostile = Array.from(
      { length: 20 },
      (_, version) => `  - ${"}".repeat(60_000)}\n    version: 1.0.${version}\n`,
    );
    const index = Buffer.from(`entries:\n  web:\n${hostile.join("")}`);
    const fetch: Fetch = async (url) => ({ status: 200, headers: {}, body: index, url });
    const startedAt = process.threadCpuUsage();
    const reading = createCharts(fetch, () => new Date(0), createReaders()).inspect("somebody", at());
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
    for (let version = 0; version < 10; version++) void charts.inspect("hostile", at(`1.0.${version}`));
    await expect(charts.inspect("hostile", at("1.0.10"))).rejects.toMatchObject({ kind: "rate_limited" });
    expect(asked).toBe(2);
    void charts.inspect("other", at("1.0.11"));
    await vi.waitFor(() => expect(asked).toBe(3));
  });
});
