import { startWorld } from "@binnacle/world";
import { afterAll, describe, expect, test } from "vitest";

const secrets: Record<string, string> = {};

/** Everything that accounts do with secrets, right and wrong, done once. */
const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
const ada = await world.person();
const guess = "a guess that may be somebody's password";
await world.anyone.send("POST", "/login", { form: { username: ada.username, password: guess } });
await world.anyone.send("POST", `/login?password=${encodeURIComponent(guess)}`, { form: {} });
const refreshed = await world.anyone.with({ cookie: ada.cookie }).post("/refresh");

const keyed = { headers: { "idempotency-key": "once" } };
const cli = await ada.api.post("/cli-tokens", { name: "laptop", scopes: ["clusters:read"] }, keyed);
const cliApi = world.anyone.with({ authorization: `Bearer ${cli.body.token}` });
await Promise.all([cliApi.get("/orgs"), cliApi.get("/user/me"), cliApi.get(`/nowhere?token=${cli.body.token}`)]);

const wanted = { client_name: "laptop", requested_scopes: ["clusters:read"] };
const device = await world.anyone.post("/auth/cli/device", wanted);
await ada.api.post("/auth/cli/device/approval", { user_code: device.body.user_code, approved: true });
const claimed = await world.anyone.post("/auth/cli/device/token", { device_code: device.body.device_code });

const renewed = "the renewed password";
const renewal = { password: renewed, current_password: ada.password };
await ada.api.patch(`/user/${ada.id}`, { ...renewal, current_password: guess });
await ada.api.patch(`/user/${ada.id}`, { ...renewal, email: world.admin.email });
await ada.api.patch(`/user/${ada.id}`, renewal);

Object.assign(secrets, {
  password: ada.password,
  guess,
  renewed,
  access: ada.token,
  refreshed: refreshed.body.access_token,
  cookie: ada.cookie.slice("refresh_token=".length),
  cli: cli.body.token,
  deviceCode: device.body.device_code,
  claimed: claimed.body.token,
});
afterAll(() => world.stop());

function expectNoneIn(text: string): void {
  for (const [name, secret] of Object.entries(secrets)) {
    expect(secret.length, name).toBeGreaterThan(8);
    expect(text.includes(secret), `${name} is in the clear`).toBe(false);
  }
}

describe("secrets", () => {
  test("[AU15] no password, token or code is in a line of the log", () => {
    expect(world.logged.length).toBeGreaterThan(10);
    expectNoneIn(world.logged.join(""));
  });

  test.each(["users", "sessions", "cli_tokens", "device_logins", "audit_log", "idempotency_keys", "login_tallies"])(
    "[AU15] [CT2] [CT28] no password, token or code is in a row of %s",
    async (table) => {
      const { rows } = await world.database.pool.query(`select row_to_json(kept)::text as row from ${table} kept`);
      expectNoneIn(rows.map(({ row }) => row).join("\n"));
    },
  );
});
