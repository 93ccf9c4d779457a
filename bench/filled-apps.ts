import type { Database } from "../packages/server/src/database/connection.adapter.ts";
import { newId } from "../packages/server/src/id.adapter.ts";

export const COMPONENTS = [
  {
    name: "web",
    workload_spec: {
      image: "nginx:1.29",
      replicas: 2,
      ports: [{ name: "http", port: 80 }],
      env: [{ name: "LOG_LEVEL", value: "info" }],
    },
  },
];

/** Writes apps straight to the database until the project has so many. */
export async function fillApps({ pool }: Database, project: Record<string, string>, upTo: number): Promise<void> {
  const { rows } = await pool.query<{ count: number }>("select count(*) from apps where project_id = $1", [
    project["id"],
  ]);
  for (let count = rows[0]?.count ?? 0; count < upTo; ) {
    const ids = Array.from({ length: Math.min(10_000, upTo - count) }, newId);
    await pool.query(
      `insert into apps (id, org_id, cluster_id, project_id, namespace, name, components, generation, revision, phase, created_at, updated_at)
       select id, $2, $3, $4, $5, 'filled-' || $6::int + at, $7, 1, 1, 'pending', now(), now()
       from unnest($1::uuid[]) with ordinality as made (id, at)`,
      [
        ids,
        project["org_id"],
        project["cluster_id"],
        project["id"],
        project["namespace"],
        count,
        JSON.stringify(COMPONENTS),
      ],
    );
    count += ids.length;
  }
}
