import { randomBytes } from "node:crypto";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Secrets } from "./config.ts";
import { parseVaultKeys, type VaultKey } from "./vault/vault.ts";

export interface Keys {
  readonly signingKey: string;
  readonly vaultKeys: readonly VaultKey[];
}

/** The configured keys; where there are none (only `local` allows that), keys made once and kept in the data folder. */
export async function resolveKeys(secrets: Secrets, dataDir: string): Promise<Keys> {
  const kept = async (file: string, make: () => string) => {
    await mkdir(dataDir, { recursive: true });
    return keptSecret(join(dataDir, file), make);
  };
  return {
    signingKey: secrets.signingKey ?? (await kept("signing.key", () => randomBytes(48).toString("base64url"))),
    vaultKeys:
      secrets.vaultKeys ??
      parseVaultKeys(await kept("vault.keys", () => `local:${randomBytes(32).toString("base64")}`)),
  };
}

async function keptSecret(path: string, make: () => string): Promise<string> {
  try {
    // Fails where the file exists, so two starts at once never overwrite each other's key.
    await writeFile(path, `${make()}\n`, { flag: "wx", mode: 0o600 });
    await chmod(path, 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  return (await readFile(path, "utf8")).trim();
}
