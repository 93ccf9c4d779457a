import { startWorld, type World } from "@binnacle/world";
import { afterEach, expect, test } from "vitest";

const MINUTE_MS = 60_000;

let world: World | null = null;
afterEach(async () => {
  await world?.stop();
  world = null;
});

test("[EV20] an event stream ends when its access token expires", async () => {
  world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
  const { token } = await world.login("admin", "binnacle");
  const stream = await world.anyone.with({ authorization: `Bearer ${token}` }).follow("/events/stream");
  world.clock.advance(30 * MINUTE_MS);
  expect(await stream.rest()).toEqual([]);
});

test("[EV23] a server that stops ends all event streams and does not wait for their clients", async () => {
  const stopping = await startWorld({ env: { BINNACLE_ROLES: "api", BINNACLE_DRAIN_TIMEOUT_MS: "600000" } });
  const streams = await Promise.all(Array.from({ length: 20 }, () => stopping.admin.api.follow("/events/stream")));
  await stopping.stop();
  for (const stream of streams) expect(await stream.rest()).toEqual([]);
});
