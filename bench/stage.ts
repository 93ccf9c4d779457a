import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type Database } from "../packages/server/src/database/connection.adapter.ts";
import { startEmbeddedPostgres } from "../packages/server/src/database/embedded/embedded.adapter.ts";
import { foldRowCounts } from "../packages/server/src/database/row-count.store.ts";
import { type Process, startNode } from "./process.ts";

const POOL_SIZE = "20";
const SERVER = "packages/server/src/main.ts";

/** A control plane on an embedded database, an administrator who is signed in to it, and room for peers beside it. */
export interface Stage {
  readonly binnacle: Process;
  readonly database: Database;
  readonly databaseUrl: string;
  readonly sessionId: string;
  readonly orgId: string;
  /** For requests as the administrator. */
  readonly headers: Readonly<Record<string, string>>;
  send(method: string, path: string, body?: object): Promise<Record<string, never>>;
  /** A peer as a process of its own on the same database. */
  peer(script: string, env: Record<string, string>): Promise<Process>;
  /** Another process of the same installation. */
  replica(env: Record<string, string>): Promise<Process>;
  /** Tables as they are after a while: totals folded, statistics known. */
  settle(): Promise<void>;
}

export async function withStage(
  work: (stage: Stage) => Promise<void>,
  roles = "api",
  env: Record<string, string> = {},
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "binnacle-bench-"));
  // Open to the user that PostgreSQL runs as when this runs as root.
  await chmod(folder, 0o755);
  const embedded = await startEmbeddedPostgres({ dataDir: folder, log: () => undefined });
  const { host, port, user, database: name } = embedded.connection;
  const databaseUrl = `postgres:///${name}?host=${encodeURIComponent(host)}&port=${port}&user=${user}`;
  const database = connect({ url: databaseUrl }, { poolSize: 2, onError: () => undefined });
  const started: Process[] = [];
  const start = async (script: string, env: Record<string, string>) => {
    const child = await startNode(script, { DATABASE_URL: databaseUrl, ...env });
    started.push(child);
    return child;
  };
  const server = {
    BINNACLE_DATA_DIR: folder,
    BINNACLE_PORT: "0",
    BINNACLE_ROLES: roles,
    BINNACLE_SANDBOX: "off",
    BINNACLE_DATABASE_POOL_SIZE: POOL_SIZE,
    ...env,
  };
  try {
    const binnacle = await start(SERVER, server);
    const base = `http://127.0.0.1:${binnacle.port}/api/v1`;
    const form = new URLSearchParams({ username: "admin", password: "binnacle" });
    const login = (await (await fetch(`${base}/login`, { method: "POST", body: form })).json()) as {
      access_token: string;
    };
    const headers = { authorization: `Bearer ${login.access_token}` };
    const send: Stage["send"] = async (method, path, body) => {
      const sent = body
        ? { headers: { ...headers, "content-type": "application/json" }, body: JSON.stringify(body) }
        : { headers };
      const answer = await fetch(base + path, { method, ...sent });
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
      return (await answer.json()) as Record<string, never>;
    };
    const me = (await send("GET", "/user/me")) as unknown as { organizations: { id: string }[] };
    const [, payload = ""] = login.access_token.split(".");
    const { sid } = JSON.parse(Buffer.from(payload, "base64url").toString()) as { sid: string };
    await work({
      binnacle,
      database,
      databaseUrl,
      sessionId: sid,
      orgId: me.organizations[0]?.id ?? "",
      headers,
      send,
      replica: (given) => start(SERVER, { ...server, ...given }),
      peer: (script, env) => start(script, { POOL_SIZE, ...env }),
      async settle() {
        await foldRowCounts(database.kysely);
        await database.pool.query("vacuum analyze");
      },
    });
  } finally {
    for (const child of started) await child.stop();
    await database.close();
    await embedded.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
