import { startWorld, type World } from "@binnacle/world";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newId } from "../id.adapter.ts";

const REDIS_URL = process.env["REDIS_URL"] ?? "";
if (!REDIS_URL)
  process.stderr.write("\n!!! SKIPPED: events across replicas are not tested, because REDIS_URL is not set. !!!\n\n");

describe.runIf(REDIS_URL)("two replicas, with REDIS_URL", () => {
  let here: World;
  let there: World;

  beforeAll(async () => {
    const env = { REDIS_URL, BINNACLE_ROLES: "api" };
    here = await startWorld({ env });
    there = await startWorld({ env, beside: here });
  });
  afterAll(async () => {
    await there?.stop();
    await here?.stop();
  });

  const elsewhere = (token: string) => there.anyone.with({ authorization: `Bearer ${token}` }).follow("/events/stream");

  test("[EV9] what is changed at one is heard at the other", async () => {
    const stream = await elsewhere(here.admin.token);
    const org = await here.org(`Org ${newId()}`);
    expect((await stream.next())?.data).toMatchObject({ action: "org.create", org_id: org });
    stream.leave();
  });

  test("[EV19] a logout at one ends the streams at the other", async () => {
    const person = await here.person();
    const stream = await elsewhere(person.token);
    await person.api.post("/logout", undefined, { headers: { cookie: person.cookie } });
    expect(await stream.rest()).toEqual([]);
  });
});
