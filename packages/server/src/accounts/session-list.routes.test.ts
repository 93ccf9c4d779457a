import { type Following, type Person, startWorld } from "@binnacle/world";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { readableUserAgent } from "./session.ts";

const MINUTE = 60_000;
const NOBODYS = "0198c0de-0000-7000-8000-000000000000";

const world = await startWorld({ env: { BINNACLE_TRUSTED_PROXIES: "127.0.0.1" } });
afterAll(() => world.stop());

const bearer = (token: string, { anyone } = world) => anyone.with({ authorization: `Bearer ${token}` });
const from = (address: string) => world.anyone.with({ "x-forwarded-for": address });

interface Listed {
  readonly id: string;
  readonly current: boolean;
}
const sessionsOf = async ({ api }: Pick<Person, "api">, query = ""): Promise<Listed[]> =>
  (await api.get(`/sessions${query}`)).body.data;

async function currentId({ api }: Pick<Person, "api">): Promise<string> {
  return (await sessionsOf({ api })).find(({ current }) => current)?.id ?? "";
}

async function followed({ api }: Pick<Person, "api">): Promise<Following> {
  const stream = await api.follow("/events/stream");
  onTestFinished(() => stream.leave());
  expect(stream.status).toBe(200);
  return stream;
}

describe("GET /sessions", () => {
  test("[AU49] GET /sessions shows the caller's open sessions, newest first, and which one is current", async () => {
    const person = await world.person();
    world.clock.advance(MINUTE);
    const laptop = from("203.0.113.7").with({ "user-agent": "Ada's \u00a0browser" });
    const later = await world.login(person.username, person.password, laptop);
    const ended = await world.login(person.username, person.password);
    await bearer(ended.token).with({ cookie: ended.cookie }).post("/logout");

    const { status, body } = await bearer(later.token).get("/sessions");
    expect(status).toBe(200);
    expect(body).toMatchObject({ total_count: 2, page: 1, items_per_page: 10, has_more: false });
    const now = world.clock.now();
    expect(body.data[0]).toEqual({
      id: expect.any(String),
      user_id: person.id,
      created_at: now.toISOString(),
      expires_at: new Date(now.getTime() + 7 * 24 * 60 * MINUTE).toISOString(),
      source_address: "203.0.113.7",
      user_agent: "Ada's  browser",
      last_used_at: now.toISOString(),
      last_used_address: "203.0.113.7",
      client_name: null,
      current: true,
    });
    expect(body.data[1]).toMatchObject({ source_address: "127.0.0.1", current: false });
    expect((await sessionsOf(person)).map(({ current }) => current)).toEqual([false, true]);
  });

  test("[AU49] only a superuser lists the sessions of another user", async () => {
    const [ada, bob] = [await world.person(), await world.person()];
    expect(await sessionsOf(world.admin, `?user_id=${ada.id.toUpperCase()}`)).toEqual([
      expect.objectContaining({ user_id: ada.id, current: false }),
    ]);
    expect((await bob.api.get(`/sessions?user_id=${ada.id}`)).status).toBe(403);
    expect((await bob.api.get(`/sessions?user_id=${NOBODYS}`)).status).toBe(403);
    expect((await bob.api.get(`/sessions?user_id=${bob.id}`)).status).toBe(200);
    expect((await world.admin.api.get(`/sessions?user_id=${NOBODYS}`)).body.data).toEqual([]);
    expect((await world.anyone.get("/sessions")).status).toBe(401);
  });

  test("[AU51] a session shows when it last got an access token, to the minute, and a new address at once", async () => {
    const person = await world.person();
    const refresh = (address: string) => from(address).with({ cookie: person.cookie }).post("/refresh");
    const used = async () => (await person.api.get("/sessions")).body.data[0];
    const opened = world.clock.now().toISOString();
    world.clock.advance(MINUTE - 1);
    await refresh("127.0.0.1");
    expect(await used()).toMatchObject({ last_used_at: opened, last_used_address: "127.0.0.1" });
    await refresh("203.0.113.66");
    const stolen = world.clock.now().toISOString();
    expect(await used()).toMatchObject({ last_used_at: stolen, last_used_address: "203.0.113.66" });
    world.clock.advance(MINUTE);
    await refresh("203.0.113.66");
    expect(await used()).toMatchObject({ last_used_at: world.clock.now().toISOString(), source_address: "127.0.0.1" });
  });

  test.each([
    [undefined, null],
    ["", null],
    ["  \u0007\u009b ", null],
    ["Mozilla/5.0 (X11)", "Mozilla/5.0 (X11)"],
    ["curl\u202e\u200b/8\n", "curl /8"],
    ["x".repeat(20_000), "x".repeat(200)],
  ])("[AU51] a session shows of the user agent %j only the readable characters", (header, shown) => {
    expect(readableUserAgent(header)).toBe(shown);
  });
});

describe("DELETE /sessions/{id}", () => {
  test("[AU50] DELETE /sessions/{id} ends the tokens and streams of the session on every replica, and no other session", async () => {
    const person = await world.person();
    const lost = await world.login(person.username, person.password);
    const second = await startWorld({ beside: world });
    onTestFinished(() => second.stop());
    const stream = await followed({ api: bearer(lost.token) });
    const id = await currentId({ api: bearer(lost.token) });

    expect((await person.api.delete(`/sessions/${id.toUpperCase()}`)).status).toBe(204);
    expect(await stream.rest()).toEqual([]);
    for (const replica of [world, second]) {
      expect((await bearer(lost.token, replica).get("/user/me")).status).toBe(401);
      expect((await replica.anyone.with({ cookie: lost.cookie }).post("/refresh")).status).toBe(401);
      expect((await bearer(person.token, replica).get("/user/me")).status).toBe(200);
    }
    expect((await person.api.delete(`/sessions/${id}`)).status).toBe(404);
  });

  test("[AU50] only a superuser who names the user ends the session of another user", async () => {
    const [ada, bob] = [await world.person(), await world.person()];
    const id = await currentId(ada);
    expect((await bob.api.delete(`/sessions/${id}`)).status).toBe(404);
    expect((await bob.api.delete(`/sessions/${id}?user_id=${ada.id}`)).status).toBe(403);
    expect((await world.admin.api.delete(`/sessions/${id}`)).status).toBe(404);
    expect((await world.admin.api.delete(`/sessions/${id}?user_id=${bob.id}`)).status).toBe(404);
    expect((await ada.api.get("/user/me")).status).toBe(200);
    expect((await world.admin.api.delete(`/sessions/${id}?user_id=${ada.id}`)).status).toBe(204);
    expect((await ada.api.get("/user/me")).status).toBe(401);
    expect((await world.anyone.delete(`/sessions/${id}`)).status).toBe(401);
  });
});
