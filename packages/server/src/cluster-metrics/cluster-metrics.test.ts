import { startWorld, type World } from "@binnacle/world";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openShop } from "../apps/app.fixture.ts";
import { Fault } from "../fault.ts";
import { metricsOf } from "./cluster-metrics.store.ts";
import { type StoredSample, sampleSeries, startOfRange } from "./series.ts";

const amounts = (cpu_cores: number) => ({ cpu_cores, memory_bytes: cpu_cores * 1000 });
const at = (minute: number) => new Date(minute * 60_000);
const labelled = ({ series }: ReturnType<typeof sampleSeries>) => series.map(({ name, labels }) => [name, labels]);

describe("series of kept samples", () => {
  const samples: StoredSample[] = [
    { at: at(1), used: amounts(1), capacity: amounts(8), components: [] },
    {
      at: at(2),
      used: null,
      capacity: amounts(8),
      components: [
        { component: "web", ...amounts(1) },
        { component: "db", ...amounts(2) },
      ],
    },
  ];

  test("[RQ10] the series of a cluster from stored samples are the used and the total CPU and memory", () => {
    const found = sampleSeries(samples, null);
    expect(labelled(found)).toEqual([
      ["cpu_used", {}],
      ["memory_used", {}],
      ["cpu_capacity", {}],
      ["memory_capacity", {}],
    ]);
    expect(found.series[0]?.points).toEqual([[60, 1]]);
    expect(found.series[3]?.points).toEqual([
      [60, 8000],
      [120, 8000],
    ]);
  });

  test("[RQ10] the series of an app from stored samples are its sum, its components and the cluster's capacity", () => {
    const found = sampleSeries(samples, "shop");
    expect(labelled(found).map(([, labels]) => labels)).toEqual([
      { app: "shop" },
      { app: "shop" },
      { app: "shop", component: "db" },
      { app: "shop", component: "db" },
      { app: "shop", component: "web" },
      { app: "shop", component: "web" },
      {},
      {},
    ]);
    expect(found.series[0]).toMatchObject({ name: "cpu_used", unit: "cores", points: [[120, 3]] });
  });
});

test.each([
  ["12:05:00.000", 60, "12:04:00.000"],
  ["12:05:59.999", 60, "12:04:00.000"],
  ["12:05:30.000", 3600, "11:05:00.000"],
])("[RQ13] at %s a range of %d seconds of metrics begins at %s", (now, rangeSeconds, begins) => {
  const time = (clock: string) => new Date(`2026-01-31T${clock}Z`);
  expect(startOfRange(time(now), rangeSeconds)).toEqual(time(begins));
});

describe("metrics", () => {
  let world: World;
  let clusterId: string;
  beforeAll(async () => {
    world = await startWorld();
  });
  afterAll(() => world?.stop());
  beforeEach(async () => {
    clusterId = (await openShop(world)).cluster;
  });

  const unavailable = async () => {
    throw new Fault("unavailable", "away");
  };
  const read = (metrics: () => Promise<{ step: string; series: [] } | null>, app = "web") =>
    metricsOf(
      { db: world.database.kysely, clock: world.clock.now, operators: { metrics } },
      { clusterId, app: { namespace: "shop", name: app }, rangeSeconds: 3600 },
    );

  async function keep(minutesAgo: number, cpu: number): Promise<void> {
    const components = ["web", "other"].map((app) => ({ namespace: "shop", app, component: "c", ...amounts(cpu) }));
    await world.database.kysely
      .insertInto("metric_samples")
      .values({
        cluster_id: clusterId,
        at: new Date(world.clock.now().getTime() - minutesAgo * 60_000),
        sample: JSON.stringify({ used: null, capacity: amounts(8), components }),
      })
      .execute();
  }

  test("[RQ9] metrics come from the cluster if a monitoring system there stores them", async () => {
    await keep(1, 1);
    expect(await read(async () => ({ step: "15s", series: [] }))).toEqual({ step: "15s", series: [] });
  });

  test("[RQ9] metrics otherwise come from stored samples of the range, with or without an operator", async () => {
    await keep(61, 7);
    await keep(2, 1);
    for (const operator of [unavailable, async () => null]) {
      const { series } = await read(operator);
      expect(series[0]).toMatchObject({ name: "cpu_used", labels: { app: "web" } });
      expect(series[0]?.points.map(([, value]) => value)).toEqual([1]);
    }
  });

  test("[RQ9] metrics without any stored samples are a 503", async () => {
    await expect(read(unavailable)).rejects.toMatchObject({ kind: "unavailable" });
    await expect(read(async () => null)).rejects.toMatchObject({ kind: "unavailable" });
  });

  test("[RQ4] metrics that the operator refuses are refused, although samples are stored", async () => {
    await keep(1, 1);
    const refused = read(async () => {
      throw new Fault("bad_gateway", "no");
    });
    await expect(refused).rejects.toMatchObject({ kind: "bad_gateway" });
  });
});
