import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { startWorld } from "@binnacle/world";
import { afterAll, expect, test } from "vitest";

const NEW_PASSWORD = "correct horse battery staple";

const world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
afterAll(() => world.stop());

const COMMAND = fileURLToPath(new URL("../binnacle-server.command.ts", import.meta.url));

async function command(username: string, input: string): Promise<{ code: number | null; printed: string }> {
  const production = {
    BINNACLE_ENVIRONMENT: "production",
    BINNACLE_PUBLIC_URL: "https://binnacle.example.com",
    BINNACLE_ADMIN_EMAIL: "admin@binnacle.local",
    BINNACLE_ADMIN_PASSWORD: NEW_PASSWORD,
    BINNACLE_SECRET_KEY: randomBytes(48).toString("base64"),
    BINNACLE_VAULT_KEYS: `k:${randomBytes(32).toString("base64")}`,
  };
  const env = { PATH: process.env["PATH"], ...production, DATABASE_URL: world.databaseUrl };
  const child = spawn(process.execPath, [COMMAND, "password", username], { env });
  child.stdin.end(input);
  const [printed, said, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  return { code, printed: printed + said };
}

test("[CF17] npm run password takes the new password from the standard input and shows it nowhere", async () => {
  const { username } = await world.person();
  const done = await command(username, `${NEW_PASSWORD} of mine\nmore\n`);
  expect(done).toEqual({ code: 0, printed: expect.stringContaining(`${username} has a new password`) });
  expect(done.printed).not.toContain(NEW_PASSWORD);
  await world.login(username, `${NEW_PASSWORD} of mine`);
}, 60_000);

test.each([
  ["a password that everybody knows", "admin", "binnacle\n", "well-known default"],
  ["a password that is too short", "admin", "x7!kQ\n", "must have 8 to 128 characters"],
  ["no password", "admin", "", "must have 8 to 128 characters"],
  ["an unknown user", "nobody-of-this-name", `${NEW_PASSWORD}\n`, 'There is no user "nobody-of-this-name".'],
])(
  "[CF17] npm run password refuses %s",
  async (_, username, input, reason) => {
    expect(await command(username, input)).toEqual({ code: 1, printed: expect.stringContaining(reason) });
  },
  60_000,
);
