import { randomBytes } from "node:crypto";
import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgentTokens } from "../packages/server/src/clusters/agent-token.ts";
import { connect } from "../packages/server/src/database/connection.adapter.ts";
import { startEmbeddedPostgres } from "../packages/server/src/database/embedded/embedded.adapter.ts";
import { newId } from "../packages/server/src/id.ts";
import type { Identity } from "./hub-operators.ts";
import { type Process, startNode } from "./process.ts";

/** A hub, with the API beside it in the same process, on an embedded database with many clusters. */
export interface HubStage {
  readonly identities: readonly Identity[];
  readonly hub: () => Process;
  readonly url: () => string;
  readonly base: () => string;
  readonly headers: Readonly<Record<string, string>>;
  residentKb(): Promise<number>;
  /** Without a goodbye. */
  kill(): Promise<void>;
  /** On the same port, so that the operators find it again. */
  restart(): Promise<void>;
}

export async function withHubStage(clusters: number, work: (stage: HubStage) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "binnacle-bench-"));
  // Open to the user that PostgreSQL runs as when this runs as root.
  await chmod(folder, 0o755);
  const embedded = await startEmbeddedPostgres({ dataDir: folder, log: () => undefined });
  const { host, port, user, database: name } = embedded.connection;
  const databaseUrl = `postgres:///${name}?host=${encodeURIComponent(host)}&port=${port}&user=${user}`;
  const database = connect({ url: databaseUrl }, { poolSize: 2, onError: () => undefined });
  const signingKey = randomBytes(32).toString("base64url");
  const start = (listenOn: number) =>
    startNode("packages/server/src/main.ts", {
      DATABASE_URL: databaseUrl,
      BINNACLE_DATA_DIR: folder,
      BINNACLE_SECRET_KEY: signingKey,
      BINNACLE_PORT: String(listenOn),
      BINNACLE_ROLES: "api,hub",
    });
  let hub = await start(0);
  try {
    const base = () => `http://127.0.0.1:${hub.port}/api/v1`;
    const { headers, orgId } = await signIn(base());
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
      hub: () => hub,
      url: () => `ws://127.0.0.1:${hub.port}/hub/v1`,
      base,
      headers,
      async residentKb() {
        const status = await readFile(`/proc/${hub.pid}/status`, "utf8");
        return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]);
      },
      async kill() {
        process.kill(hub.pid, "SIGKILL");
        await hub.stop();
      },
      async restart() {
        hub = await start(hub.port);
      },
    });
  } finally {
    await hub.stop();
    await database.close();
    await embedded.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function signIn(base: string): Promise<{ headers: Record<string, string>; orgId: string }> {
  const form = new URLSearchParams({ username: "admin", password: "binnacle" });
  const login = await fetch(`${base}/login`, { method: "POST", body: form });
  const { access_token } = (await login.json()) as { access_token: string };
  const headers = { authorization: `Bearer ${access_token}`, "content-type": "application/json" };
  const me = await fetch(`${base}/user/me`, { headers });
  const { organizations } = (await me.json()) as { organizations: { id: string }[] };
  return { headers, orgId: organizations[0]?.id ?? "" };
}
