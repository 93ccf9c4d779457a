import type { Config } from "../config.ts";
import { connect, type Database } from "./connection.adapter.ts";
import { runningEmbeddedPostgres, startEmbeddedPostgres } from "./embedded/embedded.adapter.ts";

/** Gives a command the database: the running one, or one that is started for it. */
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
