import type { OperatorFrames } from "@binnacle/contract";
import { startWorld, type World } from "@binnacle/world";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openShop, type Shop } from "../apps/app.fixture.ts";
import { newId } from "../id.adapter.ts";
import type { Fence } from "./ports.ts";
import { type ListeningSink, listeningSink, registerSession } from "./reports.fixture.ts";

let world: World;
let shop: Shop;
let fence: Fence;
let sink: ListeningSink;

beforeAll(async () => {
  world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
  sink = await listeningSink(world);
  shop = await openShop(world);
  fence = await registerSession(world, shop.cluster);
});
afterAll(() => world?.stop());
beforeEach(() => void [sink.heard(), sink.hinted()]);

describe("builds", () => {
  const build = (facts: Partial<OperatorFrames["build"]> = {}): OperatorFrames["build"] => ({
    type: "build",
    session: newId(),
    namespace: shop.namespace,
    name: "web-build-1",
    source: "shipwright",
    state: "running",
    reason: null,
    message: null,
    image: null,
    started_at: "2026-01-31T09:30:00.000Z",
    finished_at: null,
    ...facts,
  });

  test("[DS27] are announced in the project of their namespace, once for each state", async () => {
    await sink.announceBuild(fence, build());
    await sink.announceBuild(fence, build());
    await sink.announceBuild(fence, build({ state: "succeeded", image: "ghcr.io/shop/web:1" }));
    const about = { type: "build", org_id: shop.org, cluster_id: shop.cluster, project_id: shop.project };
    const resource = { type: "build", id: null, name: "web-build-1", namespace: shop.namespace };
    expect(sink.heard()).toMatchObject([
      { ...about, resource, source: "shipwright", state: "running", started_at: "2026-01-31T09:30:00.000Z" },
      { ...about, resource, state: "succeeded", image: "ghcr.io/shop/web:1" },
    ]);
  });

  test("[DS27] in a namespace of nobody, or of a project on another cluster, are the cluster's alone", async () => {
    const other = await openShop(world);
    for (const namespace of ["kube-system", other.namespace]) await sink.announceBuild(fence, build({ namespace }));
    const heard = sink.heard();
    expect(heard).toMatchObject([{ org_id: shop.org, cluster_id: shop.cluster }, { org_id: shop.org }]);
    for (const event of heard) expect(event).not.toHaveProperty("project_id");
  });

  test("[DS10] of a session that is not the registered one are not", async () => {
    await sink.announceBuild({ ...fence, epoch: 6 }, build({ name: "late" }));
    expect(sink.heard()).toEqual([]);
  });
});

describe("samples", () => {
  const samples = (at: Date, cores = 1): OperatorFrames["samples"] => ({
    type: "samples",
    session: newId(),
    at: at.toISOString(),
    used: { cpu_cores: cores, memory_bytes: 1024 },
    capacity: { cpu_cores: 8, memory_bytes: 4096 },
    components: [{ namespace: shop.namespace, app: "shop", component: "web", cpu_cores: 0.5, memory_bytes: 512 }],
  });
  const kept = async () => {
    const rows = await world.database.kysely
      .selectFrom("metric_samples")
      .selectAll()
      .where("cluster_id", "=", shop.cluster)
      .orderBy("at")
      .execute();
    return rows.map(({ at, sample }) => [at.toISOString(), sample.used?.cpu_cores]);
  };

  test("[DS28] are kept one a minute, the newest, and not from another session or another time", async () => {
    const minuteMs = Math.floor(world.clock.now().getTime() / 60_000) * 60_000;
    const at = (ms: number) => new Date(minuteMs + ms);
    await sink.storeSamples(fence, samples(at(5_000), 1));
    await sink.storeSamples(fence, samples(at(35_000), 2));
    await sink.storeSamples(fence, samples(at(60_000), 3));
    await sink.storeSamples({ ...fence, hubId: newId() }, samples(at(120_000), 4));
    await sink.storeSamples(fence, samples(at(-25 * 3_600_000), 5));
    expect(await kept()).toEqual([
      [at(0).toISOString(), 2],
      [at(60_000).toISOString(), 3],
    ]);
  });
});
