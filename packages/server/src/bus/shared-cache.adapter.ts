import { type Log, watchOutage } from "../outage.ts";
import { open, shut } from "./bus.adapter.ts";

/** Texts that all replicas may read for a while. Whatever fails reads as a miss: nothing depends on it. */
export interface SharedCache {
  get(key: string): Promise<string | null>;
  set(key: string, text: string, seconds: number): Promise<void>;
  close(): Promise<void>;
}

/** The cache of an installation without Redis. */
export const NO_SHARED_CACHE: SharedCache = {
  get: async () => null,
  set: async () => undefined,
  close: async () => undefined,
};

const KEY_PREFIX = "binnacle:cache:";
/** A Redis that does not answer must not hold up a request that can do without it. */
const ANSWER_WITHIN_MS = 1_000;

export function connectRedisCache(url: string, log: Log): SharedCache {
  const outage = watchOutage(log, "the Redis of the cache");
  const connection = open(url, { commandTimeout: ANSWER_WITHIN_MS });
  connection.on("error", outage.failed);
  connection.on("ready", outage.recovered);
  return {
    async get(key) {
      if (connection.status !== "ready") return null;
      return connection.get(KEY_PREFIX + key).catch((error: unknown) => {
        outage.failed(error);
        return null;
      });
    },
    async set(key, text, seconds) {
      if (connection.status !== "ready") return;
      await connection.set(KEY_PREFIX + key, text, "EX", seconds).catch(outage.failed);
    },
    close: () => shut(connection),
  };
}
