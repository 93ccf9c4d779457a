import { parseConfig } from "../config.ts";
import { withDatabase } from "../database/command.adapter.ts";
import { resolveKeys } from "../local-secrets.adapter.ts";
import { resealColumn, SEALED_COLUMNS } from "./reseal.store.ts";
import { createVault } from "./vault.ts";

/** `binnacle-server reseal` runs after a new key was put first in BINNACLE_VAULT_KEYS, and before the old one is removed. */
export async function runReseal(): Promise<void> {
  const config = parseConfig(process.env);
  const { vaultKeys } = await resolveKeys(config.secrets, config.dataDir);
  const vault = createVault(vaultKeys);
  await withDatabase(config, async ({ pool }) => {
    for (const column of SEALED_COLUMNS) {
      const resealed = await resealColumn(pool, vault, column);
      process.stdout.write(`${column.table}.${column.column}: ${resealed} sealed again with key ${vaultKeys[0]?.id}\n`);
    }
  });
}
