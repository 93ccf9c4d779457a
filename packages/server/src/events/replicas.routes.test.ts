import { startWorld, type World } from "@binnacle/world";
import { Redis } from "ioredis";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openShop } from "../apps/app.fixture.ts";
import { newId } from "../id.adapter.ts";

const REDIS_URL = process.env["REDIS_URL"] ?? "";
if (!REDIS_URL)
  process.stderr.write("\n!!! SKIPPED: events over Redis are not tested, because REDIS_URL is not set. !!!\n\n");
const BUSES = [
  ["PostgreSQL alone", {}],
  ["Redis", { REDIS_URL }],
] as const;

describe.each(BUSES.filter(([name]) => name !== "Redis" || REDIS_URL))("two replicas with %s", (_, bus) => {
  let here: World;
  let there: World;

  beforeAll(async () => {
    const env = { ...bus, BINNACLE_ROLES: "api" };
    here = await startWorld({ env });
    there = await startWorld({ env, beside: here });
  });
  afterAll(async () => {
    await there?.stop();
    await here?.stop();
  });

  const elsewhere = (token: string) => there.anyone.with({ authorization: `Bearer ${token}` }).follow("/events/stream");

  /** Those of the bus. What is published until they are open again is lost. */
  async function loseConnections(): Promise<void> {
    const killed = sql`select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'binnacle bus' and datname = current_database()`;
    if (!("REDIS_URL" in bus)) await killed.execute(there.database.kysely);
    else await new Redis(REDIS_URL).call("CLIENT", "KILL", "TYPE", "pubsub");
  }

  test("[EV9] an event of one replica reaches the streams of the other", async () => {
    const stream = await elsewhere(here.admin.token);
    const org = await here.org(`Org ${newId()}`);
    expect((await stream.next())?.data).toMatchObject({ action: "org.create", org_id: org });
    stream.leave();
  });

  test("[EV19] a logout at one replica ends the streams at the other", async () => {
    const person = await here.person();
    const stream = await elsewhere(person.token);
    await person.api.post("/logout", undefined, { headers: { cookie: person.cookie } });
    expect(await stream.rest()).toEqual([]);
  });

  test("[EV1559] the streams of a replica that may have missed messages stay open and get every event", async () => {
    const stream = await elsewhere(here.admin.token);
    await loseConnections();
    const org = await here.org(`Org ${newId()}`);
    expect((await stream.next())?.data).toMatchObject({ action: "org.create", org_id: org });
    stream.leave();
  });

  test("[EV4403] the changes of one app at two replicas are told in their order, and each once, also where messages are lost", async () => {
    const shop = await openShop(here);
    const path = shop.path(await shop.app(), "/scale");
    const stream = await elsewhere(here.admin.token);
    const editorThere = there.anyone.with({ authorization: `Bearer ${shop.editor.token}` });
    const made: number[] = [];
    const scaled = async (replicas: number) => {
      const api = replicas % 2 ? shop.editor.api : editorThere;
      const { status } = await api.post(path, { component_name: "web", replicas });
      if (status === 200) made.push(replicas);
    };
    await Promise.all([3, 4, 5, 6, 7].map(scaled));
    await loseConnections();
    await Promise.all([8, 9, 10, 11, 12].map(scaled));
    const seen: { before: number; after: number }[] = [];
    while (seen.length < made.length) {
      const { data } = (await stream.next()) ?? expect.unreachable();
      if (data.action === "app.scale") seen.push(data.changes["web.replicas"]);
    }
    expect(seen.slice(1).map(({ before }) => before)).toEqual(seen.slice(0, -1).map(({ after }) => after));
    expect(seen.map(({ after }) => after).toSorted((one, other) => one - other)).toEqual(
      made.toSorted((one, other) => one - other),
    );
    stream.leave();
  });

  test("[EV3761] a stream is resumed at another replica with every event that it has missed, in order and none twice", async () => {
    const as = (world: World, lastEventId?: string) =>
      world.anyone
        .with({
          authorization: `Bearer ${here.admin.token}`,
          ...(lastEventId ? { "last-event-id": lastEventId } : {}),
        })
        .follow("/events/stream?resumable=true&resource_type=activity");
    const orgs: string[] = [];
    const create = async (world: World) => orgs.push(await world.org(`Org ${newId()}`));
    const first = await as(here);
    await create(here);
    const seen = await first.next();
    first.leave();
    for (const world of [there, here, there]) await create(world);
    const second = await as(there, seen?.id);
    await create(here);
    const heard = [seen?.data.org_id];
    while (heard.length < orgs.length) heard.push((await second.next())?.data.org_id);
    expect(heard).toEqual(orgs);
    second.leave();
  });
});
