import { randomBytes, randomUUID } from "node:crypto";
import { link, mkdir, readFile, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Secrets } from "./config.ts";
import { parseVaultKeys, type VaultKey } from "./vault/vault.ts";

export interface Keys {
  readonly signingKey: string;
  readonly vaultKeys: readonly VaultKey[];
}

/**
 * Returns the configured keys. Without any, which only `local` allows, it generates keys once and stores them in the
 * data folder.
 */
export async function resolveKeys(secrets: Secrets, dataDir: string): Promise<Keys> {
  const kept = (file: string, make: () => string) => keptSecret(dataDir, file, make);
  return {
    signingKey: secrets.signingKey ?? (await kept("signing.key", () => randomBytes(48).toString("base64url"))),
    vaultKeys:
      secrets.vaultKeys ??
      parseVaultKeys(await kept("vault.keys", () => `local:${randomBytes(32).toString("base64")}`)),
  };
}

async function keptSecret(folder: string, file: string, make: () => string): Promise<string> {
  const path = join(folder, file);
  try {
    return await readSecret(path);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
  await mkdir(folder, { recursive: true });
  // The file is written under another name and then linked, so that readers see it complete and one of two concurrent
  // starts wins.
  const draft = `${path}.${randomUUID()}`;
  await writeFile(draft, `${make()}\n`, { mode: 0o600, flush: true });
  try {
    await link(draft, path);
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  } finally {
    await unlink(draft);
  }
  return readSecret(path);
}

async function readSecret(path: string): Promise<string> {
  const secret = (await readFile(path, "utf8")).trim();
  if (!secret) throw new Error(`${path} is empty. Put its key back, or remove the file to have a new one made.`);
  return secret;
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code;
