import type { Config } from "../config.ts";
import { connect, type Database } from "./connection.adapter.ts";
import { runningEmbeddedPostgres, startEmbeddedPostgres } from "./embedded/embedded.adapter.ts";

/** The database for a command that works beside the servers: a running one where there is one, started for it otherwise. */
export async function withDatabase(config: Config, work: (database: Database) => Promise<void>): Promise<void> {
  const { address, stop } = await reach(config);
  const database = connect(address, { poolSize: 2, onError: () => undefined });
  try {
    await work(database);
  } finally {
    await database.close();
    await stop();
  }
}

async function reach({ secrets, dataDir }: Config) {
  const stop = async () => undefined;
  if (secrets.databaseUrl) return { address: { url: secrets.databaseUrl }, stop };
  const running = await runningEmbeddedPostgres(dataDir);
  if (running) return { address: running, stop };
  const own = await startEmbeddedPostgres({ dataDir, log: () => undefined });
  return { address: own.connection, stop: () => own.stop() };
}
