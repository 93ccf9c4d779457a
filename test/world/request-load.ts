import { setTimeout as pause } from "node:timers/promises";
import type { Client } from "../../packages/client/src/index.ts";

/** Requests of several callers at once, with a record of what was acknowledged. */
interface RequestLoad {
  /** Requests that failed after the retries of the client. */
  readonly failures: readonly string[];
  /** Resolves when each caller was answered some times more. */
  progress(): Promise<void>;
  stop(): Promise<void>;
  /** What was acknowledged and is not there. */
  lost(): Promise<string[]>;
}

/** As people do, callers wait between requests; the servers that start meanwhile need the machine too. */
const PAUSE_MS = 50;
const ANSWERS = 15;

/** The names of organizations are unique in an installation, so a second load takes names of its own. */
export function startLoad(client: Client, clusters: readonly string[], name = "org"): RequestLoad {
  const failures: string[] = [];
  const [orgs, projects] = [new Set<string>(), new Set<string>()];
  let renamed: { readonly id: string; readonly name: string } | null = null;
  const callers: ((count: number) => Promise<unknown>)[] = [
    async (count) => orgs.add((await client.call("createOrg", { body: { name: `${name} ${count}` } })).name),
    async (count) => {
      const cluster_id = clusters[count % clusters.length] ?? "";
      const body = { name: `project-${count}`, cluster_id };
      projects.add((await client.call("createProject", { body })).id);
    },
    async (count) => {
      const id = renamed?.id ?? (await client.call("createOrg", { body: { name: `${name} renamed` } })).id;
      renamed = { id, name: (await client.call("updateOrg", { id, body: { name: `${name} renamed ${count}` } })).name };
    },
    () => client.call("listOrgs"),
    () => client.call("listProjects"),
    (count) => client.call("getCluster", { id: clusters[count % clusters.length] ?? "" }),
  ];
  const answered = callers.map(() => 0);
  let isStopped = false;
  const running = callers.map(async (call, caller) => {
    for (let count = 0; !isStopped; count++) {
      await call(count).catch((error: Error) => failures.push(`${caller}, ${count}: ${error.message}`));
      answered[caller] = count + 1;
      await pause(PAUSE_MS);
    }
  });
  return {
    failures,
    async progress() {
      const goal = answered.map((count) => count + ANSWERS);
      while (goal.some((count, caller) => (answered[caller] ?? 0) < count)) await pause(PAUSE_MS);
    },
    async stop() {
      isStopped = true;
      await Promise.all(running);
    },
    async lost() {
      const names = new Set<string>();
      for await (const { name } of client.pages("listOrgs")) names.add(name);
      const ids = new Set<string>();
      for await (const { id } of client.pages("listProjects")) ids.add(id);
      const kept = [...orgs, ...(renamed ? [renamed.name] : [])];
      return [...kept.filter((name) => !names.has(name)), ...[...projects].filter((id) => !ids.has(id))];
    },
  };
}
