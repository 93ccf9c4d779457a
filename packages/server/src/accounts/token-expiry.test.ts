import { type Person, startWorld, type World } from "@binnacle/world";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import type { Bus } from "../bus/bus.ts";
import type { Event } from "../events/event.ts";
import { logEvents } from "../events/event-log.store.ts";
import { eventOf } from "../events/events.fixture.ts";
import { announceExpiringTokens } from "./token-expiry.store.ts";

const DAY = 24 * 60 * 60_000;

let world: World;
let heard: Event[];
const warn = vi.fn();
beforeEach(async () => {
  heard = [];
  warn.mockClear();
  // The world has no worker of its own, so that only the test announces.
  world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
});
afterEach(() => world.stop());

const bus = { publish: (_topic: string, event: Event) => void heard.push(event) } as unknown as Bus;
const announce = () =>
  announceExpiringTokens({ db: world.database.kysely, bus, clock: world.clock.now, log: { warn } });

async function tokenOf({ api }: Person, expires_in_days: number): Promise<{ id: string; token: string }> {
  return (await api.post("/cli-tokens", { name: "ci", scopes: ["read"], expires_in_days })).body;
}
const about = (id: string) => heard.filter(({ resource }) => resource.id === id);
const entriesOf = (id: string) =>
  world.database.kysely
    .selectFrom("audit_log")
    .selectAll()
    .where("resource_id", "=", id)
    .where("action", "=", "cli_token.expires_soon")
    .execute();

test("[CT38] a CLI token is announced once, 7 days before it expires, as an event, in the audit log and in the server log", async () => {
  const org = await world.org();
  const ada = await world.person({ org });
  const { id, token } = await tokenOf(ada, 8);
  await announce();
  world.clock.advance(DAY - 1);
  await announce();
  expect(about(id)).toEqual([]);

  world.clock.advance(1);
  await announce();
  await announce();
  world.clock.advance(DAY);
  await announce();
  expect(about(id)).toMatchObject([
    { type: "activity", org_id: org, user_id: ada.id, action: "cli_token.expires_soon" },
  ]);
  const [entry, ...more] = await entriesOf(id);
  expect(more).toEqual([]);
  expect(entry).toMatchObject({ org_id: org, actor_id: null, via: "system", changes: { email: ada.email } });
  expect(warn).toHaveBeenCalledOnce();
  expect(JSON.stringify([heard, entry, warn.mock.calls])).not.toContain(token);
});

test("[CT38] several servers that check at once announce an expiring CLI token once", async () => {
  const ada = await world.person({ org: await world.org() });
  const made = await Promise.all(Array.from({ length: 20 }, () => tokenOf(ada, 8)));
  world.clock.advance(DAY);
  await Promise.all(Array.from({ length: 6 }, announce));
  for (const { id } of made) {
    expect(about(id)).toHaveLength(1);
    expect(await entriesOf(id)).toHaveLength(1);
  }
});

test("[CT38] a CLI token that is valid for 7 days or less, expired or revoked is not announced", async () => {
  const ada = await world.person();
  const [short, expired, revoked] = [await tokenOf(ada, 7), await tokenOf(ada, 8), await tokenOf(ada, 9)];
  await ada.api.delete(`/cli-tokens/${revoked.id}`);
  await announce();
  world.clock.advance(8 * DAY);
  await announce();
  for (const { id } of [short, expired, revoked]) expect(about(id)).toEqual([]);
});

test("[CT38] the user of several organizations gets one event about an expiring CLI token, and the administrators of each get one", async () => {
  const { api } = world.admin;
  for (const name of ["One", "Other"]) expect((await api.post("/orgs", { name })).status).toBe(201);
  const { body } = await api.post("/cli-tokens", { name: "ci", scopes: ["read"], expires_in_days: 8 });
  world.clock.advance(DAY);
  await announce();
  const events = about(body.id);
  expect(events.length).toBeGreaterThan(1);
  expect(events.filter(({ user_id }) => user_id !== undefined)).toHaveLength(1);
});

test("[CT38] the running server announces an expiring CLI token to its user and to no other member", async () => {
  const own = await startWorld();
  onTestFinished(() => own.stop());
  const org = await own.org();
  const [ada, bob] = [await own.person({ org }), await own.person({ org })];
  const { id } = (await ada.api.post("/cli-tokens", { name: "ci", scopes: ["read"], expires_in_days: 8 })).body;
  own.clock.advance(DAY);
  const streams = await Promise.all(
    [ada, bob].map(async ({ username, password }) => {
      const { token } = await own.login(username, password);
      const stream = await own.anyone.with({ authorization: `Bearer ${token}` }).follow("/events/stream");
      onTestFinished(() => stream.leave());
      return stream;
    }),
  );
  // The worker of the world does the same. Whichever comes first announces it.
  await announceExpiringTokens({ db: own.database.kysely, bus: own.bus, clock: own.clock.now, log: { warn } });
  const later = { id, type: "activity" as const, time: own.clock.now().toISOString(), org_id: org };
  const heardBy = streams.map((stream) =>
    stream.until(({ data }) => data.action === "cli_token.expires_soon" || data.end),
  );
  await logEvents(own.database.kysely, [eventOf({ ...later, user_id: bob.id, end: true })]);
  const [adas, bobs] = await Promise.all(heardBy);
  expect(adas?.data.resource.id).toBe(id);
  expect(bobs?.data.end).toBe(true);
});
