import type { OperatorFrames } from "@binnacle/contract";
import { startWorld } from "@binnacle/world";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { openShop } from "../apps/app.fixture.ts";
import { newId } from "../id.adapter.ts";
import { listeningSink, registerSession } from "./reports.fixture.ts";

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const sink = await listeningSink(world);
const shop = await openShop(world);
const fence = await registerSession(world, shop.cluster);
afterAll(() => world.stop());
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

  test("[DS27] a build is announced in the project of its namespace, once for each state", async () => {
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

  test("[DS27] a build in a namespace without a project of this cluster is announced on the cluster alone", async () => {
    const other = await openShop(world);
    for (const namespace of ["kube-system", other.namespace]) await sink.announceBuild(fence, build({ namespace }));
    const heard = sink.heard();
    expect(heard).toMatchObject([{ org_id: shop.org, cluster_id: shop.cluster }, { org_id: shop.org }]);
    for (const event of heard) expect(event).not.toHaveProperty("project_id");
  });

  test("[DS10] a build of a session that is not the registered one is not announced", async () => {
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

  test("[DS28] the newest sample of each minute is stored, and none of another session or with a time too far away", async () => {
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
