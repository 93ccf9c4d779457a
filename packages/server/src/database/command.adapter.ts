import pg from "pg";
import type { Config } from "../config.ts";
import { type Address, COMMAND_NAME, clientConfig, connect, type Database } from "./connection.adapter.ts";
import { runningEmbeddedPostgres, startEmbeddedPostgres } from "./embedded/embedded.adapter.ts";

/** Gives a command the database: the running one, or one that is started for it. */
export const withDatabase = (config: Config, work: (database: Database) => Promise<void>): Promise<void> =>
  withAddress(config, (address) => connected(address, work));

/** The address of the database, for a command that connects by itself. */
export async function withAddress(config: Config, work: (address: Address) => Promise<void>): Promise<void> {
  const { address, stop } = await reach(config);
  try {
    await work(address);
  } finally {
    await stop();
  }
}

export async function connected<T>(address: Address, work: (database: Database) => Promise<T>): Promise<T> {
  const database = connect(address, { poolSize: 2, name: COMMAND_NAME, onError: () => undefined });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** A connection without a pool, for what takes a session of its own. */
export async function withClient<T>(address: Address, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(clientConfig(address, COMMAND_NAME));
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
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
