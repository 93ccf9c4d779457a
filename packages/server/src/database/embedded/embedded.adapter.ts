import { locateFolders, removeUnfinished } from "./folders.adapter.ts";
import { ROLE, readPidFile } from "./launch.adapter.ts";
import { DATABASE } from "./owner-session.adapter.ts";
import { type Log, Supervisor } from "./supervisor.adapter.ts";

export { DatabaseRefused, DataDirectoryInUse } from "./supervisor.adapter.ts";

interface Connection {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
}

export interface EmbeddedPostgres {
  /** The form that `pg` expects: the folder of the Unix socket, and the port that names the socket in it. */
  readonly connection: Connection;
  /** Whether a database was taken over that an earlier server had left running. */
  readonly tookOver: boolean;
  /** True while the database does not run because its disk is full. */
  isOutOfRoom(): boolean;
  /** Stops the database (fast shutdown), waits until no process of it is left, and releases the lock. */
  stop(): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  readonly dataDir: string;
  readonly log: Log;
  /** Called when the database has ended and cannot be restarted. */
  readonly onLost?: (error: Error) => void;
}

export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const startedAt = Date.now();
  const folders = await locateFolders(options.dataDir);
  const supervisor = new Supervisor(folders, options.log, (error) => options.onLost?.(error));
  const { tookOver, socket } = await supervisor.start();
  await removeUnfinished(folders.pgdata);
  options.log("the database is ready", { folder: folders.pgdata, tookOver, tookMs: Date.now() - startedAt });
  return {
    connection: connectionTo(socket),
    tookOver,
    isOutOfRoom: () => supervisor.isOutOfRoom,
    stop: () => supervisor.stop(),
  };
}

/** Returns the address of the database of a running server, for a command beside it. */
export async function runningEmbeddedPostgres(dataDir: string): Promise<Connection | undefined> {
  const { pgdata } = await locateFolders(dataDir);
  const { socket } = (await readPidFile(pgdata)) ?? {};
  return socket && connectionTo(socket);
}

function connectionTo(socket: { folder: string; port: number }): Connection {
  return { host: socket.folder, port: socket.port, user: ROLE, database: DATABASE };
}
