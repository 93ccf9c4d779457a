import { once } from "node:events";
import { open, readFile } from "node:fs/promises";
import { get as httpGet, type IncomingMessage } from "node:http";
import { get as httpsGet } from "node:https";
import { availableParallelism, freemem, loadavg, release, totalmem } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { parseArgs } from "node:util";
import { CONTRACT } from "@binnacle/contract";
import type { Env } from "@binnacle/process";
import { pack } from "tar-stream";
import { storagePlaceOf, store } from "../backup/storage.adapter.ts";
import { trustingOnly } from "../certificate-trust.adapter.ts";
import { SECRETS, SETTINGS } from "../config/variables.ts";
import { type Config, listeningPort, metricsAddress, originOf, parseConfig, schemeOf } from "../config.ts";
import { withDatabase } from "../database/command.adapter.ts";
import { migrationStates } from "../database/migrate.ts";
import type { Queries } from "../database/transaction.ts";
import { pendingDispatches, pendingJobs } from "../metrics/backlog.store.ts";
import { productVersion } from "../product-version.adapter.ts";
import { countEverything, countJobs, readDatabaseFacts } from "../system/system.store.ts";
import { configurationLines, maskerOf } from "./masking.ts";
import { activity, appPhases, lastFailures, tableSizes } from "./support.store.ts";

const LONGEST_LOG_BYTES = 2 * 1024 * 1024;
const ANSWER_WITHIN_MS = 5_000;

/**
 * `binnacle-server support-bundle [place] [--log <file>]` collects what helps others to find a fault, without a secret. A part that
 * cannot be read says why, and the others are there all the same: the bundle is for an installation that does not work.
 */
export async function runSupportBundle(args: readonly string[]): Promise<void> {
  const { positionals, values } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { log: { type: "string", multiple: true, default: [] } },
  });
  const now = new Date();
  const place = positionals[0] ?? `binnacle-support-${now.toISOString().replace(/[-:]|\.\d+/g, "")}.tar.gz`;
  const parts = await supportParts(process.env, { now, logs: values.log });
  await store(storagePlaceOf(place, process.env), archived(parts, now));
  process.stderr.write(
    `The support bundle is complete${place === "-" ? "" : `: ${place}`}. Read it before you hand it on.\n`,
  );
}

/** The files of a bundle by name, masked. */
export async function supportParts(
  env: Env,
  { now, logs }: { readonly now: Date; readonly logs: readonly string[] },
): Promise<Map<string, string>> {
  const mask = maskerOf(env);
  const parts = new Map<string, string>();
  const add = (name: string, content: string) => parts.set(name, mask(content));
  const addJson = async (name: string, read: () => Promise<unknown>) =>
    add(`${name}.json`, `${JSON.stringify(await read().catch(failure), null, 2)}\n`);

  await addJson("about", async () => ({ ...(await about(env)), collected_at: now.toISOString() }));
  add("configuration.txt", configuration(env));
  const config = configOf(env);
  if (config instanceof Error) add("problems.txt", `${config.message}\n`);
  else {
    await withDatabase(config, async ({ kysely }) => {
      for (const [name, read] of Object.entries(databaseParts(kysely, now))) await addJson(name, read);
    }).catch((error: Error) => add("database.json", JSON.stringify(failure(error))));
    await addJson("health", () => health(config));
    add("metrics.txt", await metrics(config));
  }
  const files = config instanceof Error ? logs : [...logs, join(config.dataDir, "postgres.log")];
  for (const file of files) {
    const lines = await tailOf(file).catch((error: Error) => (logs.includes(file) ? failure(error).error : null));
    if (lines !== null) add(`logs${resolve(file)}`, lines);
  }
  return parts;
}

/** The message of an error of the database may quote a value, so that only its code is told. */
const failure = (error: Error & { code?: string }) => ({ error: error.code ?? error.message });

function configOf(env: Env): Config | Error {
  try {
    return parseConfig(env);
  } catch (error) {
    return error as Error;
  }
}

const about = async (env: Env) => ({
  version: await productVersion(),
  build: env[SETTINGS.build.name] ?? null,
  contract: CONTRACT,
  node: process.version,
  platform: `${process.platform}/${process.arch} ${release()}`,
  processors: availableParallelism(),
  memory_bytes: { total: totalmem(), free: freemem(), limit: process.constrainedMemory() ?? null },
  load: loadavg(),
});

const configuration = (env: Env) =>
  [...configurationLines(SETTINGS, env, false), ...configurationLines(SECRETS, env, true), ""].join("\n");

/** What the database tells, each by itself. */
const databaseParts = (db: Queries, now: Date): Record<string, () => Promise<unknown>> => ({
  database: async () => ({ ...(await readDatabaseFacts(db)), activity: await activity(db) }),
  migrations: () => migrationStates(db),
  tables: () => tableSizes(db),
  counts: async () => ({ ...(await countEverything(db, now)), apps_by_phase: await appPhases(db) }),
  queue: async () => ({
    jobs: await countJobs(db),
    pending_jobs: await pendingJobs(db),
    pending_dispatches: await pendingDispatches(db),
  }),
  failures: () => lastFailures(db),
});

/** What the process beside this command says of itself. */
async function health(config: Config): Promise<Record<string, string>> {
  const origin = originOf({ address: config.host, port: listeningPort(config).port }, schemeOf(config));
  const paths = ["/livez", "/startupz", "/readyz"];
  const answers = paths.map(async (path) => [path, await answer(origin, path, config.tlsCertFile)] as const);
  return Object.fromEntries(await Promise.all(answers));
}

/** `/metrics` has no TLS where it has a port of its own. */
function metrics(config: Config): Promise<string> {
  const apart = metricsAddress(config);
  if (apart) return answer(originOf({ address: apart.host, port: apart.port }, "http"), "/metrics", null);
  const origin = originOf({ address: config.host, port: listeningPort(config).port }, schemeOf(config));
  return answer(origin, "/metrics", config.tlsCertFile);
}

async function answer(origin: string, path: string, certFile: string | null): Promise<string> {
  try {
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
    const request = certFile
      ? httpsGet(`${origin}${path}`, { ...trustingOnly(await readFile(certFile)), signal })
      : httpGet(`${origin}${path}`, { signal });
    const [response] = (await once(request, "response")) as [IncomingMessage];
    const body = await text(response);
    return response.statusCode === 200 ? body : `${response.statusCode} ${body}`;
  } catch {
    return `${origin} does not answer. Run the command beside the server, with the same configuration.\n`;
  }
}

/** The last lines. The first one is left out where it is cut, because half of a secret cannot be recognized. */
async function tailOf(path: string): Promise<string> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const start = Math.max(0, size - LONGEST_LOG_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - start), 0, size - start, start);
    const lines = buffer.toString("utf8", 0, bytesRead);
    return start === 0 ? lines : lines.slice(lines.indexOf("\n") + 1);
  } finally {
    await file.close();
  }
}

async function* archived(parts: ReadonlyMap<string, string>, mtime: Date): AsyncGenerator<Buffer> {
  const archive = pack();
  for (const [name, content] of parts) archive.entry({ name: `binnacle-support/${name}`, mtime }, content);
  archive.finalize();
  for await (const chunk of archive as unknown as AsyncIterable<Buffer>) yield chunk;
}
