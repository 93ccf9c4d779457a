import { ChartUnknown, type Fetch } from "@binnacle/charts";
import { packedChart } from "@binnacle/charts/fixture";
import { afterEach, describe, expect, test, vi } from "vitest";
import { connectRedisCache, NO_SHARED_CACHE, type SharedCache } from "../bus/shared-cache.adapter.ts";
import { newId } from "../id.adapter.ts";
import { createCharts } from "./chart-inspection.adapter.ts";
import { createReaders } from "./readers.adapter.ts";

describe("what was read of a chart", () => {
  const HOUR_MS = 60 * 60 * 1000;
  const { archive } = packedChart("web", "1.0.0");
  const index = "entries:\n  web:\n  - { version: 1.0.0, urls: [web.tgz] }\n";

  test("[TP38] what was read of a chart is kept for an hour, and many callers at a time cause one read", async () => {
    let now = 0;
    let fetched = 0;
    const fetch: Fetch = async (url) => {
      fetched++;
      return { status: 200, headers: {}, body: url.endsWith("index.yaml") ? Buffer.from(index) : archive, url };
    };
    const charts = createCharts(fetch, () => new Date(now), createReaders(), NO_SHARED_CACHE);
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

const REDIS_URL = process.env["REDIS_URL"] ?? "";
if (!REDIS_URL)
  process.stderr.write("\n!!! SKIPPED: shared charts are not tested, because REDIS_URL is not set. !!!\n\n");

/** A repository that counts its requests, under an address of its own. */
function countedRepository() {
  const { archive } = packedChart("web", "1.0.0");
  const index = "entries:\n  web:\n  - { version: 1.0.0, urls: [web.tgz] }\n";
  const repository = { url: `https://${newId()}.test`, requests: 0 };
  const fetch: Fetch = async (url) => {
    repository.requests++;
    return { status: 200, headers: {}, body: url.endsWith("index.yaml") ? Buffer.from(index) : archive, url };
  };
  return { repository, fetch };
}

describe("charts that replicas share", () => {
  const opened: SharedCache[] = [];
  afterEach(() => Promise.all(opened.splice(0).map((cache) => cache.close())));
  const log = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };

  async function replica(fetch: Fetch, nowMs = () => 0) {
    const cache = connectRedisCache(REDIS_URL, log);
    opened.push(cache);
    const probe = newId();
    await vi.waitFor(async () => {
      await cache.set(probe, "up", 10);
      expect(await cache.get(probe)).toBe("up");
    });
    return createCharts(fetch, () => new Date(nowMs()), createReaders(), cache);
  }

  test.runIf(REDIS_URL)("[TP126] a chart is read once in an hour for all replicas that share Redis", async () => {
    const { repository, fetch } = countedRepository();
    let now = 0;
    const [one, other] = [await replica(fetch, () => now), await replica(fetch, () => now)];
    const chart = { repo: repository.url, name: "web" };
    const read = await one.inspect("somebody", chart);
    now = 30 * 60 * 1000;
    expect(await other.inspect("somebody", chart)).toEqual(read);
    expect(repository.requests).toBe(2);
    // What another replica has read half an hour ago is not kept for an hour more.
    now = 60 * 60 * 1000;
    await other.inspect("somebody", chart);
    expect(repository.requests).toBe(4);
  });

  test.runIf(REDIS_URL)("[TP127] a chart in Redis is not shown to callers with other credentials", async () => {
    const { repository, fetch } = countedRepository();
    const [one, other] = [await replica(fetch), await replica(fetch)];
    const chart = { repo: repository.url, name: "web" };
    await one.inspect("somebody", chart, { stamp: "theirs", credentials: [] });
    await other.inspect("somebody", chart, { stamp: "ours", credentials: [] });
    await other.inspect("somebody", chart);
    expect(repository.requests).toBe(6);
  });

  test("[TP128] a chart is read from the repository while Redis is away", async () => {
    const { repository, fetch } = countedRepository();
    const cache = connectRedisCache("redis://127.0.0.1:1", log);
    opened.push(cache);
    const charts = createCharts(fetch, () => new Date(0), createReaders(), cache);
    await charts.inspect("somebody", { repo: repository.url, name: "web" });
    expect(repository.requests).toBe(2);
  });
});

describe("a hostile repository", () => {
  const at = (version?: string) => ({ repo: "https://a.test", name: "web", ...(version ? { version } : {}) });

  test("[TP62] the index of a hostile repository takes little time of the main thread", async () => {
    const hostile = Array.from(
      { length: 20 },
      (_, version) => `  - ${"}".repeat(60_000)}\n    version: 1.0.${version}\n`,
    );
    const index = Buffer.from(`entries:\n  web:\n${hostile.join("")}`);
    const fetch: Fetch = async (url) => ({ status: 200, headers: {}, body: index, url });
    const startedAt = process.threadCpuUsage();
    const reading = createCharts(fetch, () => new Date(0), createReaders(), NO_SHARED_CACHE).inspect("somebody", at());
    await expect(reading).rejects.toThrow(ChartUnknown);
    const { user, system } = process.threadCpuUsage(startedAt);
    expect((user + system) / 1000).toBeLessThan(200);
  });

  test("[TP63] a hostile repository is asked for only a few charts of one caller at a time", async () => {
    let asked = 0;
    const never: Fetch = () => {
      asked++;
      return new Promise(() => undefined);
    };
    const charts = createCharts(never, () => new Date(0), createReaders(), NO_SHARED_CACHE);
    for (let version = 0; version < 10; version++) void charts.inspect("hostile", at(`1.0.${version}`));
    await expect(charts.inspect("hostile", at("1.0.10"))).rejects.toMatchObject({ kind: "rate_limited" });
    expect(asked).toBe(2);
    void charts.inspect("other", at("1.0.11"));
    await vi.waitFor(() => expect(asked).toBe(3));
  });
});
