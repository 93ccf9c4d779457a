import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Client } from "../../packages/client/src/index.ts";
import { BACK_WITHIN_MS, changesArrive, type Installation, install } from "./installation.ts";
import { type Heard, type Load, listen, PATIENT, signedIn, startLoad } from "./load.ts";

const SOON = { timeout: 60_000, interval: 100 };
const STREAMS = 4;

interface Fault {
  readonly name: string;
  /** Whether connections of clients to the servers break by it. */
  readonly breaksStreams: boolean;
  readonly client?: Parameters<typeof signedIn>[1];
  /** Causes it, and returns when the operators were back, in milliseconds since it began. */
  cause(): Promise<number>;
}

/** What is asked for after every fault, whatever it was. */
async function holdsAfter(fault: Fault, installation: Installation): Promise<void> {
  // The usual client, unless the fault says otherwise.
  const client = await signedIn(installation.url, fault.client ?? {});
  // The load balancer gives each process its share of them.
  const streams: Heard[] = [];
  for (let nth = 0; nth < STREAMS; nth++) streams.push(await listen(client));
  const load = startLoad(client, fault.name, installation.clusters);
  await vi.waitFor(() => expect(load.acknowledged.size).toBeGreaterThan(20), SOON);
  const rate = load.rate();
  const backMs = await fault.cause();
  const arriveMs = await changesArrive(installation.clusters, client);
  const before = load.acknowledged.size;
  await vi.waitFor(() => expect(load.acknowledged.size).toBeGreaterThan(before + 20), SOON);
  await load.stop();

  expect(load.failures, `of ${load.sent()} requests. The servers say:\n${installation.logged()}`).toEqual([]);
  expect(backMs).toBeLessThan(BACK_WITHIN_MS);
  expect(arriveMs).toBeLessThan(BACK_WITHIN_MS);
  await isStored(load, client);
  const acknowledged = [...load.acknowledged.keys()];
  for (const heard of streams) {
    await vi.waitFor(() => expect(acknowledged.filter((id) => !heard.orgs.includes(id))).toEqual([]), SOON);
    expect(heard.orgs).toHaveLength(new Set(heard.orgs).size);
    expect(heard.gaps()).toBe(0);
  }
  const resumed = streams.reduce((sum, { disconnects }) => sum + disconnects(), 0);
  if (fault.breaksStreams) expect(resumed).toBeGreaterThan(0);
  for (const heard of streams) await heard.leave();
  process.stdout.write(
    `${fault.name}: ${load.sent()} requests, ${rate.toFixed(0)}/s before the fault, 0 failed, ` +
      `operators back after ${(backMs / 1_000).toFixed(1)} s, ${resumed} streams resumed\n`,
  );
}

async function isStored(load: Load, client: Client): Promise<void> {
  const orgs = new Map<string, string>();
  for await (const { id, name } of client.pages("listOrgs", { items_per_page: 100 })) orgs.set(id, name);
  expect([...load.acknowledged].filter(([id, name]) => orgs.get(id) !== name)).toEqual([]);
  const projects = new Set<string>();
  for await (const { id } of client.pages("listProjects", { items_per_page: 100 })) projects.add(id);
  expect([...load.projects].filter((id) => !projects.has(id))).toEqual([]);
}

describe.each([
  ["PostgreSQL alone", false],
  ["Redis", true],
])("two processes with %s, under load", (_, withRedis) => {
  let installation: Installation;
  beforeAll(async () => {
    installation = await install({ withRedis });
  }, 120_000);
  afterAll(() => installation?.stop(), 60_000);

  test.each([0, 1])(
    "[HA1] process %d is killed: nothing acknowledged is lost, no request fails, operators are back within 30 s, no event is missed",
    async (index) => {
      const cause = () => installation.replace(index, "SIGKILL");
      await holdsAfter({ name: `killed ${index}`, breaksStreams: true, cause }, installation);
    },
  );

  test("[HA2] a process is asked to stop: it hands over its operators and streams, and no request fails", async () => {
    const cause = () => installation.replace(0, "SIGTERM");
    await holdsAfter({ name: "drained", breaksStreams: true, cause }, installation);
  });

  if (withRedis)
    test("[HA3] Redis is restarted: nothing is lost and nobody notices", async () => {
      const cause = async () => {
        await installation.redis?.restart();
        return 0;
      };
      await holdsAfter({ name: "redis restarted", breaksStreams: false, cause }, installation);
    });

  test("[HA4] the database fails over to its replica: nothing acknowledged is lost, no request fails, no event is missed", async () => {
    const fault = { name: "failed over", breaksStreams: false, client: PATIENT, cause: () => installation.failOver() };
    await holdsAfter(fault, installation);
  });
});
