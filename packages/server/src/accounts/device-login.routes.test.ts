import { type Client, type Person, startWorld } from "@binnacle/world";
import { afterAll, describe, expect, test } from "vitest";

const SECOND = 1_000;
const DAY = 24 * 60 * 60 * SECOND;

const world = await startWorld({ env: { BINNACLE_PUBLIC_URL: "https://binnacle.example.com/" } });
afterAll(() => world.stop());

const WANTED = { client_name: "binnacle on laptop", requested_scopes: ["clusters:read", "bundles:read"] };

interface Started {
  readonly device_code: string;
  readonly user_code: string;
}

const start = async (): Promise<Started> => (await world.anyone.post("/auth/cli/device", WANTED)).body;
const decide = (api: Client, user_code: string, approved: boolean) =>
  api.post("/auth/cli/device/approval", { user_code, approved });
const ask = ({ device_code }: Started) => world.anyone.post("/auth/cli/device/token", { device_code });
const refusedWith = (error: string) => ({ status: 400, body: { error } });

async function approvedBy({ api }: Person): Promise<Started> {
  const device = await start();
  expect((await decide(api, device.user_code, true)).status).toBe(204);
  return device;
}

describe("POST /auth/cli/device", () => {
  test("[CT20] POST /auth/cli/device gives anyone a device code and a user code, with the page to open and the lifetime", async () => {
    const { status, body } = await world.anyone.post("/auth/cli/device", WANTED);
    expect(status).toBe(200);
    expect(body).toEqual({
      device_code: expect.stringMatching(/^[\w-]{43}$/),
      user_code: expect.stringMatching(/^[A-Z]{4}-[A-Z]{4}$/),
      verification_uri: "https://binnacle.example.com/device",
      verification_uri_complete: `https://binnacle.example.com/device?user_code=${body.user_code}`,
      expires_in: 600,
      interval: 5,
    });
  });

  test("[CT20] POST /auth/cli/device without a name or with unknown scopes is a 422", async () => {
    const empty = await world.anyone.post("/auth/cli/device", {});
    expect(empty.status).toBe(422);
    const fields = empty.body.detail.map(({ loc }: { loc: string[] }) => loc[1]);
    expect(fields.sort()).toEqual(["client_name", "requested_scopes"]);
    for (const requested_scopes of [[], ["everything"]]) {
      expect((await world.anyone.post("/auth/cli/device", { ...WANTED, requested_scopes })).status).toBe(422);
    }
  });
});

describe("POST /auth/cli/device/approval", () => {
  test("[CT22] POST /auth/cli/device/approval needs a signed-in user and a decision", async () => {
    const { user_code } = await start();
    expect((await decide(world.anyone, user_code, true)).status).toBe(401);
    expect((await world.admin.api.post("/auth/cli/device/approval", { user_code })).status).toBe(422);
  });

  test("[CT21] POST /auth/cli/device/approval accepts the user code in lower case and with a space instead of the dash", async () => {
    const { user_code } = await start();
    const typed = user_code.toLowerCase().replace("-", " ");
    expect((await decide(world.admin.api, typed, true)).status).toBe(204);
  });

  test("[CT22] a device is decided once: a user code that is decided, expired or unknown is a 404", async () => {
    const [approved, denied, expired] = [await start(), await start(), await start()];
    const { api } = await world.person();
    expect((await decide(api, approved.user_code, true)).status).toBe(204);
    expect((await decide(api, denied.user_code, false)).status).toBe(204);
    world.clock.advance(600 * SECOND);
    for (const code of [approved.user_code, denied.user_code, expired.user_code, "ZZZZ-ZZZZ"]) {
      expect((await decide(api, code, true)).status).toBe(404);
    }
  });

  test("[CT22] of two decisions on one device made at once, one is a 204 and the other a 404", async () => {
    const device = await start();
    const answers = await Promise.all([true, false].map((is) => decide(world.admin.api, device.user_code, is)));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 404]);
  });
});

describe("POST /auth/cli/device/token", () => {
  test("[CT23] [CT24] [CT27] a device polls for a decision, is told to slow down, and then gets a CLI token of the user who approved", async () => {
    const ada = await world.person();
    const device = await start();
    expect(await ask(device)).toMatchObject(refusedWith("authorization_pending"));
    world.clock.advance(4 * SECOND);
    expect(await ask(device)).toMatchObject(refusedWith("slow_down"));
    await decide(ada.api, device.user_code, true);
    world.clock.advance(9 * SECOND);
    expect(await ask(device)).toMatchObject(refusedWith("slow_down"));
    world.clock.advance(15 * SECOND);
    const { status, body } = await ask(device);
    expect(status).toBe(200);
    expect(body).toEqual({ token: expect.stringMatching(/^bnc_[\w-]{43}$/) });

    const cli = world.anyone.with({ authorization: `Bearer ${body.token}` });
    expect([(await cli.get("/orgs")).status, (await cli.get("/version")).status]).toEqual([200, 200]);
    expect((await cli.get("/user/me")).status).toBe(403);
    const { data } = (await ada.api.get("/cli-tokens")).body;
    expect(data).toMatchObject([
      {
        name: WANTED.client_name,
        scopes: WANTED.requested_scopes,
        expires_at: new Date(world.clock.now().getTime() + 90 * DAY).toISOString(),
      },
    ]);
  });

  test("[CT25] a device that was denied gets access_denied, however often it polls", async () => {
    const device = await start();
    await decide(world.admin.api, device.user_code, false);
    expect(await ask(device)).toMatchObject(refusedWith("access_denied"));
    expect(await ask(device)).toMatchObject(refusedWith("access_denied"));
  });

  test("[CT26] a device whose code is expired, claimed or unknown gets expired_token, whatever was decided", async () => {
    const ada = await world.person();
    const [pending, approved, claimed] = [await start(), await approvedBy(ada), await approvedBy(ada)];
    expect((await ask(claimed)).status).toBe(200);
    expect(await ask(claimed)).toMatchObject(refusedWith("expired_token"));
    world.clock.advance(600 * SECOND);
    const unknown = { device_code: "unknown", user_code: "" };
    for (const device of [pending, approved, unknown])
      expect(await ask(device)).toMatchObject(refusedWith("expired_token"));
  });

  test("[CT26] POST /auth/cli/device/token with a device code of the wrong form is a 422", async () => {
    for (const body of [{}, { device_code: "" }, { device_code: "x".repeat(201) }, { device_code: 1 }]) {
      expect((await world.anyone.post("/auth/cli/device/token", body)).status).toBe(422);
    }
  });

  test("[CT27] a device that polls several times at once gets one CLI token", async () => {
    const ada = await world.person();
    const device = await approvedBy(ada);
    const answers = await Promise.all(Array.from({ length: 5 }, () => ask(device)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400]);
    expect((await ada.api.get("/cli-tokens")).body.total_count).toBe(1);
  });

  test("[CT29] an approved device gets no CLI token once the user who approved it is deleted", async () => {
    const ada = await world.person();
    const device = await approvedBy(ada);
    expect((await ada.api.delete(`/user/${ada.id}`)).status).toBe(204);
    expect(await ask(device)).toMatchObject(refusedWith("expired_token"));
  });
});
