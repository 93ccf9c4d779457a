import type { DeploymentCommit } from "@binnacle/contract";
import { sql } from "kysely";
import type { Queries } from "../database/transaction.ts";
import { findGitopsThatIsOn } from "./gitops-settings.store.ts";
import type { GitopsSettings } from "./gitops-settings.ts";
import { agentKeys } from "./key.store.ts";
import { type Facts, shownCommit } from "./status.ts";
import { findRepository } from "./sync.store.ts";

export async function gitopsFacts(
  db: Queries,
  cluster: { readonly id: string; readonly org_id: string },
): Promise<Facts> {
  const [settings, repository, pending, keys] = await Promise.all([
    findGitopsThatIsOn(db, cluster.org_id),
    findRepository(db, cluster.id),
    db
      .selectFrom("gitops_outbox")
      .select(({ fn }) => [fn.countAll<number>().as("changes"), fn.min("at").as("since")])
      .where("cluster_id", "=", cluster.id)
      .executeTakeFirstOrThrow(),
    agentKeys(db, cluster.id),
  ]);
  return { settings, repository, pending, keys };
}

type Row = Pick<GitopsSettings, "provider" | "base_url" | "owner"> & {
  readonly generation: number;
  readonly name: string;
  readonly commit_id: string;
};

/** The commits that have been written of generations of a resource, by the generation. */
export async function commitsOfResource(
  db: Queries,
  resourceId: string,
  generations: readonly number[],
): Promise<ReadonlyMap<number, DeploymentCommit>> {
  if (generations.length === 0) return new Map();
  const { rows } = await sql<Row>`
    select k.generation, k.commit_id, r.name, s.provider, s.base_url, s.owner
    from gitops_commits k join gitops_repositories r on r.cluster_id = k.cluster_id and k.revision <= r.head_revision
      join gitops_settings s on s.org_id = r.org_id and s.is_on
    where k.resource_id = ${resourceId} and k.generation = any(${generations}::bigint[])
  `.execute(db);
  return new Map(rows.map((row) => [row.generation, shownCommit(row, row.name, row.commit_id)]));
}
