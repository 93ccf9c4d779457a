import { Agent } from "undici";
import type { Identity, KubeAccess } from "./kube-access.ts";

/** The API server queues what exceeds its fair share anyway. */
const CALL_CONNECTIONS = 16;

/**
 * A watch or a followed log holds its connection for long. Every owned kind has a watch, and every followed pod a log.
 */
const STREAM_CONNECTIONS = 256;

const CONNECT_TIMEOUT_MS = 10_000;

/** Finds a server that vanished without a word, also under a log that is rightly silent. */
const KEEP_ALIVE_PROBE_MS = 15_000;

/** Shorter than any balancer on the way keeps an idle connection. */
const IDLE_CONNECTION_MS = 30_000;

/** Apart, so that streams can never take the connections which calls need. */
export interface Agents {
  readonly calls: Agent;
  readonly streams: Agent;
}

/** The connections to the API server, opened anew when the client certificate changes. */
export function createAgents(access: KubeAccess) {
  let current: { readonly pair: string; readonly agents: Agents } | null = null;
  const leaving = new Set<Agent>();

  /** Requests on old connections finish in their own time. */
  function retire(agent: Agent): void {
    leaving.add(agent);
    void agent.close().finally(() => leaving.delete(agent));
  }

  return {
    of(identity: Identity): Agents {
      const pair = `${identity.certificate}\n${identity.key}`;
      if (current?.pair === pair) return current.agents;
      if (current) [current.agents.calls, current.agents.streams].forEach(retire);
      const agents = {
        calls: open(access, identity, CALL_CONNECTIONS),
        streams: open(access, identity, STREAM_CONNECTIONS),
      };
      current = { pair, agents };
      return agents;
    },
    async close(): Promise<void> {
      const agents = [...leaving, ...(current ? [current.agents.calls, current.agents.streams] : [])];
      await Promise.all(agents.map((agent) => agent.destroy()));
    },
  };
}

function open(access: KubeAccess, { certificate, key }: Identity, connections: number): Agent {
  return new Agent({
    connections,
    pipelining: 1,
    // Many streams over one connection would share its fate and its window.
    allowH2: false,
    keepAliveTimeout: IDLE_CONNECTION_MS,
    keepAliveMaxTimeout: IDLE_CONNECTION_MS,
    // A quiet log sends no header for hours; callers bring timers of their own.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: {
      timeout: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      keepAliveInitialDelay: KEEP_ALIVE_PROBE_MS,
      rejectUnauthorized: !access.isInsecure,
      ...(access.ca === null ? {} : { ca: access.ca }),
      ...(certificate === null || key === null ? {} : { cert: certificate, key }),
      ...(access.serverName === null ? {} : { servername: access.serverName }),
    },
  });
}
