import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parseConfig } from "./config.ts";
import { resolveKeys } from "./local-secrets.adapter.ts";

const { secrets: unset } = parseConfig({});

let folder: string;
let dataDir: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "binnacle-keys-"));
  dataDir = join(folder, "not", "there", "yet");
});
afterEach(() => rm(folder, { recursive: true }));

test("[CF10] the first local start generates keys, and every later one uses them", async () => {
  const first = await resolveKeys(unset, dataDir);
  expect(first.signingKey.length).toBeGreaterThanOrEqual(32);
  expect(first.vaultKeys).toMatchObject([{ id: "local" }]);
  expect(await resolveKeys(unset, dataDir)).toEqual(first);
  expect(await resolveKeys(unset, join(folder, "other"))).not.toEqual(first);
});

test("[CF10] only the owner can read generated keys, and nothing else is in the folder", async () => {
  await resolveKeys(unset, dataDir);
  expect((await readdir(dataDir)).sort()).toEqual(["signing.key", "vault.keys"]);
  for (const file of await readdir(dataDir)) expect((await stat(join(dataDir, file))).mode & 0o777).toBe(0o600);
});

test("[CF10] local starts at the same time agree on one set of keys", async () => {
  const starts = await Promise.all(Array.from({ length: 20 }, () => resolveKeys(unset, dataDir)));
  expect(new Set(starts.map(({ signingKey }) => signingKey)).size).toBe(1);
  expect(await readdir(dataDir)).toHaveLength(2);
});

test("[CF10] configured keys are used, and none are generated", async () => {
  const signingKey = "configured".repeat(4);
  const vaultKeys = [{ id: "k1", key: new Uint8Array(32) }];
  expect(await resolveKeys({ ...unset, signingKey, vaultKeys }, dataDir)).toEqual({ signingKey, vaultKeys });
  await expect(readdir(dataDir)).rejects.toThrow("ENOENT");
});

test("[CF10] a key file that is empty stops the start; it is neither used nor replaced", async () => {
  await resolveKeys(unset, dataDir);
  const path = join(dataDir, "signing.key");
  await writeFile(path, "\n");
  await expect(resolveKeys(unset, dataDir)).rejects.toThrow(`${path} is empty.`);
  expect(await readFile(path, "utf8")).toBe("\n");
});
