import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { startWorld, type World } from "@binnacle/world";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { configurationLines, maskerOf } from "./masking.ts";
import { runSupportBundle, supportParts } from "./support-bundle.command.ts";

/** A part of every secret below, and of nothing else. */
const MARK = "hush";
const folder = mkdtempSync(join(tmpdir(), "binnacle-support-"));
afterAll(() => rmSync(folder, { recursive: true }));
const log = join(folder, "server.log");

const SECRETS = {
  BINNACLE_SECRET_KEY: "0123456789-hush-signing-abcdefghijklmnop",
  BINNACLE_VAULT_KEYS: `k1:${Buffer.from("hush hush hush hush hush hush 12").toString("base64")}`,
  BINNACLE_ADMIN_PASSWORD: 'hush"admin\\phrase',
  REDIS_URL: "redis://:hush%2Fredis@127.0.0.1:1/0",
  AWS_SECRET_ACCESS_KEY: "hush-of-aws",
  REGISTRY_PASSWORD: "hush-of-registry",
  OTEL_EXPORTER_OTLP_HEADERS: "x-key=hush-of-collector",
};

let world: World;
let env: Record<string, string>;
beforeAll(async () => {
  world = await startWorld({ env: { BINNACLE_ROLES: "api" } });
  env = {
    ...SECRETS,
    DATABASE_URL: world.databaseUrl,
    BINNACLE_DATA_DIR: folder,
    BINNACLE_PORT: new URL(world.url).port,
    BINNACLE_LOG_LEVEL: "debug",
  };
  await storeSecrets();
});
afterAll(() => world?.stop());

/** A secret at every place of the database that has one, and where one does not belong. */
async function storeSecrets(): Promise<void> {
  const org = await world.org();
  const { api } = await world.person({ org, role: "admin" });
  for (const [path, body] of [
    [
      "credentials",
      {
        name: "aws",
        provider: "aws",
        region: "eu-west-1",
        access_key_id: "AKIAHUSH",
        secret_access_key: "hush-stored",
      },
    ],
    [
      "chart-repositories",
      { name: "charts", url: "https://charts.example.com", username: "u", password: "hush-stored" },
    ],
  ] as const)
    expect([path, (await api.post(`/orgs/${org}/${path}`, body)).status]).toEqual([path, 201]);
  const words = `password=hush-in-words ${Object.values(SECRETS).join(" ")}`;
  await world.database.pool.query(
    `insert into jobs (id, kind, payload, status, run_at, finished_at, error_message, created_at, updated_at)
     values (gen_random_uuid(), 'sweep', '{"token": "hush-payload"}', 'failed', now(), now(), $1, now(), now())`,
    [words],
  );
  writeFileSync(
    log,
    `${JSON.stringify({ msg: words })}\nAuthorization: Bearer hush0123456789\n${words}\nthe last line\n`,
  );
}

const collected = () => supportParts(env, { now: new Date("2026-01-02T03:04:05Z"), logs: [log] });

test("[OP3972] a support bundle has versions, configuration, health, migrations, counts, queue, failures, metrics and logs", async () => {
  const parts = await collected();
  expect([...parts.keys()]).toEqual([
    "about.json",
    "configuration.txt",
    "database.json",
    "migrations.json",
    "tables.json",
    "counts.json",
    "queue.json",
    "failures.json",
    "health.json",
    "metrics.txt",
    `logs${log}`,
  ]);
  const json = (name: string) => JSON.parse(parts.get(`${name}.json`) ?? "");
  expect(json("about")).toMatchObject({
    version: "0.1.0",
    node: process.version,
    collected_at: "2026-01-02T03:04:05.000Z",
  });
  expect(json("health")).toMatchObject({ "/readyz": expect.stringContaining('"ready"') });
  expect(json("migrations").every(({ executed_at }: { executed_at: string | null }) => executed_at !== null)).toBe(
    true,
  );
  expect(json("counts")).toMatchObject({ organizations: expect.anything(), apps_by_phase: [] });
  expect(json("failures")).toMatchObject([{ kind: "sweep", error_message: expect.stringContaining("[masked]") }]);
  expect(json("database")).toMatchObject({ version: expect.any(String), activity: expect.any(Array) });
  expect(parts.get("metrics.txt")).toContain("binnacle_build_info");
  expect(parts.get("configuration.txt")).toContain("BINNACLE_LOG_LEVEL=debug\n");
  expect(parts.get("configuration.txt")).toContain("BINNACLE_ADMIN_PASSWORD: (set)\n");
  expect(parts.get(`logs${log}`)).toContain("the last line");
});

test("[OP3973] a support bundle has no secret, wherever one was", async () => {
  const text = [...(await collected()).values()].join("\n");
  expect(text.toLowerCase()).not.toContain(MARK);
  for (const secret of Object.values(SECRETS)) expect(text).not.toContain(secret.slice(3));
});

test("[OP3974] a support bundle is made where the configuration is wrong and nothing answers", async () => {
  const broken = await supportParts({ ...SECRETS, BINNACLE_PORT: "many" }, { now: new Date(), logs: ["/nowhere.log"] });
  expect(broken.get("problems.txt")).toContain("BINNACLE_PORT must be a whole number");
  expect(broken.get("logs/nowhere.log")).toBe("ENOENT");
  const away = await supportParts(
    { ...SECRETS, DATABASE_URL: "postgres://u:hush@127.0.0.1:1/none", BINNACLE_PORT: "1", BINNACLE_DATA_DIR: folder },
    { now: new Date(), logs: [] },
  );
  expect(away.get("database.json")).toContain("ECONNREFUSED");
  expect(away.get("health.json")).toContain("does not answer");
  expect([...broken.values(), ...away.values()].join("").toLowerCase()).not.toContain(MARK);
});

test("[OP3975] a support bundle is one archive that only its owner can read", async () => {
  const file = join(folder, "bundle.tar.gz");
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  const written = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  await runSupportBundle([file, "--log", log]).finally(() => vi.unstubAllEnvs());
  expect(written.mock.lastCall?.[0]).toContain(file);
  written.mockRestore();
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(gunzipSync(readFileSync(file)).toString("latin1")).toContain("binnacle-support/about.json");
});

test("[OP3973] a log that is cut begins with a whole line, so that no half of a secret is left", async () => {
  const long = join(folder, "long.log");
  writeFileSync(long, `${"x".repeat(100)} ${"hush ".repeat(500_000)}\nnext\n`);
  const parts = await supportParts({ BINNACLE_PORT: "many" }, { now: new Date(), logs: [long] });
  expect(parts.get(`logs${long}`)).toBe("next\n");
});

test("[OP3973] an address in a setting is shown without its password", () => {
  const lines = configurationLines({ a: { name: "A_URL", fallback: null } }, { A_URL: "https://u:hush@x/" }, false);
  expect(maskerOf({})(lines.join())).not.toContain(MARK);
});
