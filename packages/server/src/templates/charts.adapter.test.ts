import type { Fetch } from "@binnacle/charts";
import { packedChart } from "@binnacle/charts/fixture";
import { describe, expect, test } from "vitest";
import { createCharts } from "./charts.adapter.ts";
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
