import { parseConfig } from "../config.ts";
import { type Address, connect } from "../database/connection.adapter.ts";
import { runningEmbeddedPostgres, startEmbeddedPostgres } from "../database/embedded/embedded.adapter.ts";
import { resolveKeys } from "../local-secrets.adapter.ts";
import { resealColumn } from "./reseal.store.ts";
import { SEALED_COLUMNS } from "./sealed-columns.ts";
import { createVault } from "./vault.ts";

/** `npm run reseal`: after a new key was put first in BINNACLE_VAULT_KEYS, and before the old one is taken out. */

const started: (() => Promise<void>)[] = [];
try {
  const config = parseConfig(process.env);
  const { vaultKeys } = await resolveKeys(config.secrets, config.dataDir);
  const vault = createVault(vaultKeys);
  const { databaseUrl } = config.secrets;
  const address = databaseUrl ? { url: databaseUrl } : await embedded(config.dataDir);
  const { pool, close } = connect(address, { poolSize: 2, onError: () => undefined });
  started.push(close);
  for (const column of SEALED_COLUMNS) {
    const resealed = await resealColumn(pool, vault, column);
    process.stdout.write(`${column.table}.${column.column}: ${resealed} sealed again with key ${vaultKeys[0]?.id}\n`);
  }
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
} finally {
  for (const stop of started.reverse()) await stop();
}

async function embedded(dataDir: string): Promise<Address> {
  const running = await runningEmbeddedPostgres(dataDir);
  if (running) return running;
  const own = await startEmbeddedPostgres({ dataDir, log: () => undefined });
  started.push(() => own.stop());
  return own.connection;
}
