import type { World } from "@binnacle/world";
import { vi } from "vitest";
import type { Queries } from "../database/transaction.ts";
import { newId } from "../id.adapter.ts";
import { HOST_TOKEN, type LocalGit } from "./git-access.fixture.ts";
import { SYNC_KIND } from "./outbox.ts";

export const SETTINGS = {
  provider: "gitea",
  base_url: "https://git.example.com",
  owner: "platform",
  token: HOST_TOKEN,
} as const;

/** Whoever changes the settings of an organization. */
interface Admin {
  readonly api: World["admin"]["api"];
}

export const setGitops = ({ api }: Admin, org: string, settings: object | null = SETTINGS) =>
  api.patch(`/org/settings?org_id=${org}`, { settings: { gitops: settings } });

/** The repository of a cluster at the host. */
export async function repositoryOf(world: World, cluster: string): Promise<string> {
  const query = world.database.kysely.selectFrom("gitops_repositories").select("name");
  return (await query.where("cluster_id", "=", cluster).executeTakeFirstOrThrow()).name;
}

export const statusOf = async ({ api }: Admin, cluster: string) => (await api.get(`/clusters/${cluster}/gitops`)).body;

/** Waits until nothing is left to be written. */
export const inSync = (admin: Admin, cluster: string, state = "in_sync", timeout = 40_000) =>
  vi.waitFor(
    async () => {
      const status = await statusOf(admin, cluster);
      if (status.state !== state) throw new Error(`The state is ${JSON.stringify(status)}.`);
      return status;
    },
    { timeout, interval: 50 },
  );

export const subjects = async (git: LocalGit, repository: string): Promise<string[]> =>
  (await git.run(repository, "log", "--reverse", "--format=%s", "main")).trim().split("\n");

export const fileIn = (git: LocalGit, repository: string, path: string, at = "main"): Promise<string> =>
  git.run(repository, "show", `${at}:${path}`);

/** A job for a cluster that a worker holds. */
export async function heldJob(db: Queries, orgId: string, cluster: string) {
  const id = newId();
  const now = new Date();
  await db
    .insertInto("jobs")
    .values({
      ...{
        id,
        kind: SYNC_KIND,
        lane: id,
        payload: JSON.stringify({ cluster_id: cluster }),
        status: "running",
        fence: 1,
      },
      ...{ max_attempts: 5, attempts: 1, run_at: now, lease_until: new Date(now.getTime() + 3_600_000) },
      ...{ tenant_id: orgId, created_at: now, updated_at: now },
    })
    .execute();
  return { id, fence: 1 };
}
