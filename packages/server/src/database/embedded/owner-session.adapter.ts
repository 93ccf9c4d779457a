import pg from "pg";
import { ROLE } from "./launch.adapter.ts";
import { FOLDER_SETTING } from "./postmaster-state.ts";

export const DATABASE = "postgres";

const ANSWER_TIMEOUT_MS = 5_000;

const CANNOT_CONNECT_NOW = "57P03";

/** "BINN" in ASCII. Advisory locks with two numbers never collide with those with one number. */
const LOCK_CLASS = 0x42494e4e;
const LOCK_OWNER = 1;

/** A session of the running database. Its lock ends with the process that holds it. */
export interface OwnerSession {
  readonly ended: Promise<void>;
  tryLock(): Promise<boolean>;
  close(): Promise<void>;
}

export type Answer =
  | { readonly kind: "ready"; readonly session: OwnerSession }
  /** The database answers but is starting, recovering or stopping. */
  | { readonly kind: "busy" }
  | { readonly kind: "silent" };

/** Checks whether the process on the socket is the database of this folder. */
export async function probeSocket(socket: { folder: string; port: number }, pgdata: string): Promise<Answer> {
  const client = new pg.Client({
    host: socket.folder,
    port: socket.port,
    user: ROLE,
    database: DATABASE,
    ssl: false,
    application_name: "binnacle owner",
    connectionTimeoutMillis: ANSWER_TIMEOUT_MS,
    query_timeout: ANSWER_TIMEOUT_MS,
  });
  const ended = new Promise<void>((resolve) => client.once("end", resolve));
  // An open connection emits "end" after every error. An error without a listener would end the server.
  client.on("error", () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ folder: string }>(
      "select coalesce(current_setting($1, true), current_setting('data_directory')) as folder",
      [FOLDER_SETTING],
    );
    if (rows[0]?.folder === pgdata) return { kind: "ready", session: sessionOf(client, ended) };
    await client.end();
    // A folder that was copied while its database ran names the socket of the original.
    return { kind: "silent" };
  } catch (error) {
    void client.end().catch(() => undefined);
    return { kind: (error as { code?: string }).code === CANNOT_CONNECT_NOW ? "busy" : "silent" };
  }
}

function sessionOf(client: pg.Client, ended: Promise<void>): OwnerSession {
  return {
    ended,
    async tryLock() {
      const { rows } = await client.query<{ locked: boolean }>("select pg_try_advisory_lock($1, $2) as locked", [
        LOCK_CLASS,
        LOCK_OWNER,
      ]);
      return rows[0]?.locked === true;
    },
    async close() {
      await client.end().catch(() => undefined);
    },
  };
}
