import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import type { PipelinedClient } from "./prepared.adapter.ts";
import { isFull, isUnreachable } from "./transaction.ts";

/** Longer than any statement of a request takes, unless it waits for a lock. */
const SILENT_FOR_MS = 5_000;
/** What breaks one connection often breaks all, so once one is gone the others get less time. */
const SILENT_LIKE_ANOTHER_MS = 1_500;

/** PostgreSQL ends a statement at its limit, and says so within this time where it can be reached. */
const ON_THE_WAY_MS = 5_000;
/** Whether a new connection can be opened, and what it says. A frozen database takes none. */
const ASKED_WITHIN_MS = 3_000;

interface Watched {
  /** The process of PostgreSQL; null behind a pooler, where it cannot be told. */
  pid: number | null;
  heardAtMs: number;
  isLent: boolean;
}

interface SilenceOptions {
  readonly silentForMs?: number;
  readonly limits?: { readonly statementMs: number };
}

/**
 * Gives up connections of a pool whose other end is gone without a word, as after a power cut, a failover by address or a firewall
 * that has forgotten them. TCP notices that after a quarter of an hour, and until then every request that is given such a connection
 * hangs. A statement may take long, though: PostgreSQL itself is asked over another connection whether it works on it. Where one
 * connection is gone, the others are tried at once: else requests would find them one by one and wait for each.
 * Returns the function that ends the watch.
 */
export function watchSilence(
  pool: pg.Pool,
  config: pg.ClientConfig,
  { silentForMs = SILENT_FOR_MS, limits }: SilenceOptions,
): () => void {
  const longestMs = limits ? limits.statementMs + ON_THE_WAY_MS : Number.POSITIVE_INFINITY;
  const clients = new Map<PipelinedClient, Watched>();
  let isExamining = false;

  pool.on("connect", (given) => {
    const client = given as unknown as PipelinedClient & { readonly processID: number | null };
    const watched: Watched = { pid: null, heardAtMs: performance.now(), isLent: false };
    clients.set(client, watched);
    client.socket.on("data", () => {
      watched.heardAtMs = performance.now();
    });
    client.query("select pg_backend_pid() as pid").then(
      ({ rows }) => {
        if (rows[0]?.pid === client.processID) watched.pid = client.processID;
      },
      () => undefined,
    );
  });
  const lend = (given: unknown, isLent: boolean) => {
    const client = given as PipelinedClient;
    const watched = clients.get(client);
    if (watched) watched.isLent = isLent;
    // A statement that could not even be sent has no answer.
    if (isLent) client.unanswered = 0;
  };
  pool.on("acquire", (client) => lend(client, true));
  pool.on("release", (_, client) => lend(client, false));
  pool.on("remove", (client) => clients.delete(client as unknown as PipelinedClient));

  function isSilent(client: PipelinedClient, { pid, heardAtMs }: Watched, forMs: number): boolean {
    if (client.unanswered === 0) return false;
    const silentMs = performance.now() - Math.max(heardAtMs, client.waitsSinceMs);
    return silentMs > longestMs || (pid !== null && silentMs > forMs);
  }

  /** Ends the silent connections that are gone, and returns whether there were any. */
  async function endGone(forMs: number): Promise<boolean> {
    const silent = [...clients].filter(([client, watched]) => isSilent(client, watched, forMs));
    if (silent.length === 0) return false;
    const working = await workingProcesses(
      config,
      silent.map(([, { pid }]) => pid ?? 0),
    );
    const gone = silent.filter(
      ([client, watched]) =>
        isSilent(client, watched, longestMs) || (isSilent(client, watched, forMs) && !working.has(watched.pid ?? 0)),
    );
    for (const [client] of gone) client.socket.destroy(new Error(GONE));
    return gone.length > 0;
  }

  async function examine(): Promise<void> {
    for (let forMs = silentForMs; await endGone(forMs); ) {
      for (const [client, { isLent }] of clients) if (!isLent) client.query("").catch(() => undefined);
      forMs = Math.min(silentForMs, SILENT_LIKE_ANOTHER_MS);
      await pause(forMs + 100, undefined, { ref: false });
    }
  }

  const timer = setInterval(() => {
    if (isExamining) return;
    isExamining = true;
    // A database that takes no further connection says nothing about the others. The next examination may.
    void examine()
      .catch(() => undefined)
      .finally(() => {
        isExamining = false;
      });
  }, silentForMs / 4);
  timer.unref();
  return () => clearInterval(timer);
}

const GONE = "Connection terminated: the database has not answered and is not working on anything for it.";

/** Those of the processes that run a statement; none where the database cannot be reached. */
async function workingProcesses(config: pg.ClientConfig, pids: readonly number[]): Promise<ReadonlySet<number>> {
  const client = new pg.Client({ ...config, connectionTimeoutMillis: ASKED_WITHIN_MS, query_timeout: ASKED_WITHIN_MS });
  client.on("error", () => undefined);
  try {
    await client.connect();
    const text = "select pid from pg_stat_activity where pid = any ($1::int[]) and state = 'active'";
    const { rows } = await client.query<{ pid: number }>(text, [pids]);
    return new Set(rows.map(({ pid }) => pid));
  } catch (error) {
    if (!isUnreachable(error) || isFull(error)) throw error;
    return new Set();
  } finally {
    void client.end().catch(() => undefined);
  }
}
