import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectRedisBus } from "../packages/server/src/bus/bus.adapter.ts";
import { connectPostgresBus } from "../packages/server/src/bus/postgres-bus.adapter.ts";
import { createAgentTokens } from "../packages/server/src/clusters/agent-token.adapter.ts";
import { clientConfig, connect } from "../packages/server/src/database/connection.adapter.ts";
import { startEmbeddedPostgres } from "../packages/server/src/database/embedded/embedded.adapter.ts";
import { DISPATCH_TOPIC } from "../packages/server/src/dispatch/dispatch.ts";
import { newId } from "../packages/server/src/id.adapter.ts";
import type { Identity } from "./hub-operators.ts";
import { type Process, startNode } from "./process.ts";

/** The most changes that are committed at the same time. */
const COMMITTERS = 8;

/** Writes the same rows as the API for a new project, in one statement, because the commit itself is not measured. */
const COMMIT = `
  with project as (
    insert into projects (id, org_id, cluster_id, name, namespace, created_at, updated_at)
    values ($1, $2, $3, $4, $4, now(), now())
  ), raised as (
    update clusters set revision = revision + 1 where id = $3 returning revision
  )
  insert into desired_resources (cluster_id, kind, resource_id, key, generation, revision, updated_at)
  select $3, 'project', $1, $5, 1, revision, now() from raised`;

/** Hubs alone in their processes, on an embedded database with many clusters. */
export interface HubStage {
  readonly identities: readonly Identity[];
  /** The first of them. */
  readonly hub: () => Process;
  readonly hubs: readonly Process[];
  readonly url: () => string;
  /** Stores a new project, and hints at it once it is committed. */
  commit(clusterId: string, name: string): Promise<void>;
  residentKb(): Promise<number>;
  /** Ends the first without a goodbye. */
  kill(): Promise<void>;
  /** On the same port, so that the operators find it again. */
  restart(): Promise<void>;
}

export interface HubOptions {
  readonly hubs: number;
  /** Otherwise hints go over PostgreSQL. */
  readonly hasRedis: boolean;
  /** Starts the nth hub with what limits its process. */
  readonly within?: (nth: number) => readonly string[];
}

export async function withHubStage(
  clusters: number,
  work: (stage: HubStage) => Promise<void>,
  options: HubOptions = { hubs: 1, hasRedis: true },
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "binnacle-bench-"));
  // Open to the user that PostgreSQL runs as when this runs as root.
  await chmod(folder, 0o755);
  const embedded = await startEmbeddedPostgres({ dataDir: folder, log: () => undefined });
  const { host, port, user, database: name } = embedded.connection;
  const databaseUrl = `postgres:///${name}?host=${encodeURIComponent(host)}&port=${port}&user=${user}`;
  const database = connect({ url: databaseUrl }, { poolSize: COMMITTERS, onError: () => undefined });
  const redis = options.hasRedis ? await startRedis(folder) : null;
  const bus = redis
    ? connectRedisBus(redis.url, SILENT)
    : connectPostgresBus(clientConfig({ url: databaseUrl }), SILENT);
  const signingKey = randomBytes(32).toString("base64url");
  const start = (listenOn: number, nth: number) =>
    startNode(
      "packages/server/src/main.ts",
      {
        DATABASE_URL: databaseUrl,
        ...(redis ? { REDIS_URL: redis.url } : {}),
        BINNACLE_DATA_DIR: folder,
        BINNACLE_SECRET_KEY: signingKey,
        BINNACLE_HUB_PORT: String(listenOn),
        BINNACLE_ROLES: "hub",
      },
      options.within?.(nth),
    );
  const hubs: Process[] = [];
  const hub = () => hubs[0] as Process;
  for (let nth = 0; nth < options.hubs; nth += 1) hubs.push(await start(0, nth));
  try {
    const { id: orgId } = await database.kysely.selectFrom("orgs").select("id").executeTakeFirstOrThrow();
    const tokens = await createAgentTokens(signingKey, () => new Date());
    const ids = Array.from({ length: clusters }, () => newId());
    await database.pool.query(
      "insert into clusters (id, org_id, name, created_at, updated_at) select id, $2, 'bench ' || id, now(), now() from unnest($1::uuid[]) as given (id)",
      [ids, orgId],
    );
    await database.pool.query("vacuum analyze");
    const identities = await Promise.all(
      ids.map(async (clusterId) => ({ clusterId, token: (await tokens.mint(clusterId, 1)).token })),
    );
    await work({
      identities,
      hub,
      hubs,
      url: () => `ws://127.0.0.1:${hub().port}/hub/v1`,
      async commit(clusterId, name) {
        const values = [newId(), orgId, clusterId, name, `project/${name}`];
        await database.pool.query({ name: "commit", text: COMMIT, values });
        bus.publish(DISPATCH_TOPIC, { cluster_id: clusterId });
      },
      async residentKb() {
        const status = await readFile(`/proc/${hub().pid}/status`, "utf8");
        return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]);
      },
      async kill() {
        process.kill(hub().pid, "SIGKILL");
        await hub().stop();
      },
      async restart() {
        hubs[0] = await start(hub().port, 0);
      },
    });
  } finally {
    for (const running of hubs) await running.stop();
    await bus.close();
    await redis?.stop();
    await database.close();
    await embedded.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

const SILENT = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** The one that `REDIS_URL` names, or one of its own. */
export async function startRedis(folder: string): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const given = process.env["REDIS_URL"];
  if (given) return { url: given, stop: async () => undefined };
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  const options = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder];
  const child = spawn("redis-server", options, { stdio: "ignore" });
  const failed = once(child, "error").then(() => {
    throw new Error("This needs Redis: install redis-server, or name one with REDIS_URL.");
  });
  await Promise.race([once(child, "spawn"), failed]);
  return {
    url: `redis://127.0.0.1:${port}`,
    async stop() {
      child.kill();
      await once(child, "exit");
    },
  };
}
