import { BinnacleError, type Client, type ClientOptions, createClient } from "../../packages/client/src/index.ts";

/** The rate that is aimed at. A machine that is busy with other things gets fewer, by the limit below. */
const REQUESTS_PER_SECOND = Number(process.env["HA_REQUESTS_PER_SECOND"] ?? 200);
/** Requests that wait for their answers at a time, as of so many people. */
const MOST_UNDERWAY = 32;
const TICKS_PER_SECOND = 20;

export interface Load {
  /** The names of organizations by id, as their last change was acknowledged. */
  readonly acknowledged: ReadonlyMap<string, string>;
  /** The projects whose creation was acknowledged, by id. */
  readonly projects: ReadonlySet<string>;
  readonly sent: () => number;
  /** Requests that were answered a second since the start. */
  readonly rate: () => number;
  readonly failures: readonly string[];
  /** Resolves when every request is answered. */
  stop(): Promise<void>;
}

/** What a program gives that is to survive the failover of a database, which takes longer than the attempts of a usual client. */
export const PATIENT = { attemptTimeoutMs: 10_000, retry: { attempts: 10, maxDelayMs: 4_000 } };

export async function signedIn(url: string, options: Omit<ClientOptions, "url"> = PATIENT): Promise<Client> {
  const client = createClient({ url, ...options });
  await client.login({ username: "admin", password: "binnacle" });
  return client;
}

/** Sends reads and writes at a steady pace, with the retries of the client. */
export function startLoad(client: Client, prefix: string, clusters: readonly string[]): Load {
  const acknowledged = new Map<string, string>();
  const projects = new Set<string>();
  const renamable: string[] = [];
  const failures: string[] = [];
  const underway = new Set<Promise<void>>();
  const startedAt = performance.now();
  let [count, answered] = [0, 0];

  async function create(number: number): Promise<void> {
    const { id, name } = await client.call("createOrg", { body: { name: `${prefix} ${number}` } });
    acknowledged.set(id, name);
    renamable.push(id);
  }
  async function rename(number: number): Promise<void> {
    // Each once, so that the name that was acknowledged is the last one.
    const id = renamable.shift();
    if (!id) return create(number);
    const { name } = await client.call("updateOrg", { id, body: { name: `${prefix} ${number} renamed` } });
    acknowledged.set(id, name);
  }
  async function createProject(number: number): Promise<void> {
    const cluster_id = clusters[number % clusters.length] ?? "";
    const name = `${prefix.replaceAll(" ", "-")}-${number}`;
    projects.add((await client.call("createProject", { body: { name, cluster_id } })).id);
  }
  /** Of twenty requests, six change something. */
  const mix = [
    ...[create, rename, create, createProject, create, rename],
    ...Array.from({ length: 7 }, () => () => client.call("listOrgs", {})),
    ...Array.from({ length: 7 }, () => () => client.call("listProjects", {})),
  ];

  async function send(number: number): Promise<void> {
    try {
      // Seven has no factor in common with twenty, so kinds of requests alternate.
      await mix[(number * 7) % mix.length]?.(number);
      answered++;
    } catch (error) {
      failures.push(
        `request ${number}: ${error instanceof BinnacleError ? `${error.name} ${error.message}` : String(error)}`,
      );
    }
  }

  const timer = setInterval(() => {
    for (let due = REQUESTS_PER_SECOND / TICKS_PER_SECOND; due > 0 && underway.size < MOST_UNDERWAY; due--) {
      const request = send(count++).finally(() => underway.delete(request));
      underway.add(request);
    }
  }, 1_000 / TICKS_PER_SECOND);

  return {
    acknowledged,
    projects,
    failures,
    rate: () => (answered * 1_000) / (performance.now() - startedAt),
    sent: () => count,
    async stop() {
      clearInterval(timer);
      await Promise.all(underway);
    },
  };
}

export interface Heard {
  /** The organizations whose creation the stream has told, in the order in which it came. */
  readonly orgs: readonly string[];
  readonly gaps: () => number;
  readonly disconnects: () => number;
  leave(): Promise<void>;
}

/** Follows the events of a client for as long as it is asked to. */
export async function listen(client: Client): Promise<Heard> {
  const orgs: string[] = [];
  let [gaps, disconnects] = [0, 0];
  const leaving = new AbortController();
  const opened = Promise.withResolvers<void>();
  const onDisconnect = () => void disconnects++;
  const following = (async () => {
    for await (const item of client.stream("streamEvents", {}, { signal: leaving.signal, onDisconnect })) {
      if (item.type === "open") opened.resolve();
      if (item.type === "gap") gaps++;
      if (item.type !== "event" || item.event !== "activity") continue;
      if (item.data["action"] === "org.create" && item.data.resource.id) orgs.push(item.data.resource.id);
    }
  })().catch((error: unknown) => {
    if (!leaving.signal.aborted) throw error;
  });
  await Promise.race([opened.promise, following]);
  return {
    orgs,
    gaps: () => gaps,
    disconnects: () => disconnects,
    async leave() {
      leaving.abort();
      await following;
    },
  };
}
